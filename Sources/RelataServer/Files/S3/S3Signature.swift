#if Server
import Crypto
import Foundation

/// Signs requests to stores with S3's interface, by AWS Signature Version 4.
struct S3Signature: Sendable {
    let accessKey: String
    let secretKey: String
    let region: String

    /// The header field that signs a request.
    ///
    /// - Parameters:
    ///   - path: The path, encoded.
    ///   - query: The parameters, sorted by name and encoded.
    ///   - headers: The signed header fields, by lower-case name: `host`, and all that begin with `x-amz-`.
    ///   - digest: The SHA-256 of the body.
    ///   - time: The time, such as `20260301T120000Z`.
    func authorization(
        _ method: String, _ path: String, query: String, headers: [String: String], digest: String, at time: String
    ) -> String {
        let fields = headers.sorted { $0.key < $1.key }
        let names = fields.map(\.key).joined(separator: ";")
        let request =
            ([method, path, query] + fields.map { "\($0.key):\($0.value)" } + ["", names, digest])
            .joined(separator: "\n")
        let scope = "\(time.prefix(8))/\(region)/s3/aws4_request"
        let text = "AWS4-HMAC-SHA256\n\(time)\n\(scope)\n\(SHA256.hash(data: Array(request.utf8)).hexText)"
        var key = Array("AWS4\(secretKey)".utf8)
        for part in scope.split(separator: "/") { key = Self.code(of: String(part), by: key) }
        let signature = Self.code(of: text, by: key).hexText
        return "AWS4-HMAC-SHA256 Credential=\(accessKey)/\(scope), SignedHeaders=\(names), Signature=\(signature)"
    }

    private static func code(of text: String, by key: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: SymmetricKey(data: key)))
    }

    /// A time in the form for signatures: `20260301T120000Z`.
    static func text(_ date: Date) -> String {
        var second = time_t(date.timeIntervalSince1970)
        var parts = tm()
        gmtime_r(&second, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return """
            \(parts.tm_year + 1900)\(two(parts.tm_mon + 1))\(two(parts.tm_mday))\
            T\(two(parts.tm_hour))\(two(parts.tm_min))\(two(parts.tm_sec))Z
            """
    }
}
#endif
