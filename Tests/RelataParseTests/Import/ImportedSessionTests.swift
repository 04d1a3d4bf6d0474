import Foundation
import RelataCore
import TestEngines
import Testing

@testable import RelataParse

/// Users of another server stay signed in.
@Suite(.onEveryEngine)
struct ImportedSessionTests {
    private static let token = "r:0123456789abcdef0123456789abcdef"

    /// A line of an export of the database.
    private static func session(
        _ id: String, _ token: String, user: String = "u1", end: String = #"{"$date":"2999-01-01T00:00:00.000Z"}"#
    ) -> String {
        #"{"_id":"\#(id)","_session_token":"\#(token)","_p_user":"_User$\#(user)","#
            + #""createdWith":{"action":"signup","authProvider":"google"},"restricted":false,"installationId":"i1","#
            + #""expiresAt":\#(end),"_created_at":{"$date":"2019-01-02T03:04:05.678Z"},"#
            + #""_updated_at":{"$date":"2020-01-02T03:04:05.678Z"}}"#
    }

    private static func export(_ sessions: [String]) -> [String: String] {
        [
            "_User.json": SmallExport.files["_User.json"] ?? "",
            "_Session.json": sessions.joined(separator: "\n"),
        ]
    }

    private func me(_ server: TestServer, _ token: String) async throws -> TestServer.Reply {
        try await server.send(
            "GET", "/users/me", headers: ["x-parse-session-token": token], isMaster: false)
    }

    @Test func aMovedSessionKeepsItsUserSignedIn() async throws {
        let server = try TestServer.forImports()
        let (reports, notes, _) = try await server.importing(Self.export([Self.session("s1", Self.token)]))
        #expect(reports["_Session"]?.created == 1, "\(reports)")
        #expect(!notes.contains { $0.hasPrefix("_Session") }, "\(notes)")
        #expect(try await me(server, Self.token)["objectId"] == "u1")
        let session = try await server.get("_Session", "s1")
        #expect(session["createdWith"] == ["action": "signup", "authProvider": "google"])
        #expect(session["expiresAt"]?["iso"] == "2999-01-01T00:00:00.000Z" && session["installationId"] == "i1")
        #expect(session["createdAt"] == "2019-01-02T03:04:05.678Z")
        #expect(session["updatedAt"] == "2020-01-02T03:04:05.678Z")
        #expect(session["user"]?["objectId"] == "u1" && session["restricted"] == false)
        // It is a session like others, and ends by signing out.
        let headers = ["x-parse-session-token": Self.token]
        #expect(try await server.send("POST", "/logout", headers: headers, isMaster: false).status == 200)
        #expect(try await me(server, Self.token)["code"] == 209)
    }

    @Test func theTokenOfAMovedSessionIsNotStored() async throws {
        let server = try TestServer.forImports()
        _ = try await server.importing(Self.export([Self.session("s1", Self.token)]))
        let stored = try await server.service.store.read(as: .master) { transaction in
            let table = try #require(transaction.storedClasses[InternalClasses.session]?.table)
            return try transaction.connection.row(KeyValue(.text("s1")), of: table, transaction.unlimitedCompiler)
        }
        let texts = try #require(stored).map(\.description)
        #expect(!texts.contains { $0.contains(Self.token) || $0.contains(Self.token.dropFirst(2)) }, "\(texts)")
    }

    @Test func aRepeatedImportStoresEachSessionOnce() async throws {
        let server = try TestServer.forImports()
        let files = Self.export([Self.session("s1", Self.token), Self.session("s2", Self.token)])
        let (first, _, _) = try await server.importing(files)
        #expect(first["_Session"]?.created == 1 && first["_Session"]?.existing == 1, "\(first)")
        let (second, _, _) = try await server.importing(files)
        #expect(second["_Session"]?.created == 0 && second["_Session"]?.existing == 2, "\(second)")
        #expect(try await server.find("_Session").count == 1)
    }

    @Test func sessionsThatCannotBeMovedAreCountedWithTheReason() async throws {
        let server = try TestServer.forImports()
        let tokens = (0..<7).map { "r:0123456789abcdef0123456789abcde\($0)" }
        let (reports, notes, _) = try await server.importing(
            Self.export([
                Self.session("s0", tokens[0], end: #"{"$date":"2020-01-01T00:00:00.000Z"}"#),
                Self.session("s1", tokens[1], user: "nobody"), Self.session("s2", "r:1"),
                Self.session("s3", tokens[3], end: "5"),
                #"{"_id":"s4","_session_token":"\#(tokens[4])"}"#, Self.session("s6", tokens[6], user: #"\u0000"#),
                #"{"objectId":"s5","sessionToken":"\#(tokens[5])","user":{"__type":"Pointer","className":"_User","objectId":"u3"}}"#,
            ]))
        let report = try #require(reports["_Session"])
        #expect(report.created == 1 && report.refused == 3 && report.dangling == 3, "\(report)")
        #expect(
            notes.filter { $0.hasPrefix("_Session") } == [
                "_Session: 1 of them not moved: they have ended",
                "_Session: 3 of them not moved: their users don't exist",
                "_Session: 1 of them not moved: the source doesn't return their tokens, or the tokens could be guessed",
                "_Session: 1 of them not moved: they have no objectId, or a time of expiry that isn't a date",
            ])
        for (number, token) in tokens.enumerated() {
            let reply = try await me(server, token)
            #expect(number == 5 ? reply["objectId"] == "u3" : reply["code"] == 209, "\(number): \(reply.json)")
        }
    }
}
