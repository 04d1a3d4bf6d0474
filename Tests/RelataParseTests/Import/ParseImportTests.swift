import Foundation
import TestEngines
import Testing

@testable import RelataParse

/// A small export of the database of Parse's own server, as `mongoexport` writes it.
enum SmallExport {
    static let files: [String: String] = [
        "_SCHEMA.json": #"""
        {"_id":"Author","objectId":"string","name":"string","born":"date","home":"geopoint","friend":"*Author","_metadata":{"class_permissions":{"find":{"*":true},"get":{"*":true},"create":{"requiresAuthentication":true},"update":{},"delete":{},"addField":{},"protectedFields":{"*":["born"],"userField:owner":[]}}}}
        {"_id":"Book","objectId":"string","title":"string","author":"*Author","pages":"number","cover":"file","readers":"relation<_User>","tags":"array","data":"bytes","more":"object"}
        {"_id":"_User","objectId":"string","username":"string","password":"string","email":"string","emailVerified":"boolean","authData":"object","nick":"string","favorite":"*Book"}
        {"_id":"_Role","objectId":"string","name":"string","users":"relation<_User>","roles":"relation<_Role>"}
        {"_id":"_Session","objectId":"string"}
        """#,
        "Author.json": #"""
        {"_id":"a1","name":"Octavia","born":{"$date":"1947-06-22T00:00:00.000Z"},"home":[-118.25,34.05],"_p_friend":"Author$a2","_created_at":{"$date":"2019-01-02T03:04:05.678Z"},"_updated_at":{"$date":{"$numberLong":"1577934245678"}}}
        {"_id":"a2","name":"Ursula","_p_friend":"Author$a1","_created_at":{"$date":"2019-01-02T03:04:05.678Z"},"_updated_at":{"$date":"2019-01-02T03:04:05.678Z"}}
        """#,
        "Book.json": #"""
        {"_id":"b1","title":"Dawn","_p_author":"Author$a1","pages":{"$numberInt":"248"},"cover":"1f_dawn.png","tags":["a",{"$date":"2019-01-02T03:04:05.678Z"}],"data":{"$binary":{"base64":"AQID","subType":"00"}},"more":{"n":{"$numberLong":"9007199254740993"}},"_rperm":["*","u1"],"_wperm":["u1","role:Editors"],"_created_at":{"$date":"2019-01-02T03:04:05.678Z"},"_updated_at":{"$date":"2020-01-02T03:04:05.678Z"}}
        {"_id":"b2","title":"Gone","_p_author":"Author$nobody","_rperm":[],"_wperm":[],"_created_at":{"$date":"2019-01-02T03:04:05.678Z"},"_updated_at":{"$date":"2019-01-02T03:04:05.678Z"}}
        """#,
        "_User.json": #"""
        {"_id":"u1","username":"mei","email":"mei@example.org","emailVerified":true,"nick":"M","_p_favorite":"Book$b1","_hashed_password":"$2b$10$abcdefghijklmnopqrstuuaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","_rperm":["*","u1"],"_wperm":["u1"],"_auth_data_google":{"id":"g1","id_token":"x"},"_session_token":"r:1","_failed_login_count":3,"_created_at":{"$date":"2019-01-02T03:04:05.678Z"},"_updated_at":{"$date":"2020-01-02T03:04:05.678Z"}}
        {"_id":"u2","username":"MEI","_created_at":{"$date":"2019-01-02T03:04:05.678Z"},"_updated_at":{"$date":"2020-01-02T03:04:05.678Z"}}
        {"_id":"u3","username":"sam","_created_at":{"$date":"2019-01-02T03:04:05.678Z"},"_updated_at":{"$date":"2020-01-02T03:04:05.678Z"}}
        """#,
        "_Role.json": #"""
        {"_id":"r1","name":"Editors","_rperm":["*"],"_wperm":[],"_created_at":{"$date":"2019-01-02T03:04:05.678Z"},"_updated_at":{"$date":"2019-01-02T03:04:05.678Z"}}
        {"_id":"r2","name":"Readers","_rperm":["*"],"_wperm":[],"_created_at":{"$date":"2019-01-02T03:04:05.678Z"},"_updated_at":{"$date":"2019-01-02T03:04:05.678Z"}}
        """#,
        "_Session.json": #"{"_id":"s1","_session_token":"r:1"}"#,
        "_Join%3Ausers%3A_Role.json": #"{"_id":"1","relatedId":"u1","owningId":"r1"}"#,
        "_Join%3Aroles%3A_Role.json": #"{"_id":"1","relatedId":"r1","owningId":"r2"}"#,
        "_Join%3Areaders%3ABook.json": #"""
        {"_id":"1","relatedId":"u1","owningId":"b1"}
        {"_id":"2","relatedId":"nobody","owningId":"b1"}
        {"_id":"3","relatedId":"u3","owningId":"b1"}
        """#,
    ]

    /// Writes files to a new folder.
    static func folder(_ files: [String: String] = files) throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "relata-export-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (name, text) in files {
            try Data(text.utf8).write(to: folder.appendingPathComponent(name))
        }
        return folder
    }
}

private struct Stopped: Error {}

extension TestServer {
    /// A server with users, whose store gets exports.
    static func forImports() throws -> TestServer {
        var options = ParseService.Options()
        options.secrets = ForeignSecrets()
        return try TestServer(options: options)
    }

    /// Imports an export.
    ///
    /// - Parameter pages: The number of pages after which it is interrupted.
    func importing(
        _ files: [String: String], after progress: ParseImport.Progress = .init(), stoppingAfter pages: Int = .max
    ) async throws -> (reports: [String: ParseImport.Report], notes: [String], progress: ParseImport.Progress) {
        let folder = try SmallExport.folder(files)
        defer { try? FileManager.default.removeItem(at: folder) }
        var options = ParseService.Options()
        options.secrets = ForeignSecrets()
        var count = 0
        let run = ParseImport(
            try ImportFolder(folder.path), into: store, options: options, after: progress
        ) { _, _ in
            count += 1
            if count >= pages { throw Stopped() }
        }
        do {
            let reports = try await run.run()
            return (Dictionary(uniqueKeysWithValues: reports.map { ($0.name, $0) }), run.notes, run.progress)
        } catch is Stopped {
            return ([:], run.notes, run.progress)
        }
    }
}

/// Imports the data of another server into a store.
@Suite(.onEveryEngine)
struct ParseImportTests {
    private func check(_ server: TestServer) async throws {
        let octavia = try await server.get("Author", "a1")
        #expect(octavia["name"] == "Octavia" && octavia["createdAt"] == "2019-01-02T03:04:05.678Z")
        #expect(octavia["updatedAt"] == "2020-01-02T03:04:05.678Z")
        #expect(octavia["born"]?["iso"] == "1947-06-22T00:00:00.000Z")
        #expect(
            octavia["home"]?["latitude"]?.number == 34.05
                && octavia["home"]?["longitude"]?.number == -118.25)
        #expect(octavia["friend"]?["objectId"] == "a2")
        #expect(try await server.get("Author", "a2")["friend"]?["objectId"] == "a1")
        let dawn = try await server.get("Book", "b1")
        #expect(dawn["author"]?["objectId"] == "a1" && dawn["pages"] == 248)
        #expect(dawn["cover"]?["name"] == "1f_dawn.png" && dawn["data"]?["base64"] == "AQID")
        #expect(dawn["more"] == ["n": 9_007_199_254_740_993])
        #expect(dawn["updatedAt"] == "2020-01-02T03:04:05.678Z")
        #expect(
            dawn["ACL"] == [
                "*": ["read": true], "role:Editors": ["write": true], "u1": ["read": true, "write": true],
            ])
        let gone = try await server.get("Book", "b2")
        #expect(gone["title"] == "Gone" && gone["author"] == nil && gone["ACL"] == [:])
        let readers = try await server.find(
            "_User", where: ["$relatedTo": ["object": pointer("Book", "b1"), "key": "readers"]])
        #expect(Set(readers.compactMap { $0["objectId"]?.string }) == ["u1", "u3"])
        let mei = try await server.send(
            "POST", "/login", ["username": "mei", "password": "old secret"], isMaster: false)
        #expect(
            mei["objectId"] == "u1" && mei["nick"] == "M" && mei["emailVerified"] == true, "\(mei.json)")
        #expect(mei["favorite"]?["objectId"] == "b1" && mei["authData"]?["google"]?["id"] == "g1")
        let token = ["x-parse-session-token": try #require(mei["sessionToken"]?.string)]
        // Her roles let her write the book.
        let changed = try await server.send(
            "PUT", "/classes/Book/b1", ["title": "Dawn"], headers: token, isMaster: false)
        #expect(changed.status == 200, "\(changed.json)")
        let roles = try await server.service.store.read(as: Caller(sessionToken: token.values.first)) {
            $0.caller.principals
        }
        #expect(roles == ["*", "u1", "role:Editors", "role:Readers"])
        // The classes allow the same as before.
        let author = try await server.send("POST", "/classes/Author", ["name": "x"], isMaster: false)
        #expect(author.status != 201)
        #expect(try await server.send("GET", "/classes/Author/a1", isMaster: false)["born"] == nil)
        #expect(try await server.find("_User").count == 2)
    }

    @Test func anExportOfTheDatabaseIsImported() async throws {
        let server = try TestServer.forImports()
        let (reports, notes, _) = try await server.importing(SmallExport.files)
        let book = try #require(reports["Book"])
        #expect(book.created == 2 && book.refused == 0 && book.dangling == 2, "\(book)")
        let users = try #require(reports["_User"])
        #expect(users.created == 2 && users.refused == 1, "\(users)")
        #expect(notes.contains("_User u2: Account already exists for this username."), "\(notes)")
        #expect(notes.contains { $0.hasPrefix("Book/b2: author stays unset") }, "\(notes)")
        #expect(notes.contains { $0.hasPrefix("_Session: 1 of them not moved: the source doesn't return") }, "\(notes)")
        try await check(server)
    }

    @Test func rulesAndIndexesComeAfterTheObjects() async throws {
        let server = try TestServer.forImports()
        let database: [String: String] = [
            "_SCHEMA.json": #"""
            {"_id":"Note","text":"string","size":"number","due":"date","owner":"*_User","place":"geopoint","_metadata":{"fields_options":{"text":{"required":true},"size":{"defaultValue":{"$numberInt":"3"}},"due":{"required":false}},"indexes":{"_id_":{"_id":1},"text_1":{"text":1},"owner_1":{"_p_owner":-1},"near":{"place":"2dsphere"}},"class_permissions":{"find":{"*":true},"get":{"*":true},"protectedFields":{"*":["text"],"userField:owner":[],"userField:text":[]}}}}
            {"_id":"_User","username":"string","nick":"string","_metadata":{"fields_options":{"username":{"required":true},"nick":{"defaultValue":"-"}},"indexes":{"username_1":{"username":1}}}}
            """#,
            "Note.json": #"{"_id":"n1","size":{"$numberInt":"1"}}"#,
        ]
        let other = try TestServer.forImports()
        let description: [String: String] = [
            "_SCHEMA.json": #"""
            {"className":"Note","fields":{"text":{"type":"String","required":true},"size":{"type":"Number","defaultValue":3},"due":{"type":"Date","required":false},"owner":{"type":"Pointer","targetClass":"_User"},"place":{"type":"GeoPoint"}},"indexes":{"_id_":{"_id":1},"text_1":{"text":1},"owner_1":{"_p_owner":-1},"near":{"place":"2dsphere"}}}
            """#,
            "Note.json": #"{"objectId":"n1","size":1}"#,
        ]
        for (server, files) in [(server, database), (other, description)] {
            let (reports, notes, _) = try await server.importing(files)
            // An object from before the rule.
            #expect(reports["Note"]?.created == 1 && reports["Note"]?.refused == 0, "\(reports)")
            let note = try await server.send("GET", "/schemas/Note", [:])
            #expect(note["fields"]?["text"]?["required"] == true && note["fields"]?["size"]?["defaultValue"] == 3)
            #expect(note["fields"]?["due"]?["required"] == nil, "\(note.json)")
            #expect(note["indexes"] == ["_id_": ["_id": 1], "text_1": ["text": 1], "owner_1": ["_p_owner": -1]])
            #expect(notes.contains { $0.hasPrefix("Note: the index near can't be imported: ") }, "\(notes)")
            let refused = try await server.send("POST", "/classes/Note", ["size": 2])
            #expect(refused["code"] == 142, "\(refused.json)")
            let made = try await server.send("POST", "/classes/Note", ["text": "x"])
            let id = try #require(made["objectId"]?.string)
            #expect(try await server.get("Note", id)["size"] == 3)
        }
        let permissions = try await server.send("GET", "/schemas/Note", [:])["classLevelPermissions"]
        #expect(permissions?["protectedFields"] == ["*": ["text"], "userField:owner": []], "\(permissions ?? "-")")
        let user = try await server.send("GET", "/schemas/_User", [:])
        #expect(user["fields"]?["nick"]?["defaultValue"] == "-" && user["indexes"] == nil, "\(user.json)")
    }

    @Test func aSecondImportCreatesNothingTwice() async throws {
        let server = try TestServer.forImports()
        _ = try await server.importing(SmallExport.files)
        let (reports, _, _) = try await server.importing(SmallExport.files)
        #expect(reports.values.allSatisfy { $0.created == 0 }, "\(reports)")
        #expect(reports["Book"]?.existing == 2 && reports["_Role"]?.existing == 2)
        try await check(server)
    }

    @Test func anInterruptedImportContinues() async throws {
        for pages in [1, 3, 6, 9, 12] {
            let server = try TestServer.forImports()
            let (_, _, progress) = try await server.importing(SmallExport.files, stoppingAfter: pages)
            _ = try await server.importing(SmallExport.files, after: progress)
            try await check(server)
        }
    }

    @Test func anExportOfParseComIsImported() async throws {
        let server = try TestServer.forImports()
        let (reports, notes, _) = try await server.importing(
            [
                "Note.json": #"""
                { "results": [
                  { "objectId": "n1", "text": "one", "next": {"__type": "Pointer", "className": "Note", "objectId": "n2"},
                    "createdAt": "2015-01-02T03:04:05.678Z", "updatedAt": "2015-01-02T03:04:05.678Z" },
                  { "objectId": "n2", "text": "two", "ACL": {"*": {"read": true}},
                    "createdAt": "2015-01-02T03:04:05.678Z", "updatedAt": "2015-01-02T03:04:05.678Z" }
                ] }
                """#
            ])
        #expect(reports["Note"]?.created == 2 && notes.isEmpty, "\(notes)")
        let note = try await server.get("Note", "n1")
        #expect(note["next"]?["objectId"] == "n2" && note["createdAt"] == "2015-01-02T03:04:05.678Z")
        #expect(try await server.get("Note", "n2")["ACL"] == ["*": ["read": true]])
    }

    @Test func linesAreReadPageByPage() async throws {
        let server = try TestServer.forImports()
        let lines = (0..<1203).map { #"{"_id":"n\#($0)","number":{"$numberInt":"\#($0)"}}"# }.joined(
            separator: "\r\n")
        let (reports, _, progress) = try await server.importing(["Note.jsonl": lines])
        #expect(reports["Note"]?.created == 1203)
        #expect(progress.done.contains("objects/Note"))
        #expect(try await server.find("Note", "limit=2000").count == 1203)
    }

    @Test func filesAreImportedWithTheirObjects() async throws {
        let server = try TestServer.forImports()
        let name = String(repeating: "ab", count: 16) + "_dawn.png"
        let lost = String(repeating: "cd", count: 16) + "_gone.png"
        let lines = [("b1", name), ("b2", lost)].map { id, file in
            let cover = #"{"__type":"File","name":"\#(file)","url":"https://old.example.org/\#(file)"}"#
            return #"{"objectId":"\#(id)","cover":\#(cover)}"#
        }
        let folder = try SmallExport.folder(["Book.json": lines.joined(separator: "\n")])
        let contents = try SmallExport.folder([name: "a picture"])
        defer { for folder in [folder, contents] { try? FileManager.default.removeItem(at: folder) } }
        var options = ParseService.Options()
        options.secrets = ForeignSecrets()
        options.files = FileOptions(storage: TestFileStorage())
        for turn in 0..<2 {
            let run = ParseImport(
                try ImportFolder(folder.path, contents: contents.path), into: server.store, options: options,
                after: .init()
            ) { _, _ in }
            _ = try await run.run()
            #expect(run.fileCount == (turn == 0 ? 1 : 0))
            #expect(run.notes == ["Book: the content of the file \(lost) can't be fetched"])
        }
        let served = TestServer(server.store, options: options)
        let url = try await served.get("Book", "b1")["cover"]?["url"]?.string
        #expect(url?.hasSuffix("/files/app/\(name)") == true, "\(url ?? "-")")
        let reply = await served.service.respond(to: WireRequest(method: "GET", path: "/files/app/\(name)"))
        #expect(reply.file?.size == 9)
        let kept: JSONValue = .string("https://old.example.org/\(lost)")
        #expect(try await served.get("Book", "b2")["cover"]?["url"] == kept)
    }

    @Test func anUnreadableFileIsNamed() async throws {
        let server = try TestServer.forImports()
        for (name, text) in [
            ("Note.json", "{\"_id\":\"a\"}\nnot json\n"), ("Note.json", "[1, 2]"), ("Note.json", "["),
        ] {
            do {
                _ = try await server.importing([name: text])
                Issue.record("\(text) was read")
            } catch {
                #expect("\(error)".contains("Note.json"), "\(error)")
            }
        }
        #expect(throws: (any Error).self) { try ImportFolder("/nowhere") }
        let empty = try SmallExport.folder([:])
        defer { try? FileManager.default.removeItem(at: empty) }
        #expect(throws: (any Error).self) { try ImportFolder(empty.path) }
    }
}
