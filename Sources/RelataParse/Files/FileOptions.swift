import RelataCore

/// Which files a server takes, and how it hands them out.
public struct FileOptions: Sendable {
    /// Where their contents are kept.
    public var storage: any FileStorage
    /// The address of the protocol as clients know it, such as `https://example.com/parse`, with which the addresses of files
    /// begin; `nil` for that at which the server listens.
    public var publicURL: String?
    /// Whether those who aren't signed in may upload.
    public var allowsPublicUploads = false
    /// Whether anonymous users may upload.
    public var allowsUploadsOfAnonymousUsers = false
    /// Whether users who have signed in may upload.
    public var allowsUploadsOfUsers = true
    /// How many bytes a file may have.
    public var maximumSize = 20 * 1024 * 1024
    /// What the names of files may end with, such as `png`; `nil` for anything that isn't denied. The master key isn't bound.
    public var allowedExtensions: Set<String>?
    /// What the names of files may not end with: by default, what browsers run scripts of.
    public var deniedExtensions = Self.active
    /// The types that browsers show in place; an end such as `image/*` stands for all of a kind, but for what browsers run
    /// scripts of. All others are saved.
    public var inlineTypes: Set<String> = ["image/*", "audio/*", "video/*", "text/plain"]
    /// Signs the addresses of files, which are told to those who may read an object that refers to them; `nil` where whoever
    /// knows the name of a file gets it.
    public var signing: FileSigning?
    /// For how many seconds a file is kept that objects have referred to and none does any more; `nil` for ever.
    public var unusedLifetime: Double? = 24 * 3600
    /// For how many seconds a content is kept that no file has any more. It must be longer than an upload takes.
    public var contentLifetime = 3600.0

    /// What browsers run scripts of.
    public static let active: Set = [
        "htm", "html", "hta", "mht", "mhtml", "rdf", "shtml", "svg", "svgz", "swf", "xht", "xhtml", "xml", "xsl",
        "xslt",
    ]

    /// Files whose contents are kept in a storage.
    public init(storage: any FileStorage) { self.storage = storage }

    /// - Throws: ``ParseError`` 130 for the name of a file that isn't taken.
    func checkExtension(_ name: FileName, type: String?) throws(ParseError) {
        // Without an end the name gets that of its type.
        let own = ContentType.end(of: name.text).flatMap { $0.isEmpty ? nil : $0 }
        let claimed = own ?? type.map { Self.subtype($0) }
        guard let claimed else { return }
        let end = claimed.filter { $0 != " " }
        let isAllowed = allowedExtensions.map { $0.contains(end) } ?? true
        guard isAllowed, !deniedExtensions.contains(end) else {
            throw ParseError(.fileSaveError, "File upload of extension \(end.prefix(64)) is disabled.")
        }
    }

    /// What a type's files end with: `svg` for `image/svg+xml`.
    private static func subtype(_ type: String) -> String {
        let bare = ContentType.bare(type.lowercased())
        if let end = ContentType.end(ofType: type) { return end }
        let name = bare.split(separator: "/").last ?? bare
        return String(name.prefix { $0 != "+" })
    }

    /// Whether browsers show files of a type in place.
    func isInline(_ type: String) -> Bool {
        let bare = ContentType.bare(type)
        if inlineTypes.contains(String(bare)) { return true }
        guard let kind = bare.split(separator: "/").first, inlineTypes.contains(kind + "/*") else { return false }
        return !(ContentType.end(ofType: type).map(Self.active.contains) ?? false)
    }
}
