#if PostgreSQL
import BenchmarkReport
import Relata

/// The part that all workloads share: a server, on which each has schemas of its own.
struct PostgresBench: Sendable {
    let options: Options
    let server: String

    /// The number of rows for a workload that takes `full` rows in a full run.
    func count(_ full: Int) -> Int { options.isQuick ? full / 10 : full }

    /// Measures all contestants in turns.
    func time(_ contestants: [Contestant]) async throws -> Outcome {
        try await Contest(rounds: options.rounds).time(contestants)
    }

    /// The URL of an empty schema.
    func emptySchema(_ name: String) throws -> String {
        let connection = try RawConnection(server)
        try connection.execute("DROP SCHEMA IF EXISTS \(name) CASCADE; CREATE SCHEMA \(name)")
        return server + (server.contains("?") ? "&" : "?") + "options=-csearch_path%3D" + name
    }

    /// A store on a schema, opened without `async`.
    func store(_ url: String, for model: any Model.Type, options: Store.Options = Store.Options()) throws -> Store {
        try Store.open(url, for: model, options: options)
    }

    /// The URL of a schema with that many items.
    func itemSchema(_ name: String, count: Int) throws -> String {
        let url = try emptySchema(name)
        let store = try store(url, for: Item.self)
        try store.insert(Item.samples(count))
        try store.close()
        try RawConnection(url).execute("VACUUM ANALYZE")
        return url
    }
}
#endif
