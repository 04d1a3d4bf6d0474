#if Server
import RelataServer

/// Sends each message back.
struct EchoSocket: ServedProtocol {
    func webSocket(for request: ServerRequest) async throws(ServerRefusal) -> WebSocketSession? {
        guard request.path == "/socket" else { return nil }
        return { socket in
            for await message in socket.messages { try await socket.send(message) }
        }
    }

    func respond(to request: ServerRequest, report: @Sendable (any Error) -> Void) async -> ServerReply {
        render(ServerRefusal(.notFound, "there is nothing here", status: 404))
    }

    func render(_ refusal: ServerRefusal) -> ServerReply {
        ServerReply(status: refusal.status, contentType: "text/plain", body: Array(refusal.message.utf8))
    }
}
#endif
