import Foundation
import Relata
import RelataParse
import RelataRecords
import Synchronization
import TestEngines
import Testing

/// An app's functions, which clients call.
@Suite(.onEveryEngine) struct FunctionTests {
    /// A server with users and functions.
    private func server(_ configure: (inout CloudCode) -> Void) throws -> TestServer {
        try TestServer.withUsers { configure(&$0.code) }
    }

    @Test func aFunctionGetsItsParametersAndReturnsAResult() async throws {
        let server = try server { code in
            code.function("echo") { .object(["echo": .object($0.parameters)]) }
            code.function("nothing") { _ in .null }
        }
        let body: JSONValue = ["who": "world", "list": [1, ["a": .null]], "at": ["__type": "Date", "iso": "x"]]
        let reply = try await server.send("POST", "/functions/echo", body, isMaster: false)
        #expect(reply.status == 200 && reply.json == ["result": ["echo": body]], "\(reply.json)")
        let asked = try await server.send("POST", "/functions/echo?who=url", ["who": "body", "b": 1], isMaster: false)
        #expect(asked.json == ["result": ["echo": ["who": "url", "b": 1]]])
        #expect(try await server.send("POST", "/functions/nothing", isMaster: false).json == ["result": .null])
        for method in ["GET", "PUT", "DELETE"] {
            #expect(try await server.send(method, "/functions/echo", isMaster: false).status == 405)
        }
    }

    @Test(arguments: ["nobody", "_User", "a.b", "a%2Fb", "%27%3B%20DROP", "constructor"])
    func anUnknownFunctionIsAnError(name: String) async throws {
        let server = try server { $0.function("echo") { _ in 1 } }
        let reply = try await server.send("POST", "/functions/\(name)", [:])
        let plain = name.removingPercentEncoding ?? name
        #expect(reply.status == 400 && reply.json == ["code": 141, "error": .string("Invalid function: \"\(plain)\"")])
    }

    @Test func functionsCantBeCalledByOtherPathsOrInBatches() async throws {
        let server = try server { $0.function("echo") { _ in 1 } }
        for path in ["/functions", "/functions/echo/more"] {
            #expect(try await server.send("POST", path, [:]).status == 404, "\(path)")
        }
        let batch = try await server.send(
            "POST", "/batch", ["requests": [["method": "POST", "path": "/functions/echo", "body": [:]]]])
        #expect(batch.json.array?.first?["error"]?["code"] == 108, "\(batch.json)")
    }

    @Test func aFunctionReadsItsParametersAsAType() async throws {
        struct Order: Decodable {
            let title: String
            let at: Date
            let seal: Data
            let count: Int?
        }
        let server = try server { code in
            code.function("order") { call in
                let order = try call.decode(Order.self)
                return [
                    "title": .string(order.title), "seconds": .integer(Int64(order.at.timeIntervalSince1970)),
                    "seal": .string(String(decoding: order.seal, as: UTF8.self)),
                    "count": order.count.map { .integer(Int64($0)) } ?? .null,
                ]
            }
        }
        let at: JSONValue = ["__type": "Date", "iso": "1970-01-02T00:00:00.000Z"]
        let body: JSONObject = ["title": "Dune", "at": at, "seal": ["__type": "Bytes", "base64": "aGk="]]
        let reply = try await server.send("POST", "/functions/order", .object(body))
        #expect(
            reply["result"] == ["title": "Dune", "seconds": 86_400, "seal": "hi", "count": .null], "\(reply.json)")
        for (name, value, message) in [
            ("title", nil, "Please specify data for title."), ("at", .null, "Please specify data for at."),
            ("at", ["__type": "Date", "iso": "soon"], "Invalid value for at."),
            ("seal", ["__type": "Bytes", "base64": "?"], "Invalid value for seal."),
            ("count", "many", "Invalid type for count. Expected: "),
        ] as [(String, JSONValue?, String)] {
            var changed = body
            changed[name] = value
            let refused = try await server.send("POST", "/functions/order", .object(changed))
            #expect(refused.code == 142, "\(name): \(refused.json)")
            #expect(
                refused["error"]?.string?.hasPrefix("Validation failed. " + message) == true, "\(name): \(refused.json)"
            )
        }
    }

    // MARK: Callers

    @Test func aFunctionGetsItsCaller() async throws {
        let server = try server { code in
            code.headerNames = ["x-shop"]
            code.function("who") { call in
                [
                    "user": call.userID.map { .string($0) } ?? .null, "name": call.user?["username"] ?? .null,
                    "email": call.user?["email"] ?? .null, "roles": .array(call.roles.sorted().map { .string($0) }),
                    "isMaster": .bool(call.isMaster), "installation": call.installationID.map { .string($0) } ?? .null,
                    "context": .object(call.context),
                    "headers": .object(
                        JSONObject(call.headers.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) })),
                ]
            }
        }
        let mei = try await server.signUp("mei", ["email": "mei@example.org"])
        let editors = try await server.makeRole("Editors", users: [mei])
        try await server.makeRole("Staff", roles: [editors])
        let headers = [
            "x-parse-installation-id": "phone", "x-parse-cloud-context": "{\"from\": \"menu\"}", "x-shop": "7",
        ]
        let reply = try await server.send(
            "POST", "/functions/who", [:], headers: mei.headers.merging(headers) { $1 }, isMaster: false)
        let result = try #require(reply["result"], "\(reply.json)")
        #expect(result["user"] == .string(mei.id) && result["name"] == "mei" && result["email"] == "mei@example.org")
        #expect(result["roles"] == ["Editors", "Staff"] && result["isMaster"] == false)
        #expect(result["installation"] == "phone" && result["context"] == ["from": "menu"])
        #expect(result["headers"]?["x-shop"] == "7" && result["headers"]?["x-parse-session-token"] == nil)
        let master = try await server.send("POST", "/functions/who", ["_context": ["a": 1]])["result"]
        #expect(master?["isMaster"] == true && master?["user"] == .null && master?["context"] == ["a": 1])
        #expect(
            master?["headers"]?["x-parse-master-key"] == nil && master?["headers"]?["x-parse-application-id"] == "app")
        let over = TestServer.Person(id: "", token: "r:over")
        #expect(try await server.send(as: over, "POST", "/functions/who", [:]).code == 209)
        for context in ["7", "[1]", "no JSON"] {
            let reply = try await server.send(
                "POST", "/functions/who", [:], headers: ["x-parse-cloud-context": context])
            #expect(reply.code == 107, "\(reply.json)")
        }
    }

    @Test func aFunctionReadsAndWritesWithTheRightsItChooses() async throws {
        let server = try server { code in
            code.function("count") { call in
                [
                    "own": .integer(Int64(try await call.asCaller.count("Note"))),
                    "all": .integer(Int64(try await call.asMaster.count("Note"))),
                ]
            }
            code.function("write") { call in .string(try await call.asCaller.create("Note", ["title": "by function"])) }
            code.function("change") { call in
                let id = call["id"]?.string ?? ""
                _ = try await call.asCaller.update(
                    "Note", id, ["title": "changed", "count": ["__op": "Increment", "amount": 1]])
                return .object(try await call.asCaller.get("Note", id))
            }
            code.function("delete") { call in
                try await call.asCaller.delete("Note", call["id"]?.string ?? "")
                return true
            }
        }
        let (mei, sam) = (try await server.signUp("mei"), try await server.signUp("sam"))
        let created = try await server.send(
            as: mei, "POST", "/classes/Note", ["title": "diary", "ACL": acl(read: [mei.id], write: [mei.id])])
        let id = try #require(created["objectId"])
        #expect(try await server.send(as: mei, "POST", "/functions/count", [:])["result"] == ["own": 1, "all": 1])
        #expect(try await server.send(as: sam, "POST", "/functions/count", [:])["result"] == ["own": 0, "all": 1])
        #expect(try await server.send(as: nil, "POST", "/functions/count", [:])["result"] == ["own": 0, "all": 1])
        for function in ["change", "delete"] {
            let reply = try await server.send(as: sam, "POST", "/functions/\(function)", ["id": id])
            #expect(reply.status == 404 && reply.code == 101, "\(function): \(reply.json)")
        }
        let changed = try await server.send(as: mei, "POST", "/functions/change", ["id": id])["result"]
        #expect(changed?["title"] == "changed" && changed?["count"] == 1)
        try await server.allow(["create": ["requiresAuthentication": true]], in: "Note")
        #expect(try await server.send(as: nil, "POST", "/functions/write", [:]).code == 101)
        #expect(try await server.send(as: sam, "POST", "/functions/write", [:])["result"]?.string != nil)
        #expect(try await server.send(as: mei, "POST", "/functions/delete", ["id": id])["result"] == true)
        #expect(try await server.send("GET", "/classes/Note?count=1&limit=0")["count"] == 1)
    }

    @Test func aFunctionWritesSeveralObjectsInOneTransaction() async throws {
        let server = try server { code in
            code.function("batch") { call in
                try await call.asCaller.send(
                    "POST", "/batch",
                    [
                        "transaction": true,
                        "requests": [
                            ["method": "POST", "path": "/classes/A", "body": ["a": 1]],
                            ["method": "PUT", "path": "/classes/A/nobody", "body": ["a": 1]],
                        ],
                    ])
            }
            code.function("records") { call in
                let left = try await call.asMaster.records.write { transaction in
                    try transaction.save(Record("B", ["b": 1]))
                    return try transaction.count(RecordQuery("B"))
                }
                return .integer(Int64(left))
            }
            code.function("asked") { call in
                .integer(
                    Int64(
                        try await call.asMaster.send("GET", "/classes/B?limit=5&order=b")["results"]?.array?.count ?? -1
                    ))
            }
        }
        #expect(try await server.send("POST", "/functions/batch", [:]).code == 101)
        #expect(try await server.send("GET", "/classes/A").results.isEmpty)
        #expect(try await server.send("POST", "/functions/records", [:])["result"] == 1)
        #expect(try await server.send("POST", "/functions/asked", [:])["result"] == 1)
    }

    // MARK: Rules

    @Test func rulesAboutCallersAreEnforced() async throws {
        let server = try server { code in
            code.function("user", requires: [.user]) { _ in 1 }
            code.function("master", requires: [.master]) { _ in 1 }
            code.function("any", requires: [.anyRole("Editors", "Admins")]) { _ in 1 }
            code.function("all", requires: [.allRoles("Editors", "Admins")]) { _ in 1 }
            code.function("phone", requires: [.userFields("phone")]) { _ in 1 }
        }
        let (mei, sam) = (try await server.signUp("mei", ["phone": "1"]), try await server.signUp("sam"))
        try await server.makeRole("Editors", users: [mei])
        let expected: [(String, TestServer.Person?, String?)] = [
            ("user", nil, "Please login to continue."), ("user", sam, nil),
            ("master", mei, "Master key is required to complete this request."),
            ("any", mei, nil), ("any", sam, "User does not match the required roles."),
            ("any", nil, "User does not match the required roles."),
            ("all", mei, "User does not match all the required roles."),
            ("phone", mei, nil), ("phone", sam, "Please set data for phone on your account."),
            ("phone", nil, "Please login to continue."),
        ]
        for (function, person, reason) in expected {
            let reply = try await server.send(as: person, "POST", "/functions/\(function)", [:])
            if let reason {
                #expect(reply.json == ["code": 142, "error": .string("Validation failed. " + reason)], "\(function)")
            } else {
                #expect(reply.json == ["result": 1], "\(function)")
            }
        }
        for function in ["user", "master", "any", "all", "phone"] {
            #expect(try await server.send("POST", "/functions/\(function)", [:]).json == ["result": 1], "\(function)")
        }
    }

    @Test func rulesAboutParametersAreEnforced() async throws {
        let server = try server { code in
            code.function(
                "rate",
                requires: [
                    .required("movie", .pointer(to: "Movie")),
                    .required("stars", .number) { (1...5).contains($0.number ?? 0) },
                    .optional("note", .string), .optional("limit", .number, default: 10), .optional("at", .date),
                ]
            ) { call in .object(call.parameters) }
        }
        let movie = pointer("Movie", "x")
        let good: JSONValue = ["movie": movie, "stars": 3]
        #expect(
            try await server.send("POST", "/functions/rate", good)["result"] == [
                "movie": movie, "stars": 3, "limit": 10,
            ])
        let bad: [(JSONValue, String)] = [
            ([:], "Please specify data for movie."), (["movie": movie], "Please specify data for stars."),
            (["movie": movie, "stars": .null], "Please specify data for stars."),
            (["movie": "x", "stars": 3], "Invalid type for movie. Expected: pointer to Movie"),
            (["movie": pointer("Book", "x"), "stars": 3], "Invalid type for movie. Expected: pointer to Movie"),
            (["movie": movie, "stars": "3"], "Invalid type for stars. Expected: number"),
            (["movie": movie, "stars": true], "Invalid type for stars. Expected: number"),
            (["movie": movie, "stars": 7], "Invalid value for stars."),
            (["movie": movie, "stars": 3, "note": 7], "Invalid type for note. Expected: string"),
            (
                ["movie": movie, "stars": 3, "at": ["__type": "Date", "iso": "soon"]],
                "Invalid type for at. Expected: date"
            ),
        ]
        for (body, reason) in bad {
            for isMaster in [true, false] {
                let reply = try await server.send("POST", "/functions/rate", body, isMaster: isMaster)
                #expect(reply.json == ["code": 142, "error": .string("Validation failed. " + reason)], "\(body)")
            }
        }
    }

    // MARK: Types

    struct Rating: Codable, Sendable {
        var movie: String
        var stars: Int
        var at: Date?
        var picture: Data?
        var tags: [String]?
    }

    @Test func parametersAndResultsCanBeTypes() async throws {
        let server = try server { code in
            code.function("rate", taking: Rating.self) { rating, _ in
                var rating = rating
                rating.stars += 1
                return rating
            }
        }
        let body: JSONValue = [
            "movie": "Dune", "stars": 4, "at": ["__type": "Date", "iso": "2026-03-01T12:00:00.500Z"],
            "picture": ["__type": "Bytes", "base64": "aGVsbG8="], "tags": ["a"], "more": 1,
        ]
        let result = try await server.send("POST", "/functions/rate", body)["result"]
        #expect(
            result == [
                "movie": "Dune", "stars": 5, "at": ["__type": "Date", "iso": "2026-03-01T12:00:00.500Z"],
                "picture": ["__type": "Bytes", "base64": "aGVsbG8="], "tags": ["a"],
            ], "\(result ?? .null)")
        let bad: [(JSONValue, String)] = [
            (["movie": "Dune"], "Please specify data for stars."),
            (["movie": 7, "stars": 1], "Invalid type for movie. Expected: String"),
            (["movie": "x", "stars": 1.5], "Invalid value for"),
            (["movie": "x", "stars": 1, "tags": ["a", 7]], "Invalid type for tags.1. Expected: String"),
            (["movie": "x", "stars": 1, "at": "soon"], "Invalid value for at."),
            (["movie": "x", "stars": 1, "picture": ["__type": "Bytes", "base64": "*"]], "Invalid value for picture."),
        ]
        for (body, reason) in bad {
            let reply = try await server.send("POST", "/functions/rate", body)
            #expect(
                reply.code == 142
                    && reply["error"]?.string?.hasPrefix("Validation failed. \(reason.prefix(24))") == true,
                "\(reply.json)")
        }
    }

    // MARK: Errors

    struct Secret: Error { let text = "the password of the database" }

    @Test func onlyErrorsForClientsAreSentToThem() async throws {
        let server = try server { code in
            code.function("refuse") { _ in throw ParseError(.objectNotFound, "no seat is free", status: 400) }
            code.function("fail") { _ in throw Secret() }
            code.function("inside") { call in .object(try await call.asMaster.get("Nothing", "x")) }
            code.function("stop") { _ in throw CancellationError() }
        }
        let refused = try await server.send("POST", "/functions/refuse", [:])
        #expect(refused.status == 400 && refused.json == ["code": 101, "error": "no seat is free"])
        let reported = Mutex<[String]>([])
        let reply = await server.service.respond(
            to: WireRequest(method: "POST", path: "/functions/fail", headers: ["x-parse-application-id": "app"])
        ) { error in reported.withLock { $0.append("\(error)") } }
        let text = String(decoding: reply.body, as: UTF8.self)
        #expect(reply.status == 400 && text.contains("141") && !text.contains("password"), "\(text)")
        #expect(reported.withLock { $0 }.count == 1 && reported.withLock { $0.first?.contains("password") } == true)
        #expect(try await server.send("POST", "/functions/inside", [:]).code == 101)
        // The request continues: it is the app's own task that was cancelled.
        #expect(try await server.send("POST", "/functions/stop", [:]).code == 141)
    }

    @Test func resultsAreLimitedLikeReplies() async throws {
        let server = try TestServer.withUsers { options in
            options.maximumReply = 1000
            options.code.function("long") { _ in .string(String(repeating: "x", count: 1000)) }
        }
        #expect(try await server.send("POST", "/functions/long", [:]).code == 116)
    }

    @Test func functionsWorkWithAnAppsOwnModels() async throws {
        let store = try Store.make(for: ShelfBook.self)
        var options = ParseService.Options()
        options.code.function("add") { call in
            .string(try await call.asCaller.create("ShelfGenre", ["name": call["name"] ?? "none"]))
        }
        let server = TestServer(try ParseStore.serving(store), options: options)
        let reply = try await server.send("POST", "/functions/add", ["name": "poems"], isMaster: false)
        let id = try #require(reply["result"]?.string, "\(reply.json)")
        #expect(try await server.get("ShelfGenre", id)["name"] == "poems")
        #expect(try await server.send("GET", "/config").code == 119)
    }

    /// The client may know the file's name from another client, whose address for it has expired.
    @Test func functionsCannotStoreFilesWithoutAnAddress() async throws {
        let server = try TestServer.withFiles { files in
            files.signing = FileSigning(lifetime: 3600) { TestSecrets().digest(of: "key" + $0) }
        } options: { options in
            options.code.function("attach") { call in
                .string(try await call.asMaster.create("Photo", ["file": call["file"] ?? .null]))
            }
            options.code.function("attachContext") { call in
                .string(try await call.asCaller.create("Photo", ["file": call.context["file"] ?? .null]))
            }
        }
        let file = try await server.upload("a.png", "x")
        let named: JSONValue = ["__type": "File", "name": file["name"] ?? .null]
        let proven: JSONValue = ["__type": "File", "name": file["name"] ?? .null, "url": file["url"] ?? .null]
        for (name, body) in [("attach", "file"), ("attachContext", "_context")] {
            func call(_ file: JSONValue) async throws -> TestServer.Reply {
                try await server.send(
                    "POST", "/functions/\(name)", [body: body == "file" ? file : ["file": file]], isMaster: false)
            }
            let refused = try await call(named)
            #expect(refused.code == 119, "\(name): \(refused.json)")
            #expect(try await call(proven).status == 200, "\(name)")
        }
        #expect(try await server.send("GET", "/classes/Photo").results.count == 2)
    }
}
