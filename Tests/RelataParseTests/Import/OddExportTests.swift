import Foundation
import TestEngines
import Testing

@testable import RelataParse

/// Exports with parts that can't be moved: these are named, and the others are moved.
@Suite(.onEveryEngine)
struct OddExportTests {
    @Test func classesThatCannotBeMadeAreNamedAndTheOthersAreMoved() async throws {
        let server = try TestServer.forImports()
        let files = [
            "_SCHEMA.json": #"""
            {"_id":"Book","title":"string","by":"*作家"}
            {"_id":"book","title":"string"}
            {"_id":"作家","name":"string"}
            {"_id":"Shelf","a b":"string","place":"string"}
            """#,
            "Book.json": #"{"_id":"b1","title":"Dawn"}"#,
            "作家.json": #"{"_id":"w1","name":"Octavia"}"#,
            "Weird Class.json": "{\"_id\":\"1\"}\n{\"_id\":\"2\"}",
            "Shelf.json": "{\"_id\":\"s1\",\"place\":\"hall\"}\n{\"_id\":\"s2\",\"a b\":\"x\"}",
        ]
        for turn in 0..<2 {
            let (reports, notes, _) = try await server.importing(files)
            for name in ["book", "作家", "Weird Class"] {
                #expect(notes.contains { $0.hasPrefix("the class \(name) can't be made") }, "\(name): \(notes)")
            }
            #expect(notes.contains { $0.hasPrefix("Book: the field by can't be imported: ") }, "\(notes)")
            #expect(notes.contains { $0.hasPrefix("Shelf s2: ") && $0.contains("a b") }, "\(notes)")
            #expect(reports["Weird Class"]?.refused == 2 && reports["作家"]?.refused == 1, "\(reports)")
            #expect(reports["Shelf"]?.refused == 1, "\(reports)")
            for name in ["Book", "Shelf"] {
                #expect(reports[name]?.created == (turn == 0 ? 1 : 0), "\(reports)")
                #expect(reports[name]?.existing == turn, "\(reports)")
            }
        }
        #expect(try await server.get("Book", "b1")["title"] == "Dawn")
        #expect(try await server.get("Shelf", "s1")["place"] == "hall")
    }

    @Test(arguments: [#"{"find":{"a b":true},"get":{"*":true}}"#, #""open""#])
    func invalidPermissionsCloseTheClass(permissions: String) async throws {
        let server = try TestServer.forImports()
        let (reports, notes, _) = try await server.importing([
            "_SCHEMA.json": #"{"_id":"Note","text":"string","_metadata":{"class_permissions":\#(permissions)}}"#,
            "Note.json": #"{"_id":"n1","text":"private"}"#,
        ])
        #expect(reports["Note"]?.created == 1)
        #expect(notes.contains { $0.hasPrefix("Note: its permissions can't be imported") }, "\(notes)")
        #expect(try await server.get("Note", "n1")["text"] == "private")
        for path in ["/classes/Note", "/classes/Note/n1"] {
            #expect(try await server.send("GET", path, isMaster: false).status != 200)
        }
    }

    @Test func unsupportedTextDoesNotStopTheImport() async throws {
        let server = try TestServer.forImports()
        let odd = [
            #"{"_id":"x\u0000y","text":"z"}"#, #"{"_id":"","text":"z"}"#, #"{"_id":"bt","text":"x\u0000y"}"#,
            #"{"_id":"bo","more":{"k":"x\u0000y"}}"#, #"{"_id":"bk","more":{"k\u0000":"y"}}"#,
            #"{"_id":"ba","list":["x\u0000y"]}"#, #"{"_id":"bp","_p_next":"Note$x\u0000y"}"#,
            #"{"_id":"br","_rperm":["x\u0000y"]}"#,
        ]
        let plain = (0..<3).map { #"{"_id":"n\#($0)","text":"t","more":{},"list":[]}"# }
        let lines = plain.prefix(1) + odd + plain.dropFirst(1)
        let (reports, notes, _) = try await server.importing(["Note.json": lines.joined(separator: "\n")])
        let report = try #require(reports["Note"])
        #expect(report.created + report.refused == lines.count, "\(report)")
        #expect(report.refused >= 3, "\(report)")
        #expect(notes.contains { $0.hasPrefix("Note x\0y: objectId must be text") }, "\(notes)")
        #expect(notes.contains { $0.hasPrefix("Note br: ") }, "\(notes)")
        #expect(try await server.find("Note", where: ["text": "t"]).count == 3)
    }

    @Test func invalidJSONIsReportedWithItsLine() async throws {
        let server = try TestServer.forImports()
        let many = (0..<1203).map { #"{"_id":"n\#($0)"}"# }.joined(separator: "\n")
        for (text, number, reason) in [
            ("{\"_id\":\"a\"}\n\n{\"_id\":\"b\"}\n{broken\n", 4, "a member's name is expected"),
            (many + "\n7", 1204, "another value"),
        ] {
            do {
                _ = try await server.importing(["Note.json": text])
                Issue.record("line \(number) was read")
            } catch {
                let message = "\(error)"
                #expect(message.contains("Note.json") && message.contains("line \(number):"), "\(message)")
                #expect(message.contains(reason), "\(message)")
            }
        }
    }

    @Test func unreadableAccessListsAllowNobody() async throws {
        let server = try TestServer.forImports()
        let (reports, notes, _) = try await server.importing([
            "Note.json": #"""
            {"_id":"n1","_wperm":"no"}
            {"_id":"n2","_rperm":"u1"}
            {"_id":"n3"}
            {"_id":"n4","_rperm":null,"_wperm":null}
            {"_id":"n5","_rperm":["*",5],"_wperm":[]}
            {"_id":"n6","_rperm":{"*":true},"_wperm":7}
            """#
        ])
        #expect(reports["Note"]?.created == 6, "\(reports) \(notes)")
        let lists: [String: JSONValue?] = [
            "n1": ["*": ["read": true]], "n2": ["*": ["write": true]], "n3": nil, "n4": nil,
            "n5": ["*": ["read": true]], "n6": [:],
        ]
        for (id, list) in lists {
            #expect(try await server.get("Note", id)["ACL"] == list, "\(id)")
            let isNoted = notes.contains { $0.hasPrefix("Note \(id): its ") }
            #expect(isNoted == (list != nil), "\(id): \(notes)")
        }
        for (id, status) in [("n1", 200), ("n2", 404), ("n3", 200), ("n6", 404)] {
            #expect(try await server.send("GET", "/classes/Note/\(id)", isMaster: false).status == status, "\(id)")
        }
    }

    @Test func danglingPointersAreNamedAndCounted() async throws {
        let server = try TestServer.forImports()
        // The class isn't described with the pointer.
        let (reports, notes, _) = try await server.importing([
            "_SCHEMA.json": "{\"_id\":\"Book\",\"writers\":\"relation<Author>\"}\n{\"_id\":\"Author\"}",
            "Author.json": #"{"_id":"a1"}"#,
            "Book.json": #"""
            {"_id":"b1","_p_author":"garbage"}
            {"_id":"b2","_p_author":5}
            {"_id":"b3","_p_author":"Author$a1"}
            """#,
            "_Join%3Awriters%3ABook.json": #"""
            {"_id":"1","owningId":"b1","relatedId":"a1"}
            {"_id":"2","owningId":5,"relatedId":"a1"}
            """#,
        ])
        let report = try #require(reports["Book"])
        #expect(report.created == 3 && report.links == 2 && report.dangling == 3, "\(report) \(notes)")
        #expect(notes.contains { $0.hasPrefix("Book/b1: author stays unset: \"garbage\" isn't a pointer") }, "\(notes)")
        #expect(notes.contains { $0.hasPrefix("Book/b2: author stays unset: 5 isn't a pointer") }, "\(notes)")
        #expect(notes.contains { $0.hasPrefix("_Join:writers:Book: a row needs an owningId") }, "\(notes)")
        #expect(try await server.get("Book", "b3")["author"]?["objectId"] == "a1")
    }

    @Test func valuesThatCannotBeStoredAreNamed() async throws {
        let server = try TestServer.forImports()
        let refused = [
            (#""_id":"n1","pages":{"$numberDouble":"NaN"}"#, "Note n1: pages: NaN isn't a number that can be stored"),
            (
                #""_id":"n2","pages":{"$numberLong":"99999999999999999999"}"#,
                "Note n2: pages: 99999999999999999999 isn't a whole number that can be stored"
            ),
            (
                #""_id":"n3","pages":{"$numberDecimal":"1E+6144"}"#,
                "Note n3: pages: 1E+6144 isn't a number that can be stored"
            ),
            (#""_id":"n4","due":{"$date":"some day"}"#, "Note n4: due: some day isn't a date that can be stored"),
            (
                #""_id":"n5","due":{"$date":{"$numberLong":"999999999999999"}}"#,
                #"Note n5: due: {"$numberLong":"999999999999999"} isn't a date that can be stored"#
            ),
            (
                #""_id":"n6","more":{"at":{"$timestamp":{"t":1,"i":1}}}"#,
                "Note n6: more: a value of the type $timestamp can't be stored"
            ),
            (
                #""_id":"n7","more":{"a.b":1}"#,
                "Note n7: more: Nested keys should not contain the '$' or '.' characters: a.b"
            ),
            (#""_id":5"#, "Note: its _id is 5, and must be text"),
        ]
        let moved = [
            #"{"_id":"m1","pages":{"$numberDecimal":"0.1"},"data":{"$binary":"AQID","$type":"00"}}"#,
            #"{"_id":"m2","pages":{"$numberDouble":"3.0"},"gone":{"$undefined":true},"_created_at":"yesterday"}"#,
        ]
        let lines = refused.map { "{\($0.0)}" } + moved
        let (reports, notes, _) = try await server.importing(["Note.json": lines.joined(separator: "\n")])
        #expect(reports["Note"]?.created == 2 && reports["Note"]?.refused == refused.count, "\(reports)")
        for (_, note) in refused { #expect(notes.contains(note), "\(note): \(notes)") }
        #expect(notes.contains { $0.hasPrefix("Note m2: its _created_at is \"yesterday\"") }, "\(notes)")
        let first = try await server.get("Note", "m1")
        #expect(first["pages"] == 0.1 && first["data"]?["base64"] == "AQID", "\(first)")
        let second = try await server.get("Note", "m2")
        #expect(second["pages"] == 3 && second["gone"] == nil && second["createdAt"] != nil, "\(second)")
    }

    @Test func reservedNamesAreImportedAndStayUsable() async throws {
        let server = try TestServer.forImports()
        let (reports, notes, _) = try await server.importing([
            "Note.json": #"{"_id":"n1","text":"a","constructor":5,"more":{"__proto__":{"x":1}}}"#
        ])
        #expect(reports["Note"]?.created == 1 && notes.isEmpty, "\(notes)")
        let changed = try await server.send("PUT", "/classes/Note/n1", ["text": "b"], isMaster: false)
        #expect(changed.status == 200, "\(changed.json)")
        let note = try await server.send("GET", "/classes/Note/n1", isMaster: false)
        #expect(note["text"] == "b" && note["constructor"] == 5 && note["more"] == ["__proto__": ["x": 1]])
        #expect(try await server.find("Note", where: ["text": "b"]).count == 1)
        #expect(try await server.send("PUT", "/classes/Note/n1", ["constructor": 6], isMaster: false).status == 400)
    }

    @Test func installationsAreMoved() async throws {
        let server = try TestServer.forImports()
        let token = String(repeating: "AB12", count: 16)
        let files = [
            "_SCHEMA.json": #"""
            {"_id":"_Installation","installationId":"string","deviceToken":"string","deviceType":"string","channels":"array","badge":"number","team":"string","owner":"*_User"}
            """#,
            "_User.json": #"{"_id":"u1","username":"mei"}"#,
            "_Installation.json": #"""
            {"_id":"i1","installationId":"AB-1","deviceToken":"\#(token)","deviceType":"ios","channels":["news"],"badge":{"$numberInt":"3"},"team":"red","_p_owner":"_User$u1","_created_at":{"$date":"2019-01-02T03:04:05.678Z"},"_updated_at":{"$date":"2020-01-02T03:04:05.678Z"}}
            {"_id":"i2","installationId":"ab-1","deviceType":"ios"}
            """#,
        ]
        let (reports, notes, _) = try await server.importing(files)
        let report = try #require(reports["_Installation"])
        #expect(report.created == 1 && report.refused == 1 && report.links == 1, "\(report) \(notes)")
        let moved = try await server.get("_Installation", "i1")
        #expect(moved["installationId"] == "ab-1" && moved["deviceToken"]?.string == token.lowercased(), "\(moved)")
        #expect(moved["channels"] == ["news"] && moved["badge"] == 3 && moved["team"] == "red", "\(moved)")
        #expect(moved["owner"]?["objectId"] == "u1" && moved["updatedAt"] == "2020-01-02T03:04:05.678Z", "\(moved)")
        // The app on the device is the same installation.
        let told = try await server.send(
            "POST", "/installations", ["installationId": "AB-1", "deviceType": "ios"], isMaster: false)
        #expect(told["objectId"] == "i1", "\(told.json)")
        let (again, _, _) = try await server.importing(files)
        #expect(again["_Installation"]?.existing == 1 && again["_Installation"]?.created == 0, "\(again)")
    }
}
