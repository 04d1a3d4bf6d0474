import RelataParse
import Synchronization
import Testing

/// A service that accepts the token `token of ID`.
final class TestProvider: Sendable {
    private struct State {
        var asked = 0
        var failure: (any Error)?
    }

    private let state = Mutex(State())

    /// The number of requests.
    var asked: Int { state.withLock { $0.asked } }

    /// Lets all further requests fail.
    func fail(with error: (any Error)?) { state.withLock { $0.failure = error } }

    func named(_ name: String) -> SignInProvider {
        .custom(name) { authData in
            try self.state.withLock { state in
                state.asked += 1
                if let failure = state.failure { throw failure }
            }
            let start = "token of "
            guard let token = authData["token"]?.string, token.hasPrefix(start) else {
                throw SignInError("the token is wrong")
            }
            return String(token.dropFirst(start.count))
        }
    }
}

extension TestServer {
    /// A server with the services `forum` and `shop`, which share one provider.
    static func withProviders(
        mode: ParseStore.Mode = .development, _ configure: (inout ParseService.Options) -> Void = { _ in }
    ) throws -> (server: TestServer, provider: TestProvider) {
        let provider = TestProvider()
        let server = try withUsers(mode: mode) { options in
            options.signIn = [provider.named("forum"), provider.named("shop")]
            configure(&options)
        }
        return (server, provider)
    }

    /// Signs in, or signs up, with a service's data.
    func signIn(_ authData: JSONValue, _ more: JSONObject = [:]) async throws -> Reply {
        var body: JSONObject = ["authData": authData]
        body.merge(more)
        return try await send("POST", "/users", .object(body), isMaster: false)
    }

    /// The signed-in user, who must exist afterwards.
    func person(_ authData: JSONValue) async throws -> Person {
        let reply = try await signIn(authData)
        guard reply.status < 300, let id = reply["objectId"]?.string, let token = reply["sessionToken"]?.string else {
            throw Refused(reply: "\(reply.json)")
        }
        return Person(id: id, token: token)
    }

    /// The number of users.
    func countOfUsers() async throws -> Int64? {
        try await send("GET", "/users?count=1&limit=0")["count"]?.integer
    }
}

/// Data that a service accepts.
func vouched(_ id: String) -> JSONValue { ["id": .string(id), "token": .string("token of \(id)")] }
