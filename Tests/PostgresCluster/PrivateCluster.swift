#if PostgreSQL
import Foundation
import RelataCore
import RelataPostgres
import Synchronization

/// A PostgreSQL server of this process's own, in a temporary folder, that only a socket in that folder leads to.
///
/// It always ends with the process: a shell holds the other end of a pipe, and stops the server and removes the folder
/// when the pipe is closed.
package final class PrivateCluster: Sendable {
    /// The one that the tests of a process share, started when it is first asked for.
    package static var shared: PrivateCluster { get throws { try started.get() } }

    private static let started = Result { try PrivateCluster() }

    /// The reason for skipping a test where PostgreSQL isn't installed.
    package static let missing = "PostgreSQL isn't installed: the package is called postgresql"

    /// Whether there can be one.
    package static var isInstalled: Bool { PostgresPrograms.areInstalled }

    /// A role that must give the password `secret`. All others are let in.
    package static let guardedRole = "guarded"

    let folder: String
    /// The folder of the server's programs.
    let programs: String
    private let shell: GuardedShell
    private let databases = Atomic<Int>(0)
    /// The number of replicas made so far.
    let replicas = Atomic<Int>(0)

    /// The reason why a cluster doesn't start or work.
    package struct StartError: Error, CustomStringConvertible {
        package let description: String
    }

    /// Makes a cluster and starts its server.
    ///
    /// - Parameters:
    ///   - fsync: Whether commits wait for the disk.
    ///   - settings: Settings, as in `postgresql.conf`.
    ///   - environment: Variables of the server's environment, such as `LANGUAGE`.
    package init(fsync: Bool = false, settings: [String: String] = [:], environment: [String: String] = [:]) throws {
        guard let programs = PostgresPrograms.folder else { throw StartError(description: Self.missing) }
        self.programs = programs
        // A socket's path has room for a hundred characters, which other temporary folders may exceed.
        folder = "/tmp/relata-postgres-\(UInt64.random(in: 0 ... .max))"
        let own = [
            "listen_addresses": "", "unix_socket_directories": folder, "max_connections": "200",
            "shared_buffers": "64MB", "fsync": fsync ? "on" : "off", "synchronous_commit": fsync ? "on" : "off",
            "full_page_writes": fsync ? "on" : "off", "timezone": "UTC", "log_min_messages": "warning",
            "max_prepared_transactions": "10",
        ]
        let options = own.merging(settings) { $1 }.sorted { $0.key < $1.key }.map { "\($0) = '\($1)'" }
        var command: [String] = []
        // In its own session, so that no signal for the tests' group reaches it.
        if let setsid = PostgresPrograms.find("setsid") { command.append(setsid) }
        command += try Self.asServersUser()
        if !environment.isEmpty, let env = PostgresPrograms.find("env") {
            command += [env] + environment.map { "\($0)=\($1)" }.sorted()
        }
        command += [
            PostgresPrograms.find("sh") ?? "/bin/sh", "-c", Self.script, "relata-postgres", programs, folder,
            options.joined(separator: "\n"),
        ]
        shell = try GuardedShell(command, starting: "PostgreSQL", errors: .nullDevice)
    }

    /// Runs a command as a user that the server accepts.
    static func asServersUser() throws -> [String] {
        guard geteuid() == 0 else { return [] }
        guard let runuser = PostgresPrograms.find("runuser") else {
            throw StartError(description: "PostgreSQL refuses to be root, and there is no runuser")
        }
        return [runuser, "-u", "postgres", "--"]
    }

    /// Stops the server and removes its folder.
    package func stop() { shell.letGo() }

    private static let script = """
        trap '' HUP INT QUIT TERM
        programs=$1 folder=$2 options=$3
        start() {
            mkdir -m 700 "$folder" || return
            "$programs/initdb" -D "$folder/data" -U postgres -A trust -E UTF8 --locale=C --no-sync || return
            printf '%s\\n' "$options" >>"$folder/data/postgresql.conf" || return
            printf 'local replication all trust\\nlocal all \(guardedRole) scram-sha-256\\nlocal all all trust\\n' >"$folder/data/pg_hba.conf" || return
            "$programs/pg_ctl" -D "$folder/data" -l "$folder/log" -w start || { cat "$folder/log"; return 1; }
            "$programs/psql" -X -q -h "$folder" -U postgres -d postgres \\
                -c "CREATE ROLE \(guardedRole) LOGIN PASSWORD 'secret'"
        }
        if answer=$(start 2>&1 </dev/null); then echo ready; else printf '%s\\n' "$answer"; rm -rf "$folder"; exit 1; fi
        exec >/dev/null
        cat >/dev/null
        for data in "$folder"/*/data "$folder/data"; do
            [ -d "$data" ] && "$programs/pg_ctl" -D "$data" -m immediate stop
        done
        rm -rf "$folder"
        """

    // MARK: Databases

    /// The URL of a database of the cluster.
    package func url(database: String = "postgres", user: String = "postgres") -> String {
        "postgresql://\(user)@/\(database)?host=\(folder)"
    }

    /// The folder of the server's socket, log and data.
    package var place: String { folder }

    /// Creates a database that is dropped with the object: an empty one, or a copy of a template that nobody is
    /// connected to.
    package func makeDatabase(template: String = "template0") throws -> TestDatabase {
        let number = databases.wrappingAdd(1, ordering: .relaxed).newValue
        let name = "test_\(number)"
        let session = try Session(PostgresURL(url()))
        try session.run("CREATE DATABASE \"\(name)\" TEMPLATE \"\(template)\"")
        return TestDatabase(name, of: self)
    }
}

/// A database of a test's own, dropped with the object.
package final class TestDatabase: Sendable {
    /// Its name.
    package let name: String
    private let cluster: PrivateCluster

    fileprivate init(_ name: String, of cluster: PrivateCluster) {
        self.name = name
        self.cluster = cluster
    }

    /// Its URL.
    package var url: String { cluster.url(database: name) }

    deinit {
        // The server ends with the process, and the database with it: a failure only costs space until then.
        guard let url = try? PostgresURL(cluster.url()), let session = try? Session(url) else { return }
        _ = try? session.run("DROP DATABASE IF EXISTS \"\(name)\" WITH (FORCE)")
    }
}
#endif
