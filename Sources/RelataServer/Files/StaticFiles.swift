#if Server
import RelataCore

/// Static files of a server below a path: those of a folder, or bytes in memory.
///
/// ```swift
/// var configuration = RelataServer.Configuration()
/// configuration.files["/"] = try StaticFiles(folder: "public")
/// ```
///
/// Files are read with `GET` and `HEAD`. A path that ends with a slash is the `index.html` of that folder. Names that
/// begin with a dot, symbolic links and special files aren't served. Each request reads the current file, and clients
/// revalidate cached ones (`ETag`).
public struct StaticFiles: Sendable {
    /// Header fields of each file, besides those of the server.
    public var headers: [(name: String, value: String)] = []

    private let source: any FileSource

    /// The files of a folder, which may change while they are served.
    ///
    /// - Throws: `RelataError` if the folder doesn't exist.
    public init(folder path: String) throws(RelataError) { source = try FolderSource(path) }

    /// Files in memory, by their paths: `index.html`, `images/logo.svg`.
    public init(_ files: [String: [UInt8]]) { source = MemorySource(files) }

    /// The reply to a request, and its share of the memory for all replies.
    ///
    /// - Parameters:
    ///   - path: The part of the path below the files' path, still percent-encoded.
    ///   - target: The whole path.
    ///   - room: The memory for replies that clients haven't read yet. A file is read only after it has its share.
    ///   - limit: The maximum size of a file, in bytes.
    func reply(
        to method: String, path: Substring, target: Substring, known: String?, room: BodyBudget, limit: Int
    ) throws(ServerRefusal) -> (reply: ServerReply, share: BodyBudget.Share?) {
        guard method == "GET" || method == "HEAD" else {
            throw ServerRefusal(.unknownMethod, "files can be read, with GET and HEAD", status: 405)
        }
        guard let filePath = FilePath(path) else { throw .nothingHere }
        switch source.find(filePath.names) {
        case .nothing: throw .nothingHere
        case .folder:
            // Relative links in a page work only if the page's address ends with a slash.
            guard filePath.isComplete else {
                var reply = ServerReply(status: 301, contentType: "text/plain", location: String(target) + "/")
                reply.isOfRead = true
                return (reply, nil)
            }
            throw .nothingHere
        case .file(let file):
            var reply = ServerReply(contentType: ContentType.of(filePath.names.last ?? ""))
            reply.headers = [
                ("etag", file.tag), ("cache-control", "no-cache"), ("x-content-type-options", "nosniff"),
            ]
            reply.headers += headers
            reply.isOfRead = true
            if let known, EntityTags(known).contains(file.tag) {
                reply.status = 304
                return (reply, nil)
            }
            guard file.size <= limit else {
                throw ServerRefusal(.bodyTooLarge, "the file is larger than \(limit) bytes", status: 403)
            }
            let share = BodyBudget.Share(of: room)
            guard share.grow(to: file.size) else { throw .noRoomForReply(ofRead: true) }
            guard let bytes = file.read() else { throw .nothingHere }
            reply.body = bytes
            return (reply, share)
        }
    }
}

/// A path of a request, as the names of folders and of a file.
private struct FilePath {
    /// The names. For a folder, the last one is `index.html`.
    let names: [String]
    /// Whether the path ended with a slash.
    let isComplete: Bool

    /// Returns `nil` for a path that can't lead to a served file.
    init?(_ path: Substring) {
        guard !path.isEmpty else {
            (names, isComplete) = ([], false)
            return
        }
        var parts = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        let isFolder = parts.last?.isEmpty ?? true
        if isFolder { _ = parts.popLast() }
        var names: [String] = []
        for part in parts {
            guard let name = part.removingPercentEncoding, Self.isName(name) else { return nil }
            names.append(name)
        }
        if isFolder { names.append("index.html") }
        self.names = names
        isComplete = isFolder
    }

    /// Whether a name can only refer to a file with that name in its folder.
    private static func isName(_ name: String) -> Bool {
        guard let first = name.utf8.first, first != UInt8(ascii: ".") else { return false }
        return name.utf8.allSatisfy { byte in
            byte >= 0x20 && byte != 0x7F && byte != UInt8(ascii: "/") && byte != UInt8(ascii: "\\")
        }
    }
}

extension ServerRefusal {
    /// The refusal of an unknown path.
    static let nothingHere = ServerRefusal(.notFound, "there is nothing here", status: 404)
}
#endif
