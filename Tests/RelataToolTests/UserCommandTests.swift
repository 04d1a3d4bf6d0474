#if CommandLineTool && Server
import Foundation
import Testing

#if PostgreSQL
import PostgresCluster
#endif

/// `relata user`
struct UserCommandTests {
    /// A database without any tables.
    private func newFile() throws -> SampleFile { try SampleFile("CREATE TABLE note (id INTEGER PRIMARY KEY)") }

    private func checkUsers(of database: String, in folder: TemporaryFolder) throws {
        let audit = folder.path("audit.jsonl")
        let config = folder.path("server.json")
        try #"{"audit": "\#(audit)", "password-pattern": "^.{8,}$"}"#
            .write(toFile: config, atomically: false, encoding: .utf8)
        let short = try Tool.run("user", "create", database, "mei", "--config", config, input: "short\n")
        #expect(short.exitCode == 1)
        #expect(short.errors == "relata: Password does not meet the Password Policy requirements.\n")
        let created = try Tool.run(
            "user", "create", database, "mei", "--email", "mei@example.org", "--config", config,
            input: "a long secret\n")
        #expect(created.exitCode == 0, "\(created.errors)")
        #expect(created.output.hasPrefix("created mei with the id "))
        let again = try Tool.run("user", "create", database, "MEI", "--config", config, input: "a long secret\n")
        #expect(again.errors == "relata: Account already exists for this username.\n")
        let reset = try Tool.run("user", "reset", database, "Mei", "--config", config, input: "another secret")
        #expect(reset.exitCode == 0, "\(reset.errors)")
        #expect(reset.lines.count == 3 && reset.lines[1] == "0 sessions ended")
        let roles = try Tool.run(
            "user", "roles", database, "mei", "--add", "Editors", "--create", "--config", config)
        #expect(roles.lines.contains("  Editors"), "\(roles.errors)")
        let none = try Tool.run("user", "roles", database, "mei", "--remove", "Editors", "--config", config)
        #expect(none.output.contains("has no roles"), "\(none.errors)")
        let list = try Tool.run("user", "list", database, "--format", "json")
        #expect(list.output.contains(#""username":"mei","email":"mei@example.org","emailVerified":false"#))
        #expect(try Tool.run("user", "list", database).lines.contains("1 user"))
        let told = try String(contentsOfFile: audit, encoding: .utf8)
        #expect(told.split(separator: "\n").count == 4)
        #expect(told.contains("give the role Editors to the user"))
        #expect(!told.contains("secret"))
    }

    @Test func usersAreCreatedChangedAndListed() throws {
        let (file, folder) = (try newFile(), try TemporaryFolder())
        try checkUsers(of: file.path, in: folder)
        #expect(try file.rows("SELECT _password FROM _User")[0].hasPrefix("scrypt$"))
    }

    #if PostgreSQL
    @Test(.enabled(if: PrivateCluster.isInstalled, "\(PrivateCluster.missing)"))
    func usersOfAServerAreCreatedChangedAndListed() throws {
        let database = try PrivateCluster.shared.makeDatabase()
        try checkUsers(of: database.url, in: try TemporaryFolder())
        // It is deleted with the object.
        withExtendedLifetime(database) {}
    }
    #endif

    @Test func invalidCallsAreRefusedInOneLine() throws {
        let file = try newFile()
        for (arguments, message) in [
            (
                ["create", file.path, "mei"],
                "relata: there is no password: write it to standard input, as its first line\n"
            ),
            (["reset", file.path, "mei"], "relata: there is no user mei\n"),
            (["roles", file.path, "mei"], "relata: there is no user mei\n"),
            (
                ["create", file.path, "mei", "--verified"],
                "relata: --verified needs --email (see relata --help)\n"
            ),
            (
                ["roles", file.path, "mei", "--add", "A", "--remove", "A"],
                "relata: --add and --remove can't name the same role: A (see relata --help)\n"
            ),
        ] {
            let run = try Tool.run(["user"] + arguments)
            #expect(run.errors == message)
            #expect(run.exitCode != 0)
        }
        #expect(try Tool.run("user", "list", file.path).output.contains("0 users"))
        #expect(try Tool.run("user", "list", "/nowhere/file.sqlite").exitCode == 1)
    }

    /// As Swift reads them, they would be other texts.
    @Test func namesAndPasswordsThatAreNotTextAreRefused() throws {
        let file = try newFile()
        func run(_ script: String) throws -> (exitCode: Int32, errors: String) {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", script, try Tool.executablePath(), file.path]
            let errors = Pipe()
            process.standardOutput = FileHandle.nullDevice
            process.standardError = errors
            try process.run()
            let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            return (process.terminationStatus, text)
        }
        for (script, message) in [
            (#"printf 'a \377 secret\n' | "$0" user create "$1" mei"#, "the password on standard input isn't UTF-8"),
            (
                #"printf 'a \000 secret\n' | "$0" user create "$1" mei"#,
                "the password on standard input contains U+0000"
            ),
            (#"printf 'a secret\n' | "$0" user create "$1" "$(printf 'me\377')""#, "isn't UTF-8: write it in this"),
            (
                #"printf 'a secret\n' | "$0" user create "$1" mei --email "$(printf '\377@b.c')""#,
                "the argument after --email"
            ),
        ] {
            let run = try run(script)
            #expect(run.exitCode != 0 && run.errors.contains(message), "\(script): \(run.errors)")
        }
        #expect(try Tool.run("user", "list", file.path).output.contains("0 users"))
        let created = try run(#"printf 'a long secret\r\nmore\n' | "$0" user create "$1" mei"#)
        #expect(created.exitCode == 0, "\(created.errors)")
    }
}
#endif
