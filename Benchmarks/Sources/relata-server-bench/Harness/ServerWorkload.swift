#if Server
import BenchmarkReport

/// A measurement, with its name in `bench.json`.
struct ServerWorkload: Sendable {
    let name: String
    let targets: [Target]
    let measure: @Sendable (ServerBench) async throws -> Outcome

    static let all: [ServerWorkload] = onFiles + live + files + onPostgreSQL

    private static let onFiles: [ServerWorkload] = [
        .get, .create, .list, .find, .related, .batch, .getTail, .createTail, .memory, .getOfUser, .findPrivate, .login,
    ]
    #if !PostgreSQL
    private static let onPostgreSQL: [ServerWorkload] = []
    #endif
}
#endif
