#if Server
import BenchmarkReport
import Foundation
import RelataServer

// Objects that only some users may read, and signing in, at full load. The limits are objects that everybody may read,
// requested in the same way, and the hash of the password.

extension ServerWorkload {
    /// One object by its id, whose access list lets only the requesting user read it.
    static let getOfUser = ServerWorkload(name: "http-get-user", targets: [.limit(1.3)]) { bench in
        let notes = try await bench.notes(10_000, users: 100)
        let server = try ServerProcess.child("relata", notes.path)
        let medians = try await bench.medians([
            { try bench.wrk.milliseconds(notes.get, port: server.port) },
            { try bench.wrk.milliseconds(notes.getOpen, port: server.port) },
        ])
        return Outcome(ours: medians[0], limit: medians[1])
    }

    /// The hundred objects of the requesting user, among a million that mostly belong to others.
    static let findPrivate = ServerWorkload(name: "http-find-private", targets: [.limit(1.5)]) { bench in
        let notes = try await bench.notes(1_000_000, users: 10_000)
        let server = try ServerProcess.child("relata", notes.path)
        for call in [notes.find, notes.findOpen] {
            let count = try bench.count(call, port: server.port)
            guard count == 100 else { throw Failure("the server found \(count) notes") }
        }
        let medians = try await bench.medians([
            { try bench.wrk.milliseconds(notes.find, port: server.port) },
            { try bench.wrk.milliseconds(notes.findOpen, port: server.port) },
        ])
        return Outcome(ours: medians[0], limit: medians[1])
    }

    /// Signing in with a password, on all processors; compared with hashing a password.
    static let login = ServerWorkload(name: "login", targets: [.limit(1.2)]) { bench in
        let server = try ServerProcess.child("relata", bench.copyOfLibrary("accounts.sqlite"))
        let user = #"{"username": "reader", "password": "Fledgling 2005"}"#
        let signUp = HTTPCall(
            method: "POST", paths: ["/parse/users"], bodies: [user], headers: SampleLibrary.headers)
        _ = try ServerConnection(port: server.port).answer(signUp)
        let signIn = HTTPCall(
            method: "POST", paths: ["/parse/login"], bodies: [user], headers: SampleLibrary.headers)
        let secrets = ScryptSecrets()
        // A hash takes long: in the usual time there would be too few.
        let wrk = Wrk(directory: bench.wrk.directory, seconds: bench.options.isQuick ? 1 : 8)
        let medians = try await bench.medians([
            { try wrk.milliseconds(signIn, port: server.port, connections: 8) },
            {
                try await bench.milliseconds(seconds: wrk.seconds) { _ in
                    _ = try await secrets.hash(of: "Fledgling 2005")
                }
            },
        ])
        return Outcome(ours: medians[0], limit: medians[1])
    }
}

extension ServerBench {
    /// Notes of users; a tenth of the users, with fewer notes, in a quick run.
    fileprivate func notes(_ count: Int, users: Int) async throws -> PrivateNotes {
        Report.say("making the notes …")
        let file = try directory.file("notes-\(count).sqlite")
        return options.isQuick
            ? try await PrivateNotes(file, notes: 1000, users: 10)
            : try await PrivateNotes(file, notes: count, users: users)
    }

    /// The number of objects that a call finds.
    fileprivate func count(_ call: HTTPCall, port: Int) throws -> Int {
        struct Reply: Decodable {
            struct Object: Decodable { let objectId: String }

            let results: [Object]
        }
        let reply = try ServerConnection(port: port).answer(call)
        return try JSONDecoder().decode(Reply.self, from: Data(reply)).results.count
    }
}
#endif
