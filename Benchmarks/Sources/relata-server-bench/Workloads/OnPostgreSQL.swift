#if Server && PostgreSQL
import BenchmarkReport
import Foundation

// The same requests to a server whose objects are in PostgreSQL, compared with Kinto with its objects there.

extension ServerWorkload {
    static let onPostgreSQL: [ServerWorkload] = [
        // One object by its id.
        onPostgreSQL("pg-http-get", \.get, peer: \.get),
        // One new object, of a class that nobody reads.
        onPostgreSQL("pg-http-create", \.createElsewhere, peer: \.create),
        // A hundred books with the objects of two pointers; Kinto, which has no pointers, lists a hundred books.
        onPostgreSQL("pg-http-find", \.find, peer: \.list),
    ]

    private static func onPostgreSQL(
        _ name: String, _ call: KeyPath<SampleLibrary, HTTPCall> & Sendable, peer: KeyPath<Kinto, HTTPCall> & Sendable
    ) -> ServerWorkload {
        ServerWorkload(name: name, targets: [.faster(20, than: Kinto.postgresqlName)]) { bench in
            guard let database = bench.options.database else {
                throw Failure("\(name) needs --database, the URL of an empty PostgreSQL database")
            }
            let served = try await bench.served(on: database)
            let request = served.library[keyPath: call]
            let peers = bench.peers.filter { $0.name == Kinto.postgresqlName }
            let medians = try await bench.medians(
                [{ try bench.wrk.milliseconds(request, port: served.server.port) }]
                    + peers.map { kinto in
                        { try bench.wrk.milliseconds(kinto[keyPath: peer], port: kinto.port, toleratesErrors: true) }
                    })
            return Outcome(ours: medians[0], peers: zip(peers, medians.dropFirst()).map { ($0.name, $1) })
        }
    }
}

/// Our server on a PostgreSQL database, and its objects.
struct ServedDatabase: Sendable {
    let library: SampleLibrary
    let server: ServerProcess

    /// Fills the database and starts a server on it.
    init(_ url: String, books: Int) async throws {
        Report.say("making the objects in PostgreSQL …")
        library = try await SampleLibrary(url, books: books)
        server = try .child("relata", url)
    }
}
#endif
