#if Server && CommandLineTool
import Foundation
import RelataParse
import ServerClient
import Testing

@testable import RelataServer

/// The settings of `relata serve` for the content of objects.
struct WriteSettingTests {
    private let headers = ["X-Parse-Application-Id": "app"]

    private func statuses(_ options: [String], _ bodies: [String]) throws -> [Int] {
        let folder = try ServerFolder()
        let server = ServedFile(
            tool: try ServedTool.executable, path: folder.path("file.sqlite"),
            options: ["--app-id", "app", "--client-key", ""] + options)
        try server.start()
        let connection = try ServerConnection(port: server.port)
        let statuses = try bodies.map { body in
            try connection.request("POST", "/parse/classes/Item", headers: headers, body: Array(body.utf8)).status
        }
        #expect(server.stop() == 0)
        return statuses
    }

    @Test func settingsOfNamesAndGeoPointsAreApplied() throws {
        let point = #"{"__type": "GeoPoint", "latitude": 1, "longitude": 2}"#
        let bodies = [#"{"o": {"constructor": 1}}"#, #"{"o": {"foo": 1}}"#, #"{"a": \#(point), "b": \#(point)}"#]
        #expect(try statuses([], bodies) == [400, 201, 400])
        #expect(try statuses(["--prohibited-names", "bar, foo", "--several-geo-points"], bodies) == [201, 400, 201])
        #expect(try statuses(["--prohibited-names", ""], bodies) == [201, 201, 400])
    }
}
#endif
