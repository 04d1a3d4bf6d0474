#if PostgreSQL
import Foundation
import RelataPostgres
import Synchronization

/// Starts, stops and kills the servers of a cluster: its own, and its replicas.
package protocol ServerControl: Sendable {
    /// The cluster that the server is of.
    var cluster: PrivateCluster { get }
    /// The folder of its socket.
    var place: String { get }
}

extension ServerControl {
    /// The folder of its data.
    package var data: String { place + "/data" }

    /// The server's main process; `nil` if it doesn't run.
    package var processID: Int32? {
        guard let lines = try? String(contentsOfFile: data + "/postmaster.pid", encoding: .utf8) else { return nil }
        return lines.split(separator: "\n").first.flatMap { Int32($0) }
    }

    /// Starts the server again, and waits until it answers. After a kill, it first recovers committed transactions.
    package func start() throws {
        // Processes of a killed server end by themselves, and no other server can start before.
        var failure: (any Error)?
        for _ in 0..<200 {
            do {
                try cluster.run("pg_ctl", ["-D", data, "-l", place + "/log", "-w", "start"])
                return
            } catch {
                failure = error
                usleep(50_000)
            }
        }
        if let failure { throw failure }
    }

    /// Stops the server, without waiting for its clients.
    package func stopServer() throws { try cluster.run("pg_ctl", ["-D", data, "-m", "fast", "-w", "stop"]) }

    /// Kills the server's main process like a power failure, and waits until it has ended.
    package func killServer() throws {
        guard let processID else { throw PrivateCluster.StartError(description: "the server doesn't run") }
        kill(processID, SIGKILL)
        let deadline = ContinuousClock.now + .seconds(30)
        while kill(processID, 0) == 0 {
            guard .now < deadline else { throw PrivateCluster.StartError(description: "the server isn't killed") }
            usleep(1000)
        }
    }
}

extension PrivateCluster: ServerControl {
    package var cluster: PrivateCluster { self }

    /// Runs one of PostgreSQL's programs, and waits for its end.
    package func run(_ program: String, _ arguments: [String]) throws {
        // A server that the program has started keeps descriptors open that Foundation waits for, so the shell reports
        // the program's end.
        let command =
            try Self.asServersUser()
            + [PostgresPrograms.find("sh") ?? "/bin/sh", "-c", "\"$@\" >/dev/null 2>&1; echo $?", program]
            + ["\(programs)/\(program)"] + arguments
        let output = Pipe()
        _ = fcntl(output.fileHandleForReading.fileDescriptor, F_SETFD, FD_CLOEXEC)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        process.currentDirectoryURL = URL(fileURLWithPath: "/")
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        try? output.fileHandleForWriting.close()
        var answer = Data()
        while answer.last != UInt8(ascii: "\n") {
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { break }
            answer += more
        }
        let status = String(decoding: answer, as: UTF8.self).trimmingCharacters(in: .newlines)
        guard status == "0" else { throw StartError(description: "\(program) ended with \(status)") }
    }

    /// Makes a replica that streams from this server, and starts it.
    package func makeReplica() throws -> Replica {
        let number = replicas.wrappingAdd(1, ordering: .relaxed).newValue
        let replica = Replica(of: self, place: "\(folder)/replica_\(number)", name: "replica_\(number)")
        try run(
            "pg_basebackup",
            [
                "-D", replica.data, "-h", folder, "-U", "postgres", "-R", "-X", "stream", "-c", "fast", "--no-sync",
                "-d", "application_name=\(replica.name)",
            ])
        let own = "unix_socket_directories = '\(replica.place)'\n"
        let configuration = URL(fileURLWithPath: replica.data + "/postgresql.auto.conf")
        let file = try FileHandle(forUpdating: configuration)
        try file.seekToEnd()
        try file.write(contentsOf: Data(own.utf8))
        try file.close()
        try replica.start()
        return replica
    }
}

/// A server that follows another one.
package final class Replica: ServerControl {
    package let cluster: PrivateCluster
    package let place: String
    /// The name that it has with the server that it follows, as `synchronous_standby_names` takes it.
    package let name: String

    fileprivate init(of cluster: PrivateCluster, place: String, name: String) {
        self.cluster = cluster
        self.place = place
        self.name = name
    }

    /// The URL of a database of the replica.
    package func url(database: String = "postgres", user: String = "postgres") -> String {
        "postgresql://\(user)@/\(database)?host=\(place)"
    }

    /// Makes it a server that takes writes, and waits until it does.
    package func promote() throws { try cluster.run("pg_ctl", ["-D", data, "-w", "promote"]) }
}
#endif
