import RelataCore
import RelataEngine
import TestEngines
import Testing

@testable import RelataParse

/// No part of a request that writes becomes SQL: no name, operator, increment, id of a service or token.
@Suite(.onEveryEngine) struct HostileWriteTests {
    /// A word in every hostile text, by which it would be found in SQL.
    private static let mark = "zq9"

    private static let texts = [
        "zq9' OR '1'='1", "zq9\"; DROP TABLE \"Item\"; --", "zq9?1::int", "$zq9.\"'", "zq9\\\n%_", "zq9\u{0}x",
    ]

    /// Bodies of an object with a text in every possible place.
    private func bodies(_ text: String) -> [JSONValue] {
        let value = JSONValue.string(text)
        var bodies: [JSONValue] = [
            [text: 1], ["info.\(text)": 1], ["tags.\(text)": 1], ["info": [text: value]], ["tags": [value, [text: 1]]],
            ["name": value], ["p": pointer(text, "1")], ["p": pointer("Other", text)], ["ACL": [text: ["read": true]]],
            ["objectId": value], ["createdAt": value], ["day": date(text)],
            ["file": ["__type": "File", "name": value]],
            ["n": ["__op": value]], ["n": ["__op": "Increment", "amount": value]],
            [text: ["__op": "Increment", "amount": 1]], ["info.\(text)": ["__op": "Increment", "amount": 1]],
            ["info.k.\(text)": ["__op": "Increment", "amount": 1]], ["n": ["__type": value]],
            ["r": ["__op": "AddRelation", "objects": [pointer(text, text)]]],
            ["r": ["__op": "RemoveRelation", "objects": [pointer("Other", text)]]],
            ["authData": [text: ["id": value]]],
        ]
        for operation in ["Add", "AddUnique", "Remove"] {
            bodies.append(["tags": ["__op": .string(operation), "objects": [value, [text: value]]]])
            bodies.append([text: ["__op": .string(operation), "objects": [value]]])
        }
        bodies.append([text: ["__op": "Delete"]])
        return bodies
    }

    @Test func noPartOfAWriteBecomesSQL() async throws {
        let log = SQLStatements()
        let server = try TestServer.withUsers(trace: log) { options in
            options.signIn = [TestProvider().named("forum")]
            options.lockout = LockoutOptions()
        }
        let mei = try await server.signUp("mei")
        let other = try await server.create("Other", ["name": "o"])
        let id = try await server.create(
            "Item",
            [
                "name": "a", "n": 1, "tags": ["x"], "info": ["k": "v"], "p": pointer("Other", other),
                "r": ["__op": "AddRelation", "objects": [pointer("Other", other)]],
                "day": date("2020-01-01T00:00:00.000Z"),
            ])
        for text in Self.texts {
            let value = JSONValue.string(text)
            var requests: [(String, String, JSONValue?)] = []
            for body in bodies(text) {
                requests += [("POST", "/classes/Item", body), ("PUT", "/classes/Item/\(id)", body)]
            }
            let user: JSONValue = ["username": value, "password": value, "email": value]
            requests += [
                ("POST", "/users", user), ("POST", "/login", user), ("POST", "/verifyPassword", user),
                ("POST", "/requestPasswordReset", ["email": value]), ("POST", "/roles", ["name": value, "ACL": [:]]),
                ("POST", "/users", ["authData": [text: ["id": value]]]),
                ("POST", "/users", ["authData": ["anonymous": ["id": value]]]),
                ("POST", "/users", ["authData": ["forum": ["id": value, "token": .string("token of \(text)")]]]),
                ("PUT", "/users/\(mei.id)", ["authData": ["forum": ["id": value, "token": value, text: value]]]),
                ("POST", "/schemas/Item", ["fields": [text: ["type": "String"]]]),
                ("PUT", "/schemas/Item", ["fields": [text: ["type": value], "p": ["targetClass": value]]]),
                ("POST", "/schemas", ["className": value]), ("PUT", "/config", ["params": [text: value]]),
                ("POST", "/events/a", ["dimensions": [text: value]]),
                (
                    "POST", "/batch",
                    ["requests": [["method": value, "path": value, "body": [text: value]]], "transaction": true]
                ),
            ]
            for (method, path, body) in requests {
                for isMaster in [true, false] {
                    let reply = try await server.send(
                        method, path, body, headers: isMaster ? [:] : mei.headers, isMaster: isMaster)
                    #expect(reply.status < 500, "\(method) \(path) \(body ?? .null): \(reply.json)")
                }
            }
            for name in ["x-parse-session-token", "x-parse-installation-id", "x-parse-request-id"] {
                let reply = try await server.send(
                    "POST", "/classes/Item", ["name": "b"], headers: [name: text], isMaster: false)
                #expect(reply.status < 500, "\(name) \(text): \(reply.json)")
            }
        }
        let written = log.all.first { $0.contains(Self.mark) }
        #expect(written == nil, "\(written ?? "")")
        let stored = try await server.get("Item", id)
        #expect(stored["objectId"]?.string == id && stored["p"]?["objectId"]?.string == other, "\(stored)")
        #expect(try await server.send(as: mei, "GET", "/users/me")["username"] == "mei")
    }
}
