import Foundation
import RelataParse
import TestEngines
import Testing

/// The ways in which clients send their keys.
@Suite(.onEveryEngine) struct CredentialTests {
    private let service: ParseService

    init() throws {
        let keys = ParseKeys(
            applicationID: "app", isClientKey: { $0 == "client" }, isMasterKey: { $0 == "master:1" })
        service = ParseService(try ParseStore.open(TestDatabases.newPath()), keys: keys)
    }

    private func status(_ path: String, _ headers: [String: String]) async -> Int {
        await service.respond(to: WireRequest(method: "GET", path: path, headers: headers)) { _ in }.status
    }

    private func basic(_ credentials: String, _ scheme: String = "Basic") -> [String: String] {
        ["authorization": "\(scheme) \(Data(credentials.utf8).base64EncodedString())"]
    }

    @Test func theMasterKeyCanBeSentAsHTTPBasic() async {
        #expect(await status("/schemas", basic("app:master:1")) == 200)
        #expect(await status("/schemas", basic("app:master:1", "bAsIc")) == 200)
        for headers in [
            basic("app:master"), basic("other:master:1"), basic("app"), basic(""), basic("app:master:1", "Bearer"),
            ["authorization": "Basic"], ["authorization": "Basic ???"], ["authorization": "Basic /w=="],
            basic("app:master:2").merging(["x-parse-application-id": "app"]) { $1 },
        ] {
            #expect(await status("/schemas", headers) == 403, "\(headers)")
        }
    }

    @Test func theClientKeyCanBeSentAsHTTPBasic() async {
        #expect(await status("/classes/Book", basic("app:javascript-key=client")) == 200)
        #expect(await status("/schemas", basic("app:javascript-key=client")) == 403)
        #expect(await status("/classes/Book", basic("app:javascript-key=other")) == 403)
        #expect(await status("/classes/Book", basic("app:javascript-key=")) == 403)
        #expect(await status("/classes/Book", basic("app:")) == 403)
    }

    @Test func credentialsOfAnotherApplicationAreIgnored() async {
        // For example, those of a proxy.
        let headers = ["x-parse-application-id": "app", "x-parse-client-key": "client"]
        #expect(await status("/classes/Book", headers.merging(basic("somebody:secret")) { $1 }) == 200)
        #expect(await status("/classes/Book", headers.merging(basic("token", "Bearer")) { $1 }) == 200)
    }

    @Test(arguments: ["client", "javascript", "rest-api", "windows"])
    func theClientKeyHasManyNames(name: String) async {
        let id = ["x-parse-application-id": "app"]
        #expect(await status("/classes/Book", id.merging(["x-parse-\(name)-key": "client"]) { $1 }) == 200)
        #expect(await status("/classes/Book", id.merging(["x-parse-\(name)-key": "other"]) { $1 }) == 403)
        #expect(await status("/classes/Book", id) == 403)
    }

    @Test func fieldsThatContradictTheCredentialsAreRefused() async {
        let right = basic("app:master:1")
        #expect(await status("/schemas", right.merging(["x-parse-application-id": "app"]) { $1 }) == 200)
        #expect(await status("/schemas", right.merging(["x-parse-master-key": "master:1"]) { $1 }) == 200)
        for field in [["x-parse-application-id": "other"], ["x-parse-master-key": "other"]] {
            #expect(await status("/schemas", right.merging(field) { $1 }) == 403, "\(field)")
        }
        let client = basic("app:javascript-key=client").merging(["x-parse-javascript-key": "other"]) { $1 }
        #expect(await status("/classes/Book", client) == 403)
    }
}
