import RelataCore

/// The files that a server accepts, and the way it serves them.
public struct FileOptions: Sendable {
    /// The storage of the files' contents.
    public var storage: any FileStorage
    /// The address of the protocol as clients reach it, such as `https://example.com/parse`; addresses of files begin
    /// with it. `nil` for the address at which the server listens.
    public var publicURL: String?
    /// Whether clients that aren't signed in may upload.
    public var allowsPublicUploads = false
    /// Whether anonymous users may upload.
    public var allowsUploadsOfAnonymousUsers = false
    /// Whether signed-in users may upload.
    public var allowsUploadsOfUsers = true
    /// The maximum size of a file, in bytes.
    public var maximumSize = 20 * 1024 * 1024
    /// The allowed extensions, such as `png`; `nil` for all that aren't denied. They don't apply to the master key.
    public var allowedExtensions: Set<String>?
    /// The denied extensions: by default, those of types in which browsers run scripts.
    public var deniedExtensions = Self.active
    /// The types that browsers display; all others are downloaded. A type such as `image/*` includes all subtypes,
    /// except those that can contain scripts.
    public var inlineTypes: Set<String> = ["image/*", "audio/*", "video/*", "text/plain"]
    /// Signs the addresses of files, which replies give to clients that may read an object with the file; `nil` for
    /// addresses that need no signature.
    public var signing: FileSigning?
    /// The number of seconds that a file is kept after the last reference to it is gone; `nil` for no limit.
    public var unusedLifetime: Double? = 24 * 3600
    /// The number of seconds that an unused content is kept. It must be longer than an upload takes.
    public var contentLifetime = 3600.0

    /// The extensions of files in which browsers run scripts.
    public static let active: Set = [
        "htm", "html", "hta", "mht", "mhtml", "rdf", "shtml", "svg", "svgz", "swf", "xht", "xhtml", "xml", "xsl",
        "xslt",
    ]

    /// Files with their contents in a storage.
    public init(storage: any FileStorage) { self.storage = storage }

    /// - Throws: ``ParseError`` 130 for a name whose extension isn't allowed.
    func checkExtension(_ name: FileName, type: String?) throws(ParseError) {
        // A name without an extension gets the extension of its type.
        let own = ContentType.end(of: name.text).flatMap { $0.isEmpty ? nil : $0 }
        let claimed = own ?? type.map { Self.subtype($0) }
        guard let claimed else { return }
        let end = claimed.filter { $0 != " " }
        let isAllowed = allowedExtensions.map { $0.contains(end) } ?? true
        guard isAllowed, !deniedExtensions.contains(end) else {
            throw ParseError(.fileSaveError, "File upload of extension \(end.prefix(64)) is disabled.")
        }
    }

    /// The extension of a type: `svg` for `image/svg+xml`.
    private static func subtype(_ type: String) -> String {
        let bare = ContentType.bare(type.lowercased())
        if let end = ContentType.end(ofType: type) { return end }
        let name = bare.split(separator: "/").last ?? bare
        return String(name.prefix { $0 != "+" })
    }

    /// Whether browsers display files of a type.
    func isInline(_ type: String) -> Bool {
        let bare = ContentType.bare(type)
        if inlineTypes.contains(String(bare)) { return true }
        guard let kind = bare.split(separator: "/").first, inlineTypes.contains(kind + "/*") else { return false }
        return !(ContentType.end(ofType: type).map(Self.active.contains) ?? false)
    }
}
