#if PostgreSQL
import Foundation

/// A pgbouncer of a test's own in front of a cluster, which pools transactions. It ends with the object, or with the
/// process.
package final class Pooler: Sendable {
    /// Whether it is installed.
    package static var isInstalled: Bool { PostgresPrograms.find("pgbouncer") != nil }

    /// The reason for skipping a test if pgbouncer is missing.
    package static let missing = "pgbouncer isn't installed: the package is called so"

    private let place: String
    private let shell: GuardedShell

    /// Starts one in front of a cluster.
    ///
    /// - Parameters:
    ///   - cluster: The server.
    ///   - serverConnections: The number of its connections to the server for each database and user.
    package init(_ cluster: PrivateCluster, serverConnections: Int) throws {
        guard let program = PostgresPrograms.find("pgbouncer"), PrivateCluster.isInstalled else {
            throw PrivateCluster.StartError(description: Self.missing)
        }
        place = "\(cluster.place)/pooler_\(UInt32.random(in: 0 ... .max))"
        let configuration = """
            [databases]
            * = host=\(cluster.place)
            [pgbouncer]
            listen_addr =
            unix_socket_dir = \(place)
            listen_port = 5432
            auth_type = trust
            auth_file = \(place)/users
            pool_mode = transaction
            default_pool_size = \(serverConnections)
            max_client_conn = 200
            logfile = \(place)/log
            pidfile = \(place)/pid
            """
        let script = """
            trap '' HUP INT QUIT TERM
            mkdir -m 700 "$2" && printf '"postgres" ""\\n' >"$2/users" && printf '%s\\n' "$3" >"$2/configuration" || exit 1
            "$1" -q "$2/configuration" 2>/dev/null &
            pooler=$!
            for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25; do
                [ -S "$2/.s.PGSQL.5432" ] && break; sleep 0.1
            done
            [ -S "$2/.s.PGSQL.5432" ] && echo ready || cat "$2/log"
            exec >/dev/null
            cat >/dev/null
            kill -KILL $pooler
            """
        let command =
            try PrivateCluster.asServersUser() + [PostgresPrograms.find("sh") ?? "/bin/sh", "-c", script, "pooler"]
            + [program, place, configuration]
        shell = try GuardedShell(command, starting: "pgbouncer", errors: .standardError)
    }

    /// The URL of a database behind it.
    package func url(database: String, user: String = "postgres") -> String {
        "postgresql://\(user)@/\(database)?host=\(place)"
    }
}
#endif
