#if Server
import RelataServer

/// Repeats the request in its reply.
struct Echo: ServedProtocol {
    func respond(to request: ServerRequest, report: @Sendable (any Error) -> Void) async -> ServerReply {
        ServerReply(contentType: "text/plain; charset=utf-8", body: Array(request.path.utf8))
    }

    func render(_ refusal: ServerRefusal) -> ServerReply {
        let line = "ERR \(refusal.status) \(refusal.message)\n"
        return ServerReply(status: refusal.status, contentType: "text/plain; charset=utf-8", body: Array(line.utf8))
    }
}

struct EchoApp {
    static func main() async throws {
        var configuration = RelataServer.Configuration()
        configuration.mount = "/echo"
        try await RelataServer(protocol: Echo(), configuration: configuration).run()
    }
}
#endif
