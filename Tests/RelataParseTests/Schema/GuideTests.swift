import Foundation
import RelataParse
import Testing

/// The statements of the guide to the protocol are true.
@Suite struct GuideTests {
    private static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Documentation/ParseProtocol.md").standardizedFileURL

    /// The classes in the guide can be created in its order.
    @Test func theClassesOfTheGuideCanBeMade() async throws {
        let text = try String(contentsOf: Self.file, encoding: .utf8)
        let blocks = text.components(separatedBy: "```json\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
        let server = try TestServer()
        var names: [JSONValue] = []
        for block in blocks {
            let json = try JSONParser.parse(block)
            guard let name = json["className"] else { continue }
            let reply = try await server.send("POST", "/schemas", json)
            #expect(reply.status == 200, "\(reply.json)")
            for (field, description) in json["fields"]?.object ?? [:] {
                for (member, value) in description.object ?? [:] {
                    #expect(reply["fields"]?[field]?[member] == value, "\(field): \(member)")
                }
            }
            names.append(name)
        }
        #expect(names == ["Book", "Genre"])
    }
}
