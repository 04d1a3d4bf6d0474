#if Server
import RelataParse

/// Carries the messages of a client of live queries over its WebSocket.
struct LiveQuerySession: Sendable {
    let service: ParseService
    /// The client's address.
    let address: String?
    /// Called with errors whose details clients don't get.
    let report: @Sendable (any Error) -> Void

    /// The time that a client may take to send its keys.
    private static let patience = Duration.seconds(10)

    /// Runs until one of both sides ends it.
    @Sendable func run(_ socket: WebSocket) async throws {
        let connection = await service.connectLiveQueries(from: address, report: report)
        let watch = Task {
            try? await Task.sleep(for: Self.patience)
            if await !connection.isConnected { await connection.close() }
        }
        defer { watch.cancel() }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await message in socket.messages {
                    switch message {
                    case .text(let text): await connection.receive(text)
                    // It isn't a message of the protocol.
                    case .binary: await connection.receive("")
                    }
                }
            }
            group.addTask(executorPreference: socket.sending) {
                while let message = await connection.next() {
                    do { try await socket.send(.text(message)) } catch { return }
                }
            }
            await group.next()
            group.cancelAll()
        }
        await connection.close()
    }
}
#endif
