#if Server
import Crypto
import Foundation
import NIOHTTP1
import NIOSSL
import RelataParse

/// A bucket of a store with S3's interface. Requests are signed, and repeated if the store is busy.
struct S3Bucket: Sendable {
    /// The URL of the bucket, without a slash at the end.
    let url: String
    let signature: S3Signature
    let sessionToken: String?
    let tls: NIOSSLContext?
    var timeout = Duration.seconds(30)
    /// The delays before a request is retried, in seconds.
    var retries = [0.2, 1.0]

    /// A request.
    struct Request: Sendable {
        var method: HTTPMethod
        /// The name of the object: letters, digits, and `.-_/`.
        var key: String
        /// The parameters, sorted by name.
        var query: [(name: String, value: String)] = []
        var headers: [String: String] = [:]
        var body: [UInt8] = []
        /// The maximum size of the reply.
        var limit = 64 * 1024
    }

    /// Sends a request.
    ///
    /// - Parameter expected: The statuses that aren't failures.
    /// - Throws: ``FileStorageError`` with the problem and the remedy.
    func send(_ request: Request, expecting expected: Set<UInt>) async throws -> HTTPExchange.Reply {
        var failures = 0
        while true {
            let result: Result<HTTPExchange.Reply, any Error>
            do {
                result = .success(try await exchange(request))
            } catch {
                result = .failure(error)
            }
            let problem: FileStorageError
            switch result {
            case .success(let reply):
                let isExpected = expected.contains(reply.status.code)
                if isExpected, !Self.isError(reply, of: request) { return reply }
                problem = failure(reply)
                guard reply.status.code >= 500 || reply.status.code == 429 || isExpected else { throw problem }
            case .failure(let error):
                if error is CancellationError || Task.isCancelled { throw CancellationError() }
                problem = FileStorageError(
                    "the store of files at \(url) can't be used: \(HTTPExchange.reason(error)): check that it runs, and --s3-endpoint"
                )
            }
            guard failures < retries.count else { throw problem }
            try await Task.sleep(for: .seconds(retries[failures]))
            failures += 1
        }
    }

    private func exchange(_ request: Request) async throws -> HTTPExchange.Reply {
        let query = request.query.map { "\(Self.encoded($0.name))=\(Self.encoded($0.value))" }.joined(separator: "&")
        let target = "\(url)/\(request.key)" + (query.isEmpty ? "" : "?" + query)
        let address = try WebAddress(target, needsTLS: false)
        let time = S3Signature.text(Date())
        let digest = SHA256.hash(data: request.body).hexText
        var signed = request.headers.filter { $0.key.hasPrefix("x-amz-") }
        signed["host"] = address.authority
        signed["x-amz-content-sha256"] = digest
        signed["x-amz-date"] = time
        if let sessionToken { signed["x-amz-security-token"] = sessionToken }
        let path = String(address.target.prefix { $0 != "?" })
        var headers = HTTPHeaders()
        for (name, value) in request.headers.merging(signed, uniquingKeysWith: { $1 }) where name != "host" {
            headers.add(name: name, value: value)
        }
        headers.add(
            name: "Authorization",
            value: signature.authorization(
                request.method.rawValue, path, query: query, headers: signed, digest: digest, at: time))
        let exchange = HTTPExchange(timeout: timeout, maximumSize: request.limit, tls: address.isSecure ? tls : nil)
        return try await exchange.send(request.method, to: address, headers, body: request.body)
    }

    /// Whether a reply with a successful status contains an error. A copy and the end of an upload take long, so the
    /// store sends the status before the result.
    private static func isError(_ reply: HTTPExchange.Reply, of request: Request) -> Bool {
        let isLong = request.method == .POST || request.headers["x-amz-copy-source"] != nil
        return isLong && String(decoding: reply.body.prefix(4096), as: UTF8.self).contains("<Error>")
    }

    private func failure(_ reply: HTTPExchange.Reply) -> FileStorageError {
        let text = String(decoding: reply.body.prefix(4096), as: UTF8.self)
        let code = Self.element("Code", of: text) ?? "no code"
        let advice =
            switch (code, reply.status.code) {
            case ("NoSuchBucket", _): "create the bucket"
            case ("InvalidAccessKeyId", _), ("SignatureDoesNotMatch", _):
                "check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
            case ("AuthorizationHeaderMalformed", _), (_, 301), (_, 307): "check --s3-region and --s3-endpoint"
            case ("RequestTimeTooSkewed", _): "set this machine's clock"
            case (_, 403): "allow the key to get, put and delete objects of the bucket"
            case ("InternalError", _), ("SlowDown", _), (_, 500...): "try again later"
            default: "check --s3-endpoint"
            }
        return FileStorageError(
            "the store of files at \(url) replies with \(reply.status.code) (\(code.prefix(64))): \(advice)")
    }

    /// The text of an element of a reply's XML.
    static func element(_ name: String, of text: String) -> String? {
        let parts = text.components(separatedBy: "<\(name)>")
        guard parts.count > 1, let inner = parts[1].components(separatedBy: "</\(name)>").first else { return nil }
        return inner.replacing("&quot;", with: "\"").replacing("&lt;", with: "<").replacing("&gt;", with: ">")
            .replacing("&amp;", with: "&")
    }

    /// A part of a URL, encoded as in signatures.
    static func encoded(_ text: String) -> String {
        var plain = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
        plain.insert(charactersIn: "-._~")
        return text.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
    }
}
#endif
