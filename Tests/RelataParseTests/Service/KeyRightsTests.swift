import Foundation
import Synchronization
import TestEngines
import Testing

@testable import RelataParse

/// The rights of keys, and the addresses that may use them.
@Suite(.onEveryEngine)
struct KeyRightsTests {
    private static let readKey = ["x-parse-master-key": "reads"]
    private static let maintenanceKey = ["x-parse-maintenance-key": "fixes"]

    private func server(
        _ configure: (inout ParseKeys) -> Void = { _ in },
        options change: (inout ParseService.Options) -> Void = { _ in }
    ) throws -> TestServer {
        var keys = ParseKeys(applicationID: "app", isMasterKey: { $0 == "master" })
        keys.isReadOnlyMasterKey = { $0 == "reads" }
        keys.isMaintenanceKey = { $0 == "fixes" }
        configure(&keys)
        var options = ParseService.Options()
        options.secrets = TestSecrets()
        change(&options)
        return TestServer(
            try ParseStore.open(try TestDatabases.newPath()), keys: keys, options: options)
    }

    // MARK: Reading only

    @Test func theReadOnlyMasterKeyReadsEverythingAndChangesNothing() async throws {
        let server = try server {
            _ in
        } options: { options in
            options.code.function("touch") { _ in 1 }
            options.code.job("tidy") { _ in }
        }
        let mei = try await server.signUp("mei")
        let book = try await server.create("Book", ["title": "Dawn", "ACL": acl(read: [mei.id])])
        let read = try await server.send(
            "GET", "/classes/Book/\(book)", headers: Self.readKey, isMaster: false)
        #expect(read["title"] == "Dawn")
        #expect(
            try await server.send("GET", "/schemas", headers: Self.readKey, isMaster: false).status == 200
        )
        let changes: [(String, String, JSONValue?)] = [
            ("POST", "/classes/Book", ["title": "x"]), ("PUT", "/classes/Book/\(book)", ["title": "x"]),
            ("DELETE", "/classes/Book/\(book)", nil), ("POST", "/schemas/New", ["className": "New"]),
            ("PUT", "/schemas/Book", ["fields": ["x": ["type": "Number"]]]),
            ("DELETE", "/purge/Book", nil),
            ("POST", "/functions/touch", [:]), ("POST", "/jobs/tidy", [:]),
            ("PUT", "/config", ["params": ["a": 1]]),
            ("POST", "/users", ["username": "sam", "password": "x"]),
            ("PUT", "/users/\(mei.id)", ["password": "x"]),
            ("POST", "/login", ["username": "mei", "password": "secret of mei"]),
            ("GET", "/login?username=mei&password=secret%20of%20mei", nil),
            ("GET", "/verifyPassword?username=mei&password=x", nil),
            ("POST", "/loginAs", ["userId": .string(mei.id)]),
            ("POST", "/events/x", [:]), ("POST", "/roles", ["name": "A"]),
            ("POST", "/installations", ["installationId": "a", "deviceType": "ios"]),
            ("POST", "/batch", ["requests": [["method": "POST", "path": "/classes/Book", "body": [:]]]]),
            (
                "POST", "/batch",
                [
                    "requests": [
                        ["method": "GET", "path": "/classes/Book"],
                        ["method": "PUT", "path": .string("/parse/classes/Book/\(book)"), "body": ["title": "x"]],
                    ]
                ]
            ),
            ("POST", "/classes/Book", ["_method": "PUT", "title": "x"]),
            ("POST", "/classes/Book/\(book)", ["_method": "DELETE"]),
        ]
        for (method, target, body) in changes {
            let reply = try await server.send(
                method, target, body, headers: Self.readKey, isMaster: false)
            #expect(reply.code == 119 && reply.status == 403, "\(method) \(target): \(reply.json)")
        }
        // A method in the body counts as well.
        let inBody = try await server.send(
            "POST", "/classes/Book", ["_MasterKey": "reads", "title": "x"], isMaster: false)
        #expect(inBody.code == 119 && inBody.status == 403)
        #expect(try await server.find("Book").count == 1)
        #expect(try await server.get("Book", book)["title"] == "Dawn")
        #expect(try await server.find("_User").count == 1)
        #expect(try await server.send("GET", "/sessions").results.count == 1)
    }

    @Test func theReadOnlyKeyReadsByBatchesAndMethodsInTheBody() async throws {
        let server = try server()
        _ = try await server.create("Book", ["title": "Dawn", "ACL": [:]])
        let batch = try await server.send(
            "POST", "/batch", ["requests": [["method": "GET", "path": "/classes/Book"]]],
            headers: Self.readKey,
            isMaster: false)
        #expect(batch.json.array?.first?["success"]?["results"]?.array?.count == 1, "\(batch.json)")
        let posted = try await server.send(
            "POST", "/classes/Book", ["_method": "GET"], headers: Self.readKey, isMaster: false)
        #expect(posted.results.count == 1)
    }

    @Test func theReadOnlyKeyCallsNoWebhook() async throws {
        let hooks = TestWebhooks()
        let server = try server {
            _ in
        } options: {
            $0.webhooks = WebhookOptions(hooks)
        }
        let book = try await server.create("Book", ["title": "Dawn"])
        for trigger in ["beforeSave", "beforeDelete"] { try await server.register(trigger, "Book") }
        for request in [
            ["method": "PUT", "path": .string("/classes/Book/\(book)"), "body": ["title": "x"]],
            ["method": "DELETE", "path": .string("/classes/Book/\(book)")],
        ] as [JSONValue] {
            let reply = try await server.send(
                "POST", "/batch", ["requests": [request]], headers: Self.readKey, isMaster: false)
            #expect(reply.status == 403 && reply.code == 119, "\(reply.json)")
        }
        #expect(hooks.calls("http://hook/beforeSave").isEmpty && hooks.calls("http://hook/beforeDelete").isEmpty)
    }

    @Test func theReadOnlyKeyFollowsLiveQueries() async throws {
        let server = try server()
        let connection = await server.service.connectLiveQueries()
        await connection.receive(#"{"op":"connect","applicationId":"app","masterKey":"reads"}"#)
        #expect(await connection.next()?.contains("connected") == true)
        await connection.receive(
            #"{"op":"subscribe","requestId":1,"query":{"className":"Book","where":{}}}"#)
        #expect(await connection.next()?.contains("subscribed") == true)
        _ = try await server.create("Book", ["title": "Dawn", "ACL": [:]])
        #expect(await connection.next()?.contains("Dawn") == true)
        await connection.close()
    }

    // MARK: Maintenance

    @Test func theMaintenanceKeyWritesIDsAndTimes() async throws {
        let server = try server()
        let body: JSONValue = [
            "objectId": "old1", "title": "Dawn", "createdAt": "2019-01-02T03:04:05.678Z",
            "updatedAt": ["__type": "Date", "iso": "2020-01-02T03:04:05.678Z"],
        ]
        let made = try await server.send(
            "POST", "/classes/Book", body, headers: Self.maintenanceKey, isMaster: false)
        #expect(made.status == 201, "\(made.json)")
        let book = try await server.get("Book", "old1")
        #expect(book["createdAt"] == "2019-01-02T03:04:05.678Z")
        #expect(book["updatedAt"] == "2020-01-02T03:04:05.678Z")
        let changed = try await server.send(
            "PUT", "/classes/Book/old1", ["title": "Dusk", "updatedAt": "2021-01-02T03:04:05.678Z"],
            headers: Self.maintenanceKey, isMaster: false)
        #expect(changed.status == 200)
        #expect(try await server.get("Book", "old1")["updatedAt"] == "2021-01-02T03:04:05.678Z")
        let wrong = try await server.send(
            "POST", "/classes/Book", ["createdAt": "yesterday"], headers: Self.maintenanceKey,
            isMaster: false)
        #expect(wrong.code == 111)
    }

    @Test func noOtherKeyWritesThem() async throws {
        let server = try server()
        let time: JSONValue = "2019-01-02T03:04:05.678Z"
        for isMaster in [true, false] {
            let refused = try await server.send(
                "POST", "/classes/Book", ["objectId": "old1"], isMaster: isMaster)
            #expect(refused.code == 105)
            let made = try await server.send(
                "POST", "/classes/Book", ["createdAt": time], isMaster: isMaster)
            let id = try #require(made["objectId"]?.string)
            #expect(try await server.get("Book", id)["createdAt"] != time)
        }
    }

    // MARK: Valid keys

    @Test func wrongKeysAreRefusedEvenBesideValidOnes() async throws {
        let server = try server()
        for headers in [
            ["x-parse-master-key": "fixes"], ["x-parse-maintenance-key": "master"],
            ["x-parse-maintenance-key": "reads"], ["x-parse-maintenance-key": ""],
            ["x-parse-master-key": "master", "x-parse-maintenance-key": "wrong"],
            ["x-parse-master-key": "wrong", "x-parse-maintenance-key": "fixes"],
            ["x-parse-master-key": "reads", "x-parse-maintenance-key": "fixes"],
        ] {
            let reply = try await server.send("GET", "/classes/Book", headers: headers, isMaster: false)
            #expect(reply.status == 403, "\(headers)")
        }
        let without = try self.server {
            $0.isReadOnlyMasterKey = nil
            $0.isMaintenanceKey = nil
        }
        for headers in [Self.readKey, Self.maintenanceKey] {
            #expect(
                try await without.send("GET", "/classes/Book", headers: headers, isMaster: false).status
                    == 403)
        }
    }

    @Test func platformClientsNeedTheirOwnKeys() async throws {
        let server = try server {
            $0.isClientKey = { $0 == "client" }
            $0.ownKeys[.rest] = { $0 == "rest" }
        }
        func status(_ headers: [String: String]) async throws -> Int {
            try await server.send("GET", "/classes/Book", headers: headers, isMaster: false).status
        }
        #expect(try await status(["x-parse-client-key": "client"]) == 200)
        #expect(try await status(["x-parse-javascript-key": "client"]) == 200)
        #expect(try await status(["x-parse-rest-api-key": "rest"]) == 200)
        #expect(try await status(["x-parse-rest-api-key": "client"]) == 403)
        #expect(try await status(["x-parse-client-key": "rest"]) == 403)
        #expect(try await status(["x-parse-windows-key": "rest"]) == 403)
        #expect(try await status([:]) == 403)
        #expect(try await status(["x-parse-master-key": "master"]) == 200)
        // Without a client key, clients that have their own key need it.
        let only = try self.server { $0.ownKeys[.javaScript] = { $0 == "page" } }
        let reply = try await only.send("GET", "/classes/Book", isMaster: false)
        #expect(reply.status == 403)
        #expect(
            try await only.send(
                "GET", "/classes/Book", headers: ["x-parse-javascript-key": "page"], isMaster: false
            ).status == 200)
    }

    // MARK: Addresses

    @Test func keysAreValidOnlyFromAllowedAddresses() async throws {
        let server = try server { keys in
            let office = try? AddressRanges(["10.0.0.0/8", "2001:db8::/32"])
            keys.admits = { privilege, address in
                privilege != .master || office?.contains(address) == true
            }
        }
        func status(_ address: String?, _ key: String) async -> Int {
            var request = WireRequest(
                method: "GET", path: "/classes/Book",
                headers: ["x-parse-application-id": "app", "x-parse-master-key": key])
            request.address = address
            return await server.service.respond(to: request).status
        }
        for address in ["10.1.2.3", "::ffff:10.1.2.3", "2001:db8::1", "2001:db8:ffff::1%eth0"] {
            #expect(await status(address, "master") == 200, "\(address)")
        }
        for address in ["11.1.2.3", "127.0.0.1", "2001:db9::1", "10.1.2", "", nil] {
            #expect(await status(address, "master") == 403, "\(address ?? "-")")
        }
        #expect(await status("11.1.2.3", "reads") == 200)
        let connection = await server.service.connectLiveQueries(from: "11.1.2.3")
        await connection.receive(#"{"op":"connect","applicationId":"app","masterKey":"master"}"#)
        #expect(await connection.next()?.contains(#""code":4"#) == true)
        await connection.close()
    }

    @Test func rangesAreReadAsWritten() throws {
        #expect(try AddressRanges(["0.0.0.0/0"]).contains("1.2.3.4"))
        #expect(try !AddressRanges(["0.0.0.0/0"]).contains("2001:db8::1"))
        #expect(try AddressRanges(["::/0"]).contains("2001:db8::1"))
        #expect(try AddressRanges(["10.0.0.128/25"]).contains("10.0.0.200"))
        #expect(try !AddressRanges(["10.0.0.128/25"]).contains("10.0.0.100"))
        #expect(try !AddressRanges([]).contains("10.0.0.1"))
        #expect(AddressRanges.everywhere.contains(nil))
        #expect(
            AddressRanges.thisMachine.contains("::1") && !AddressRanges.thisMachine.contains("10.0.0.1"))
        for wrong in [
            "10.0.0.0/33", "10.0.0/8", "x", "", "10.0.0.0/", "10.0.0.0/-1", "::1/129", "10.0.0.0/8/8",
        ] {
            #expect(throws: (any Error).self) { try AddressRanges([wrong]) }
        }
    }

    @Test func onlyTrustedProxiesNameTheClient() throws {
        let proxies = try AddressRanges(["10.0.0.0/8"])
        func client(_ peer: String?, _ forwarded: String?) -> String? {
            proxies.client(of: peer, forwarded: forwarded)
        }
        #expect(client("203.0.113.9", "127.0.0.1") == "203.0.113.9")
        #expect(client("10.0.0.1", "203.0.113.9") == "203.0.113.9")
        // The client's own entries precede those of the proxy.
        #expect(client("10.0.0.1", "127.0.0.1, 203.0.113.9") == "203.0.113.9")
        #expect(client("10.0.0.1", "127.0.0.1, 203.0.113.9, 10.0.0.2") == "203.0.113.9")
        #expect(client("10.0.0.1", "10.0.0.3,10.0.0.2") == "10.0.0.3")
        #expect(client("203.0.113.9", "junk") == "203.0.113.9")
        #expect(client("10.0.0.1", nil) == "10.0.0.1")
        #expect(client(nil, "127.0.0.1") == nil)
        #expect(AddressRanges.nowhere.client(of: "10.0.0.1", forwarded: "127.0.0.1") == "10.0.0.1")
    }

    @Test func aProxyMayWriteAnAddressWithAPortOrInQuotes() throws {
        let proxies = try AddressRanges(["192.0.2.1"])
        for (field, address) in [
            ("10.1.1.1:55", "10.1.1.1"), ("\"10.1.1.1\"", "10.1.1.1"), ("[::ffff:10.1.1.1]", "10.1.1.1"),
            ("::FFFF:10.1.1.1", "10.1.1.1"), ("[2001:db8::1]:55", "2001:db8::1"), ("[2001:db8::1]", "2001:db8::1"),
            ("\"[2001:db8::1]:55\"", "2001:db8::1"), ("2001:db8::1", "2001:db8::1"), ("fe80::1%eth0", "fe80::1"),
            ("127.0.0.1, 10.1.1.1:55 , 192.0.2.1:80", "10.1.1.1"),
        ] {
            #expect(proxies.client(of: "192.0.2.1", forwarded: field) == address, "\(field)")
        }
    }

    /// Otherwise, such a client would be the proxy, which may be trusted with keys.
    @Test func aClientWhoseAddressCannotBeReadIsUnknown() throws {
        let proxies = try AddressRanges(["192.0.2.1", "192.0.2.2"])
        let everywhere = try AddressRanges(["0.0.0.0/0", "::/0"])
        var names: Set<String> = []
        for field in [
            "garbage", "unknown", "", "10.1.1.1,", "10.1.1.1, ", "10.1.1.1:", "10.1.1.1:99999", "10.1.1.1:+5",
            "[10.1.1.1]", "[2001:db8::1", "[2001:db8::1]55", "[]", "\"\"", "\"10.1.1.1", "10.1.1.1%eth0", "10.1.1",
            "10.1.1.1, _hidden",
        ] {
            let client = try #require(proxies.client(of: "192.0.2.1", forwarded: field))
            #expect(!everywhere.contains(client) && AddressRanges.everywhere.contains(client), "\(field): \(client)")
            names.insert(client)
        }
        #expect(names.count == 1)
        let other = try #require(proxies.client(of: "192.0.2.2", forwarded: "garbage"))
        #expect(!names.contains(other))
        #expect(proxies.client(of: "192.0.2.1", forwarded: "10.1.1.1, garbage, 192.0.2.2") == other)
    }

    // MARK: Replaced keys

    @Test func liveClientsWithAReplacedKeyAreDisconnected() async throws {
        let master = Word("first")
        let server = try server { $0.isMasterKey = { $0 == master.text } }
        func connect(_ key: String) async -> LiveQueryConnection {
            let connection = await server.service.connectLiveQueries()
            await connection.receive(#"{"op":"connect","applicationId":"app"\#(key)}"#)
            #expect(await connection.next()?.contains("connected") == true)
            return connection
        }
        let old = await connect(#","masterKey":"first""#)
        let reader = await connect(#","masterKey":"reads""#)
        let nobody = await connect("")
        await server.service.keysChanged()
        #expect(await old.isConnected)
        master.text = "second"
        await server.service.keysChanged()
        #expect(await old.next()?.contains(#""code":4"#) == true)
        #expect(await old.next() == nil)
        #expect(await !old.isConnected)
        #expect(await reader.isConnected)
        #expect(await nobody.isConnected)
        let new = await connect(#","masterKey":"second""#)
        for connection in [old, reader, nobody, new] { await connection.close() }
    }
}

/// A text that a test changes.
private final class Word: Sendable {
    private let value: Mutex<String>

    init(_ text: String) { value = Mutex(text) }

    var text: String {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
    }
}
