import Foundation
import RelataParse
import Synchronization
import TestEngines
import Testing

/// Push notifications, which an app's code sends to installations.
@Suite(.onEveryEngine) struct PushTests {
    private let pushes = Pushes()

    /// A server whose code notes each push.
    private func server(_ configure: (inout ParseService.Options) -> Void = { _ in }) throws -> TestServer {
        let pushes = pushes
        return try TestServer.withUsers { options in
            options.code.push { push, _ in pushes.add(push) }
            configure(&options)
        }
    }

    private func register(_ server: TestServer, _ token: String, _ fields: JSONObject = [:]) async throws {
        var body: JSONObject = ["deviceType": "ios", "installationId": .string(token), "deviceToken": .string(token)]
        body.merge(fields)
        let reply = try await server.send("POST", "/installations", .object(body), isMaster: false)
        #expect(reply.status == 201, "\(reply.json)")
    }

    // MARK: The audience

    @Test(
        arguments: [
            (["channels": ["news", "sport"]], ["t0", "t1", "t3"]), (["channels": ["nowhere"]], []),
            (["where": [:]], ["t0", "t1", "t2", "t3", "t4"]),
            (["where": ["deviceToken": ["$gt": "t2"]]], ["t3", "t4"]),
            (["where": ["$or": [["channels": "sport"], ["level": ["$gte": 4]]]]], ["t1", "t3", "t4"]),
        ] as [(JSONObject, [String])])
    func theClosureReadsTheInstallationsOfTheAudience(asked: JSONObject, expected: [String]) async throws {
        let found = ToldLines()
        let server = try server { options in
            // The pages are small.
            options.maximumLimit = 2
            options.code.push { push, call in
                for try await page in call.asMaster.installations(where: push.audience, keys: ["deviceToken"]) {
                    #expect((1...2).contains(page.count))
                    for installation in page {
                        #expect(installation["level"] == nil)
                        found.add(installation["deviceToken"]?.string ?? "-")
                    }
                }
            }
        }
        let channels: [[JSONValue]] = [["news"], ["sport", "news"], [], ["sport"], ["other"]]
        for (level, names) in channels.enumerated() {
            try await register(server, "t\(level)", ["channels": .array(names), "level": .integer(Int64(level))])
        }
        let reply = try await server.send("POST", "/push", .object(asked.merging(["data": ["alert": "Hello"]])))
        #expect(reply.status == 200 && reply.json == ["result": true], "\(reply.json)")
        #expect(found.all.sorted() == expected)
    }

    @Test func anAudienceWithoutInstallationsIsEmpty() async throws {
        let found = ToldLines()
        let server = try server { options in
            options.code.push { push, call in
                var pages = call.asMaster.installations(where: push.audience).makeAsyncIterator()
                #expect(try await pages.next() == nil)
                #expect(try await pages.next() == nil)
                found.add("\(try await call.asMaster.count("_Installation", where: push.audience))")
            }
        }
        let reply = try await server.send("POST", "/push", ["channels": ["news"], "data": ["alert": "Hello"]])
        #expect(reply.json == ["result": true], "\(reply.json)")
        #expect(found.all == ["0"])
    }

    @Test func onlyTheMasterKeyReadsPagesOfInstallations() async throws {
        let server = try server()
        try await register(server, "t1")
        var pages = server.service.acting(as: .nobody).installations().makeAsyncIterator()
        await #expect { try await pages.next() } throws: { ($0 as? ParseError)?.code == .operationForbidden }
        #expect(try await pages.next() == nil)
    }

    @Test func anInvalidConditionIsTheErrorOfTheReply() async throws {
        let server = try server { options in
            options.code.push { push, call in
                for try await _ in call.asMaster.installations(where: push.audience) {}
            }
        }
        try await register(server, "t1", ["level": 1])
        let reply = try await server.send("POST", "/push", ["where": ["level": ["$in": 5]], "data": [:]])
        #expect(reply.status == 400 && reply.code == 107, "\(reply.json)")
    }

    // MARK: The notification

    @Test func theClosureGetsTheNotificationAsItWasSent() async throws {
        let server = try server()
        let data: JSONObject = [
            "alert": ["title": "New", "loc-args": [1, .null]], "badge": "Increment", "uri": "a:b",
        ]
        for audience in [["channels": ["a", "b"]], ["where": ["level": 3]]] as [JSONObject] {
            let body = audience.merging(["data": .object(data)])
            #expect(try await server.send("POST", "/push", .object(body)).json == ["result": true])
        }
        let given = pushes.all
        #expect(given.map(\.data) == [data, data])
        #expect(given.map(\.channels) == [["a", "b"], nil])
        #expect(given.map(\.audience) == [["channels": ["$in": ["a", "b"]]], ["level": 3]])
        #expect(given.map(\.expiresAt) == [nil, nil])
    }

    @Test(
        arguments: [
            4_070_908_800, "2099-01-01T00:00:00.000Z", "2099-01-01T01:00:00+01:00",
            ["__type": "Date", "iso": "2099-01-01"],
        ] as [JSONValue]) func aTimeIsTextOrSeconds(time: JSONValue) async throws
    {
        let server = try server()
        let end = Date(timeIntervalSince1970: 4_070_908_800)
        let body: JSONObject = ["channels": ["a"], "data": ["alert": "Hello"]]
        let until = try await server.send("POST", "/push", .object(body.merging(["expiration_time": time])))
        #expect(until.status == 200 && pushes.all.map(\.expiresAt) == [end], "\(until.json)")
        let later = try await server.send("POST", "/push", .object(body.merging(["push_time": time])))
        #expect(later.status == 400 && later.code == 115, "\(later.json)")
        #expect(later["error"]?.string?.contains("let a job send it") == true, "\(later.json)")
        let past: JSONObject = ["push_time": "2020-01-01T00:00:00Z", "expiration_time": .null, "where": .null]
        #expect(try await server.send("POST", "/push", .object(body.merging(past))).status == 200)
        #expect(pushes.all.map(\.expiresAt) == [end, nil])
    }

    @Test func anIntervalCountsFromTheRequest() async throws {
        let server = try server()
        let body: JSONValue = ["where": [:], "data": ["alert": "Hello"], "expiration_interval": 600.5]
        let start = Date()
        #expect(try await server.send("POST", "/push", body).status == 200)
        let end = try #require(pushes.all.first?.expiresAt).addingTimeInterval(-600.5)
        #expect(end >= start.addingTimeInterval(-0.001) && end <= Date().addingTimeInterval(0.001))
    }

    @Test(
        arguments: [
            [:], ["data": ["alert": "x"]], ["where": [:]], ["channels": ["a"], "data": .null],
            ["channels": ["a"], "where": [:], "data": [:]], ["where": [:], "data": "Hello"],
            ["where": "{}", "data": [:]], ["where": ["a"], "data": [:]],
            ["channels": "a", "data": [:]], ["channels": [], "data": [:]], ["channels": ["a", 1], "data": [:]],
            ["where": [:], "data": [:], "expiration_time": "tomorrow"],
            ["where": [:], "data": [:], "expiration_time": true],
            ["where": [:], "data": [:], "expiration_time": 4_070_908_800_000],
            ["where": [:], "data": [:], "expiration_interval": 0],
            ["where": [:], "data": [:], "expiration_interval": -1],
            ["where": [:], "data": [:], "expiration_interval": "60"],
            ["where": [:], "data": [:], "expiration_interval": 1e300],
            ["where": [:], "data": [:], "expiration_interval": 60, "expiration_time": 4_070_908_800],
            ["where": [:], "data": [:], "push_time": "2099-02-30"], ["where": [:], "data": [:], "push_time": [:]],
        ] as [JSONObject]) func aWrongBodyIsRefused(body: JSONObject) async throws
    {
        let server = try server()
        let reply = try await server.send("POST", "/push", .object(body))
        #expect(reply.status == 400 && reply.code == 115, "\(reply.json)")
        #expect(pushes.all.isEmpty)
    }

    // MARK: Who may send

    private static let hello: JSONValue = ["channels": ["news"], "data": ["alert": "Hello"]]

    @Test func onlyTheMasterKeySendsPushes() async throws {
        let server = try server()
        let mei = try await server.signUp("mei")
        for person in [nil, mei] {
            for body in [Self.hello, [:]] {
                let reply = try await server.send(as: person, "POST", "/push", body)
                #expect(reply.status == 403 && reply.code == 119, "\(reply.json)")
            }
        }
        for method in ["GET", "PUT", "DELETE"] {
            #expect(try await server.send(method, "/push", method == "GET" ? nil : Self.hello).status == 405)
        }
        #expect(try await server.send("POST", "/push/more", Self.hello).status == 404)
        #expect(pushes.all.isEmpty)
    }

    @Test func theReadOnlyMasterKeySendsNone() async throws {
        let pushes = pushes
        var options = ParseService.Options()
        options.code.push { push, _ in pushes.add(push) }
        var keys = ParseKeys(applicationID: "app", isMasterKey: { $0 == "master" })
        keys.isReadOnlyMasterKey = { $0 == "reads" }
        let server = TestServer(try ParseStore.open(try TestDatabases.newPath()), keys: keys, options: options)
        let reply = try await server.send(
            "POST", "/push", Self.hello, headers: ["x-parse-master-key": "reads"], isMaster: false)
        #expect(reply.status == 403 && reply.code == 119, "\(reply.json)")
        #expect(pushes.all.isEmpty)
        #expect(try await server.send("POST", "/push", Self.hello).status == 200)
        #expect(pushes.all.count == 1)
    }

    @Test func aBatchSendsNone() async throws {
        let server = try server()
        let reply = try await server.send(
            "POST", "/batch", ["requests": [["method": "POST", "path": "/parse/push", "body": Self.hello]]])
        let error = reply.json.array?.first?["error"]
        #expect(
            error?["code"] == 108 && error?["error"]?.string?.contains("send that by itself") == true, "\(reply.json)")
        #expect(pushes.all.isEmpty)
    }

    @Test func theAppsCodeSendsPushesWithTheRightsOfTheMasterKey() async throws {
        let server = try server { options in
            options.code.function("tell") { call in
                let store = call["asMaster"] == true ? call.asMaster : call.asCaller
                return try await store.send("POST", "/push", ["channels": ["news"], "data": ["alert": "Hello"]])
            }
        }
        #expect(try await server.send(as: nil, "POST", "/functions/tell", [:]).code == 119)
        #expect(pushes.all.isEmpty)
        let reply = try await server.send(as: nil, "POST", "/functions/tell", ["asMaster": true])
        #expect(reply.json == ["result": ["result": true]], "\(reply.json)")
        #expect(pushes.all.map(\.channels) == [["news"]])
    }

    @Test func theClosureGetsTheCall() async throws {
        let told = ToldLines()
        let server = try server { options in
            options.code.push { _, call in
                told.add("\(call.name) \(call.isMaster) \(call.requestID ?? "-") \(call["campaign"]?.string ?? "-")")
            }
        }
        let body: JSONValue = ["channels": ["news"], "data": [:], "campaign": "spring"]
        for _ in 0..<2 {
            // It isn't kept, like that of a function.
            let reply = try await server.send("POST", "/push", body, headers: ["x-parse-request-id": "once"])
            #expect(reply.status == 200, "\(reply.json)")
        }
        #expect(told.all == ["push true once spring", "push true once spring"])
    }

    // MARK: Failures

    @Test func anErrorOfTheClosureIsTheErrorOfTheReply() async throws {
        struct Unreachable: Error {}
        let server = try server { options in
            options.code.push { push, _ in
                if push.data["alert"] == "refused" { throw ParseError(.requestLimitExceeded, "too many", status: 429) }
                throw Unreachable()
            }
        }
        let refused = try await server.send("POST", "/push", ["channels": ["a"], "data": ["alert": "refused"]])
        #expect(refused.status == 429 && refused.json == ["code": 155, "error": "too many"], "\(refused.json)")
        let failed = try await server.send("POST", "/push", ["channels": ["a"], "data": [:]])
        #expect(failed.json == ["code": 141, "error": "Script failed. Unknown error."], "\(failed.json)")
    }

    @Test func withoutAClosurePushIsOff() async throws {
        let off = try TestServer.withUsers()
        for isMaster in [true, false] {
            for path in ["/push", "/push/more"] {
                let reply = try await off.send("POST", path, Self.hello, isMaster: isMaster)
                #expect(reply.json == ["code": 119, "error": "push notifications are off"], "\(reply.json)")
            }
        }
        let batch = try await off.send(
            "POST", "/batch", ["requests": [["method": "POST", "path": "/push", "body": Self.hello]]])
        #expect(batch.json.array?.first?["error"]?["code"] == 119, "\(batch.json)")
        let on = try server()
        func tells(_ server: TestServer, _ feature: String) async throws -> JSONValue? {
            try await server.send("GET", "/serverInfo")["features"]?["push"]?[feature]
        }
        #expect(try await tells(off, "immediatePush") == false)
        #expect(try await tells(on, "immediatePush") == true)
        #expect(try await tells(on, "scheduledPush") == false)
    }
}

/// The pushes that a server's code got, in order.
private final class Pushes: Sendable {
    private let pushes = Mutex<[CloudPush]>([])

    func add(_ push: CloudPush) { pushes.withLock { $0.append(push) } }

    var all: [CloudPush] { pushes.withLock { $0 } }
}
