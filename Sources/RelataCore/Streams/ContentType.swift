/// The types of files, by their extensions.
package enum ContentType {
    private static let types = [
        "css": "text/css; charset=utf-8", "csv": "text/csv; charset=utf-8", "html": "text/html; charset=utf-8",
        "js": "text/javascript; charset=utf-8", "mjs": "text/javascript; charset=utf-8",
        "md": "text/markdown; charset=utf-8", "txt": "text/plain; charset=utf-8",
        "json": "application/json; charset=utf-8", "map": "application/json; charset=utf-8",
        "webmanifest": "application/manifest+json; charset=utf-8", "xml": "application/xml; charset=utf-8",
        "pdf": "application/pdf", "wasm": "application/wasm", "zip": "application/zip",
        "avif": "image/avif", "gif": "image/gif", "ico": "image/x-icon", "jpeg": "image/jpeg", "jpg": "image/jpeg",
        "png": "image/png", "svg": "image/svg+xml; charset=utf-8", "webp": "image/webp", "heic": "image/heic",
        "mp3": "audio/mpeg", "m4a": "audio/mp4", "ogg": "audio/ogg", "wav": "audio/wav",
        "mp4": "video/mp4", "webm": "video/webm", "mov": "video/quicktime",
        "ttf": "font/ttf", "woff": "font/woff", "woff2": "font/woff2",
    ]

    /// The usual ends of names, by types without their parameters.
    private static let ends: [Substring: String] = {
        var ends: [Substring: String] = [:]
        for (end, type) in types.sorted(by: { $0.key < $1.key }) where ends[bare(type)] == nil {
            ends[bare(type)] = end
        }
        for end in ["jpg", "html", "js", "json", "txt"] { if let type = types[end] { ends[bare(type)] = end } }
        return ends
    }()

    /// The type of an unknown extension.
    package static let unknown = "application/octet-stream"

    /// The type of a file.
    package static func of(_ name: String) -> String { end(of: name).flatMap { types[$0] } ?? unknown }

    /// The extension of a name, in lower case; `nil` for a name without a dot.
    package static func end(of name: String) -> String? {
        name.lastIndex(of: ".").map { name[name.index(after: $0)...].lowercased() }
    }

    /// The extension for a type: `png` for `image/png`; `nil` for an unknown type.
    package static func end(ofType type: String) -> String? { ends[bare(type.lowercased())] }

    /// A type without its parameters: `text/plain` of `text/plain; charset=utf-8`.
    package static func bare(_ type: String) -> Substring {
        var type = type.prefix { $0 != ";" }
        while type.last == " " { type.removeLast() }
        return type
    }

    /// Whether compressing makes a body of that type smaller: pictures, sounds and the like are compressed already.
    package static func isCompressible(_ type: String) -> Bool {
        if type.hasPrefix("image/") { return type.hasPrefix("image/svg") }
        return !["audio/", "video/", "font/woff", "application/zip", "application/pdf"].contains { type.hasPrefix($0) }
    }
}
