#if Server
import Crypto
import Foundation
import RelataParse
import RelataServer

/// A webhook before books are saved: a book needs a title, which is stored in capitals.
struct TitleWebhook: ServedProtocol {
    let secret: String

    var headerNames: [String] { ["x-relata-webhook-timestamp", "x-relata-webhook-signature"] }

    func respond(to request: ServerRequest, report: @Sendable (any Error) -> Void) async -> ServerReply {
        guard isSigned(request) else { return reply(["error": "unsigned"], status: 401) }
        let call = try? JSONParser.parse(request.body)
        guard var book = call?["object"]?.object, let title = book["title"]?.string, !title.isEmpty else {
            return reply(["error": ["code": 142, "error": "a book needs a title"]])
        }
        book["title"] = .string(title.uppercased())
        return reply(["success": .object(book)])
    }

    /// Whether a server that knows the secret has sent a request, in the last five minutes.
    private func isSigned(_ request: ServerRequest) -> Bool {
        guard let time = request.headers["x-relata-webhook-timestamp"], let seconds = Double(time),
            abs(Date().timeIntervalSince1970 - seconds) < 300,
            let signature = request.headers["x-relata-webhook-signature"], signature.hasPrefix("sha256=")
        else { return false }
        let digits = Array(signature.dropFirst(7))
        let code = stride(from: 0, to: digits.count - 1, by: 2).compactMap {
            UInt8(String(digits[$0...$0 + 1]), radix: 16)
        }
        return HMAC<SHA256>.isValidAuthenticationCode(
            code, authenticating: Array("\(time).".utf8) + request.body, using: SymmetricKey(data: Array(secret.utf8)))
    }

    private func reply(_ json: JSONValue, status: Int = 200) -> ServerReply {
        ServerReply(status: status, contentType: "application/json", body: Array(JSONWriter.text(json).utf8))
    }

    func render(_ refusal: ServerRefusal) -> ServerReply {
        reply(["error": .string(refusal.message)], status: refusal.status)
    }
}
#endif
