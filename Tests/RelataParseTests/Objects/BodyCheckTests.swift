import RelataParse
import TestEngines
import Testing

/// Values and names that objects may not contain.
@Suite(.onEveryEngine) struct BodyCheckTests {
    private func prohibited(_ name: String) -> JSONValue {
        .string("Prohibited keyword in request data: {\"key\":\"\(name)\"}.")
    }

    @Test func prohibitedNamesAreRefusedAtAnyDepth() async throws {
        let server = try TestServer()
        let id = try await server.create("Item", ["o": ["k": 1], "list": [1]])
        for name in ["constructor", "__proto__"] {
            let bodies: [JSONValue] = [
                .object([name: 1]), ["o": .object([name: ["prototype": ["dummy": 0]]])],
                ["o": ["data": [:], "more": [["deep": .object([name: 1])]]]], .object(["o.\(name).dummy": 0]),
                .object(["o.\(name)": ["__op": "Increment", "amount": 1]]),
                ["list": ["__op": "Add", "objects": [.object([name: 1])]]],
            ]
            for body in bodies {
                for (method, path) in [("POST", "/classes/Item"), ("PUT", "/classes/Item/\(id)")] {
                    let reply = try await server.send(method, path, body)
                    #expect(reply.status == 400 && reply.code == 105, "\(body): \(reply.json)")
                    #expect(reply["error"] == prohibited(name), "\(body): \(reply.json)")
                }
            }
        }
        let code = try await server.send(
            "POST", "/classes/Item", ["o": ["tags": ["safe"], "_bsontype": "Code", "code": "x"]])
        #expect(code.code == 105)
        #expect(
            code["error"] == "Prohibited keyword in request data: {\"key\":\"_bsontype\",\"value\":\"Code\"}.")
        #expect(
            try await server.send("POST", "/classes/Item", ["o": ["_bsontype": 1]])["error"] == prohibited("_bsontype"))
        #expect(
            try await server.send("POST", "/schemas/Other", ["fields": ["constructor": ["type": "String"]]]).code == 105
        )
        #expect(try await server.get("Item", id)["o"] == ["k": 1])
        #expect(try await server.find("Item").count == 1)
        // Values, longer names and queries may contain these words.
        let fine: JSONValue = ["o": ["constructors": "constructor", "reconstructor": ["__proto__"]]]
        #expect(try await server.send("POST", "/classes/Item", fine).status == 201)
        #expect(try await server.find("Item", where: ["o.constructor": 1]).isEmpty)
    }

    @Test func aBatchContinuesAfterAProhibitedRequest() async throws {
        let server = try TestServer()
        let requests: [JSONValue] = [["k": 1], ["k": ["constructor": 1]], ["k": 2]].map { body in
            ["method": "POST", "path": "/classes/Item", "body": body]
        }
        let reply = try await server.send("POST", "/batch", ["requests": .array(requests)])
        let codes = reply.json.array?.map { $0["error"]?["code"]?.integer }
        #expect(codes == [nil, 105, nil], "\(reply.json)")
    }

    @Test func prohibitedNamesAreConfigured() async throws {
        var options = ParseService.Options()
        options.prohibitedNames = ProhibitedNames(["foo"])
        let server = try TestServer(options: options)
        let id = try await server.create("Item", ["o": ["constructor": 1]])
        #expect(try await server.get("Item", id)["o"] == ["constructor": 1])
        let reply = try await server.send(
            "PUT", "/classes/Item/\(id)", ["o.foo": ["__op": "AddUnique", "objects": [1]]])
        #expect(reply.code == 105 && reply["error"] == prohibited("foo"))
        options.prohibitedNames = ProhibitedNames([])
        #expect(
            try await TestServer(options: options).send("POST", "/classes/Item", ["o": ["__proto__": 1]]).status == 201)
    }

    @Test func aFieldCannotHaveAReservedName() async throws {
        let server = try TestServer()
        let id = try await server.create("Item", ["k": 1])
        for name in ["className", "__type", "length", "0a", "a b"] {
            for (method, path) in [("POST", "/classes/Item"), ("PUT", "/classes/Item/\(id)")] {
                let reply = try await server.send(method, path, .object([name: "x", "k": 2]))
                #expect(reply.code == 105 && reply["error"] == .string("Invalid field name: \(name)."), "\(reply.json)")
            }
            let reply = try await server.send(
                "PUT", "/schemas/Item", ["fields": .object([name: ["type": "String"]])])
            #expect(reply.code == 105 && reply["error"] == .string("invalid field name: \(name)"), "\(reply.json)")
        }
        #expect(try await server.get("Item", id)["k"] == 1)
    }

    @Test func authDataIsAFieldLikeAnyOther() async throws {
        let server = try TestServer()
        let id = try await server.create("Item", ["authData": ["a": ["id": "1"]], "sessionToken": "x"])
        let item = try await server.get("Item", id)
        #expect(item["authData"] == ["a": ["id": "1"]] && item["sessionToken"] == "x")
        #expect(try await server.find("Item", where: ["authData.a.id": "1"]).count == 1)
        #expect(try await server.send("PUT", "/classes/Item/\(id)", ["authData.a.id": "2"]).status == 200)
        #expect(try await server.get("Item", id)["authData"] == ["a": ["id": "2"]])
    }

    // MARK: Rules of classes

    @Test func requiredTextIsNotEmpty() async throws {
        let server = try TestServer()
        let fields: JSONValue = [
            "title": ["type": "String", "required": true], "note": ["type": "String"],
            "kind": ["type": "String", "required": true, "defaultValue": "book"],
        ]
        #expect(try await server.send("POST", "/schemas/Book", ["fields": fields]).status == 200)
        for body: JSONValue in [["title": ""], [:], ["title": .null], ["title": "a", "kind": ""]] {
            let reply = try await server.send("POST", "/classes/Book", body)
            let field = body["title"] == "a" ? "kind" : "title"
            #expect(reply.code == 142 && reply["error"] == .string("\(field) is required"), "\(body): \(reply.json)")
        }
        let id = try await server.create("Book", ["title": "a", "note": ""])
        for value: JSONValue in ["", .null, ["__op": "Delete"]] {
            #expect(try await server.send("PUT", "/classes/Book/\(id)", ["title": value]).code == 142)
        }
        #expect(try await server.send("PUT", "/classes/Book/\(id)", ["note": "x"]).status == 200)
        #expect(try await server.get("Book", id)["kind"] == "book")
    }

    @Test func aClassHasOneGeoPoint() async throws {
        let server = try TestServer()
        func refused(_ reply: TestServer.Reply, _ second: String, _ first: String) {
            #expect(reply.code == 111 && reply.status == 400, "\(reply.json)")
            let words =
                "currently, only one GeoPoint field may exist in an object. Adding \(second) when \(first) already exists."
            #expect(reply["error"] == .string(words))
        }
        let both: JSONValue = ["home": place(1, 1), "work": place(2, 2)]
        refused(try await server.send("POST", "/classes/Person", both), "work", "home")
        #expect(try await server.send("GET", "/schemas/Person").code == 103)
        let id = try await server.create("Person", ["home": place(1, 1)])
        refused(try await server.send("PUT", "/classes/Person/\(id)", ["work": place(2, 2)]), "work", "home")
        #expect(try await server.send("PUT", "/classes/Person/\(id)", ["home": place(3, 3)]).status == 200)
        let point: JSONValue = ["type": "GeoPoint"]
        refused(try await server.send("PUT", "/schemas/Person", ["fields": ["work": point]]), "work", "home")
        refused(try await server.send("POST", "/schemas/New", ["fields": ["a": point, "b": point]]), "b", "a")
        let batch = try await server.send(
            "POST", "/batch",
            [
                "requests": [
                    ["method": "POST", "path": "/classes/Person", "body": ["work": place(2, 2)]],
                    ["method": "POST", "path": "/classes/Other", "body": both],
                    ["method": "POST", "path": "/classes/Person", "body": ["home": place(2, 2)]],
                ]
            ])
        #expect(
            batch.json.array?.map { $0["error"]?["code"]?.integer } == [111, 111, nil], "\(batch.json)")
        #expect(try await server.send("PUT", "/schemas/Person", ["fields": ["home": ["__op": "Delete"]]]).status == 200)
        #expect(try await server.send("PUT", "/classes/Person/\(id)", ["work": place(2, 2)]).status == 200)
        var options = ParseService.Options()
        options.allowsSeveralGeoPoints = true
        let other = try TestServer(options: options)
        let two = try await other.create("Person", both)
        #expect(try await other.get("Person", two)["work"] == place(2, 2))
    }
}
