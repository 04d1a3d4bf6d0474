#if Server

/// What files hold, by the ends of their names.
enum ContentType {
    private static let types = [
        "css": "text/css; charset=utf-8", "csv": "text/csv; charset=utf-8", "html": "text/html; charset=utf-8",
        "js": "text/javascript; charset=utf-8", "mjs": "text/javascript; charset=utf-8",
        "md": "text/markdown; charset=utf-8", "txt": "text/plain; charset=utf-8",
        "json": "application/json; charset=utf-8", "map": "application/json; charset=utf-8",
        "webmanifest": "application/manifest+json; charset=utf-8", "xml": "application/xml; charset=utf-8",
        "pdf": "application/pdf", "wasm": "application/wasm", "zip": "application/zip",
        "avif": "image/avif", "gif": "image/gif", "ico": "image/x-icon", "jpeg": "image/jpeg", "jpg": "image/jpeg",
        "png": "image/png", "svg": "image/svg+xml; charset=utf-8", "webp": "image/webp",
        "mp3": "audio/mpeg", "mp4": "video/mp4", "webm": "video/webm",
        "ttf": "font/ttf", "woff": "font/woff", "woff2": "font/woff2",
    ]

    /// The type of a file.
    static func of(_ name: String) -> String {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count > 1, let type = parts.last.flatMap({ types[$0.lowercased()] }) else {
            return "application/octet-stream"
        }
        return type
    }

    /// Whether a body of that type gets smaller by compressing: pictures, sounds and such are compressed already.
    static func isCompressible(_ type: String) -> Bool {
        if type.hasPrefix("image/") { return type.hasPrefix("image/svg") }
        return !["audio/", "video/", "font/woff", "application/zip", "application/pdf"].contains { type.hasPrefix($0) }
    }
}
#endif
