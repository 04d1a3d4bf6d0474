#if PostgreSQL
import Foundation
import PostgresCluster
import Relata
import RelataPostgres

extension Engine {
    /// PostgreSQL, if it is installed: each database is a schema of a server that the process starts.
    static let postgres: [Engine] = PrivateCluster.isInstalled ? [postgresServer] : []

    private static let postgresServer = Engine(name: "postgres", isShared: true) { database, models, options in
        let schema = "test_" + database.lowercased().filter { $0.isLetter || $0.isNumber }
        let url = try PrivateCluster.shared.url()
        let session = try Session(PostgresURL(url))
        try session.run("CREATE SCHEMA IF NOT EXISTS \(schema)")
        session.close()
        return try TestStore.open(url + "&options=-csearch_path%3D" + schema, for: models, options: options)
    }
}
#else
extension Engine {
    /// PostgreSQL, for which this build has no engine.
    static let postgres: [Engine] = []
}
#endif
