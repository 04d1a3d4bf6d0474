#if Server
import Foundation
import RelataCore
import RelataParse
import ServerClient
import Synchronization
import TestSupport
import Testing

@testable import RelataServer

/// Keys that others take the place of while a server runs.
struct KeyRotationTests: DashboardSuite {
    private final class Clock: Sendable {
        private let time = Mutex(ContinuousClock.now)
        var now: ContinuousClock.Instant { time.withLock { $0 } }
        func advance(_ duration: Duration) { time.withLock { $0 += duration } }
    }

    private static func keys(_ master: String?, readOnly: String? = nil) -> ServerKeys {
        var keys = ServerKeys(applicationID: "app", clientKey: "client", masterKey: master)
        keys.readOnlyMasterKey = readOnly.map { HashedKey($0) }
        return keys
    }

    @Test func aReplacedKeyStaysValidWithItsOwnRights() {
        let clock = Clock()
        let ring = KeyRing(Self.keys("one", readOnly: "reads"), now: { clock.now })
        ring.replace(with: Self.keys("two", readOnly: "sees"), overlap: .seconds(60))
        #expect(ring.matches("two", .master) && ring.matches("one", .master))
        #expect(ring.matches("sees", .readOnlyMaster) && ring.matches("reads", .readOnlyMaster))
        // No key gets the rights of another.
        #expect(!ring.matches("reads", .master) && !ring.matches("one", .readOnlyMaster))
        clock.advance(.seconds(59))
        #expect(ring.matches("one", .master) && !ring.removeEnded())
        clock.advance(.seconds(1))
        #expect(!ring.matches("one", .master) && ring.removeEnded() && !ring.removeEnded())
        #expect(ring.matches("two", .master))
    }

    @Test func withoutAnOverlapAllFormerKeysEnd() {
        let clock = Clock()
        let ring = KeyRing(Self.keys("one"), now: { clock.now })
        ring.replace(with: Self.keys("two"), overlap: .seconds(60))
        ring.replace(with: Self.keys("three"), overlap: .zero)
        #expect(
            ring.matches("three", .master) && !ring.matches("two", .master)
                && !ring.matches("one", .master))
        ring.replace(with: Self.keys(nil), overlap: .zero)
        #expect(!ring.matches("three", .master) && !ring.matches("", .master))
    }

    @Test func theApplicationIDIsNotReplaced() {
        let ring = KeyRing(Self.keys("one"))
        ring.replace(
            with: ServerKeys(applicationID: "other", clientKey: "new", masterKey: "two"), overlap: .zero
        )
        #expect(ring.keys.applicationID == "app")
        #expect(
            ring.parseKeys.isClientKey?("new") == true && ring.parseKeys.isClientKey?("client") == false
        )
    }

    // MARK: Files

    @Test func keyFilesMayContainKeysAndHashes() throws {
        let folder = try ServerFolder()
        let path = folder.path("keys")
        let text =
            #"{"applicationID": "app", "masterKey": "plain", "readOnlyMasterKey": "reads", "restAPIKey": "rest"}"#
        try folder.write(text, to: path)
        let keys = try KeyFile(path).keys
        #expect(
            keys.masterKey?.matches("plain") == true && keys.readOnlyMasterKey?.matches("reads") == true
        )
        #expect(keys.restAPIKey == "rest" && keys.maintenanceKey == nil)
        // The same text is the same key.
        #expect(try KeyFile(path).keys.masterKey == keys.masterKey)
        let new = try KeyFile.rotate(path)
        let rotated = try KeyFile(path).keys
        #expect(
            rotated.masterKey?.matches(new) == true && rotated.masterKey?.matches("plain") == false)
        #expect(rotated.readOnlyMasterKey?.matches("reads") == true && rotated.restAPIKey == "rest")
        #expect(try !String(contentsOfFile: path, encoding: .utf8).contains(new))
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        let maintenance = try KeyFile.rotate(path, .maintenance)
        #expect(try KeyFile(path).keys.maintenanceKey?.matches(maintenance) == true)
        #expect(throws: RelataError.self) { try KeyFile.rotate(folder.path("nothing")) }
    }

    @Test func equalKeysAreRefused() throws {
        var given = KeyFile.Given(applicationID: "app", clientKey: "same", masterKey: "same")
        #expect(throws: RelataError.self) { try KeyFile(nil, given: given) }
        given = KeyFile.Given(applicationID: "app", clientKey: "", masterKey: "same")
        given.readOnlyMasterKey = "same"
        #expect(throws: RelataError.self) { try KeyFile(nil, given: given) }
        given.readOnlyMasterKey = "client"
        given.clientKey = "client"
        #expect(throws: RelataError.self) { try KeyFile(nil, given: given) }
        given.clientKey = ""
        #expect(try KeyFile(nil, given: given).keys.readOnlyMasterKey?.matches("client") == true)
    }

    /// The problem with the keys of a file and of flags; `nil` for none.
    private func problem(_ path: String?, _ given: KeyFile.Given) -> String? {
        do {
            _ = try KeyFile(path, given: given)
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test func theSameTextForTwoKeysIsRefused() throws {
        let folder = try ServerFolder()
        let path = folder.path("keys")
        _ = try KeyFile(path, given: .init(applicationID: "app", masterKey: "master"))
        let hashed = try String(contentsOfFile: path, encoding: .utf8)
        #expect(problem(path, .init()) == nil)
        for name in ["readOnlyMasterKey", "maintenanceKey", "clientKey", "restAPIKey"] {
            var members = try JSONParser.parse(hashed).object ?? [:]
            members[name] = "master"
            try folder.write(JSONWriter.text(.object(members)), to: path)
            #expect(problem(path, .init())?.contains("equals the master key") == true, "\(name)")
        }
        // A flag equals the hash in the file, or two hashes are equal.
        try folder.write(hashed, to: path)
        var given = KeyFile.Given()
        given.maintenanceKey = "master"
        #expect(problem(path, given)?.contains("the maintenance key equals the master key") == true)
        given = .init(applicationID: "master")
        #expect(problem(path, given)?.contains("the application's id equals the master key") == true)
        var members = try JSONParser.parse(hashed).object ?? [:]
        members["readOnlyMasterKey"] = members["masterKey"]
        try folder.write(JSONWriter.text(.object(members)), to: path)
        #expect(problem(path, .init())?.contains("equals the") == true)
        // Both keys are flags.
        given = .init(applicationID: "app", clientKey: "", masterKey: "one")
        (given.readOnlyMasterKey, given.maintenanceKey) = ("two", "two")
        #expect(problem(nil, given)?.contains("equals the read-only master key") == true)
        given.maintenanceKey = "three"
        #expect(problem(nil, given) == nil)
        given.dotNetKey = "three"
        #expect(problem(nil, given)?.contains("the .NET key equals the maintenance key") == true)
    }

    @Test func aServerWithEqualKeysDoesNotStart() throws {
        var configuration = RelataServer.Configuration()
        configuration.stopsOnSignals = false
        #expect(throws: RelataError.self) {
            try RelataServer(
                try ParseStore.open(nil),
                keys: ServerKeys(applicationID: "app", clientKey: "same", masterKey: "same"),
                configuration: configuration)
        }
    }

    /// Two hashes don't show that they are of one text, and a rotation may make an old key another one.
    @Test func theSameTextForTwoKeysGetsTheLesserRights() {
        let clock = Clock()
        let twice = KeyRing(Self.keys("same", readOnly: "same"), now: { clock.now })
        #expect(twice.matches("same", .readOnlyMaster) && !twice.matches("same", .master))
        let ring = KeyRing(Self.keys("one", readOnly: "reads"), now: { clock.now })
        ring.replace(with: Self.keys("two", readOnly: "one"), overlap: .seconds(60))
        #expect(ring.matches("one", .readOnlyMaster) && !ring.matches("one", .master))
        var open = Self.keys("three")
        open.clientKey = "two"
        ring.replace(with: open, overlap: .seconds(60))
        #expect(!ring.matches("two", .master) && ring.matches("three", .master))
    }

    // MARK: A server that runs

    private static func server(_ path: String, _ file: KeyFile) throws -> RelataServer {
        var configuration = RelataServer.Configuration()
        (configuration.port, configuration.stopsOnSignals) = (0, false)
        configuration.dashboard = .init(name: "library")
        return try RelataServer(ParseStore.open(nil), keys: file.keys, configuration: configuration)
    }

    private static func status(_ server: TestServer, _ key: String) async throws -> Int {
        try await server.request(
            "GET", "/parse/schemas",
            headers: ["X-Parse-Application-Id": "app", "X-Parse-Master-Key": key]
        ).status
    }

    @Test func aServerUsesTheChangedKeysOfItsFile() async throws {
        let folder = try ServerFolder()
        let path = folder.path("keys")
        let file = try KeyFile(path, given: .init(applicationID: "app"))
        let old = try #require(file.newMasterKey)
        let relata = try Self.server(path, file)
        try await TestServer.running(relata) { server in
            let following = Task {
                await relata.followKeys(
                    in: path, given: .init(applicationID: "app"), since: file, overlap: .seconds(600),
                    interval: .milliseconds(20))
            }
            defer { following.cancel() }
            #expect(try await Self.status(server, old) == 200)
            let new = try KeyFile.rotate(path)
            try await waitUntil { try await Self.status(server, new) == 200 }
            #expect(try await Self.status(server, old) == 200)
            // A file that can't be read leaves the keys as they are.
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
            try "junk".write(toFile: path, atomically: false, encoding: .utf8)
            try await Task.sleep(for: .milliseconds(100))
            #expect(try await Self.status(server, new) == 200)
        }
    }

    @Test func aKeyThatIsReplacedBeforeTheFileIsFollowedIsUsed() async throws {
        let folder = try ServerFolder()
        let path = folder.path("keys")
        let file = try KeyFile(path, given: .init(applicationID: "app"))
        let relata = try Self.server(path, file)
        try await TestServer.running(relata) { server in
            let new = try KeyFile.rotate(path)
            let following = Task {
                await relata.followKeys(
                    in: path, given: .init(applicationID: "app"), since: file, overlap: .seconds(600),
                    interval: .milliseconds(20))
            }
            defer { following.cancel() }
            try await waitUntil { try await Self.status(server, new) == 200 }
        }
    }

    @Test func aReplacedKeyEndsForRequestsSocketsAndTheDashboard() async throws {
        let file = try KeyFile(
            nil, given: .init(applicationID: "app", clientKey: "", masterKey: "one"))
        let relata = try Self.server("", file)
        try await TestServer.running(relata) { server in
            let (_, cookie) = try #require(relata.sessions).signIn("one", from: "127.0.0.1")
            #expect(relata.sessions?.session(cookie) != nil)
            var keys = file.keys
            keys.masterKey = HashedKey("two")
            let new = keys
            try await blocking {
                let socket = try server.socket("/parse")
                try socket.send(
                    frame: .text, Array(#"{"op":"connect","applicationId":"app","masterKey":"one"}"#.utf8))
                #expect(String(decoding: try socket.receiveFrame().bytes, as: UTF8.self).contains("connected"))
                let replaced = DispatchSemaphore(value: 0)
                Task {
                    await relata.replaceKeys(with: new)
                    replaced.signal()
                }
                replaced.wait()
                let told = try socket.receiveFrame()
                #expect(String(decoding: told.bytes, as: UTF8.self).contains(#""code":4"#))
                #expect(try socket.receiveFrame().kind == .close)
            }
            #expect(try await Self.status(server, "one") == 403)
            #expect(try await Self.status(server, "two") == 200)
            #expect(relata.sessions?.session(cookie) == nil)
        }
    }

    @Test func forwardedAddressesCountFromTrustedProxiesOnly() async throws {
        for isTrusted in [false, true] {
            var configuration = RelataServer.Configuration()
            (configuration.port, configuration.stopsOnSignals) = (0, false)
            if isTrusted { configuration.trustedProxies = .thisMachine }
            var keys = Self.keys("master")
            keys.masterKeyAddresses = try AddressRanges(["10.0.0.0/8"])
            let relata = try RelataServer(
                ParseStore.open(nil), keys: keys, configuration: configuration)
            try await TestServer.running(relata) { server in
                func status(_ forwarded: String?) async throws -> Int {
                    var headers = ["X-Parse-Application-Id": "app", "X-Parse-Master-Key": "master"]
                    headers["X-Forwarded-For"] = forwarded
                    return try await server.request("GET", "/parse/schemas", headers: headers).status
                }
                let direct = try await status(nil)
                #expect(direct == 403)
                #expect(try await status("10.1.2.3") == (isTrusted ? 200 : 403))
                #expect(try await status("10.1.2.3, 11.1.2.3") == 403)
                #expect(try await status("10.1.2.3:55") == (isTrusted ? 200 : 403))
                #expect(try await status("10.1.2.3,") == 403)
            }
        }
    }

    @Test func missingForwardedAddressesAreLoggedOnce() async throws {
        let log = LogRecorder()
        try await TestServer.running({ $0.trustedProxies = .thisMachine }, logger: log.logger(.info)) { server in
            for field in ["10.1.2.3", "unknown", "garbage"] {
                _ = try await server.request("GET", "/parse/classes/Book", headers: ["X-Forwarded-For": field])
            }
        }
        let warnings = log.lines.filter { $0.hasPrefix("warning") }
        #expect(warnings.count == 1, "\(log.lines)")
        #expect(warnings.first?.hasSuffix("field=unknown proxy=127.0.0.1") == true, "\(warnings)")
    }

    @Test func aDashboardSessionIsUsedFromTheAddressesOfItsKey() async throws {
        var configuration = RelataServer.Configuration()
        (configuration.port, configuration.stopsOnSignals) = (0, false)
        configuration.trustedProxies = .thisMachine
        configuration.dashboard = .init(name: "library")
        var keys = Self.keys("master")
        keys.masterKeyAddresses = try AddressRanges(["10.0.0.0/8"])
        let relata = try RelataServer(ParseStore.open(nil), keys: keys, configuration: configuration)
        try await TestServer.running(relata) { server in
            let page = try await self.page(server, headers: ["X-Forwarded-For": "10.1.2.3"])
            for (address, status) in [
                ("10.9.9.9", 200), ("11.1.2.3", 401), ("127.0.0.1", 401), ("garbage", 401), ("10.1.2.3", 200),
            ] {
                let reply = try await page.request("GET", "/audit", headers: ["X-Forwarded-For": address])
                #expect(reply.status == status, "\(address): \(reply.text)")
            }
        }
    }
}
#endif
