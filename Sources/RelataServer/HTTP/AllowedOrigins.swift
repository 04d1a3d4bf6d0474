#if Server
/// The web pages that may call the server from a browser, in the form that browsers ask for (CORS).
struct AllowedOrigins: Sendable {
    private let origins: [String]
    private let constantFields: String?

    /// - Parameter origins: Such as `https://example.com`; `*` for all.
    init(_ origins: [String]) {
        self.origins = origins
        if origins.contains("*") {
            constantFields = Self.fields("*")
        } else if let only = origins.first {
            constantFields = origins.count == 1 ? Self.fields(only) : nil
        } else {
            constantFields = ""
        }
    }

    /// Whether a page of that origin may open a WebSocket. Browsers don't ask first, and give the page all received
    /// messages.
    func admits(_ origin: String?) -> Bool { origin.map { origins.contains("*") || origins.contains($0) } ?? true }

    /// The header fields of a reply to a page of that origin.
    func fields(for origin: String?) -> String {
        if let constantFields { return constantFields }
        let allowed = origin.flatMap { origins.contains($0) ? $0 : nil } ?? origins.first ?? ""
        return Self.fields(allowed) + "vary: origin\r\n"
    }

    private static func fields(_ origin: String) -> String {
        "access-control-allow-origin: \(origin)\r\naccess-control-expose-headers: X-Request-Id, X-Parse-Job-Status-Id, Location\r\n"
    }
}
#endif
