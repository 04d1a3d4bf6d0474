import RelataParse
import TestEngines
import Testing

/// `null` among the elements of arrays.
@Suite(.onEveryEngine) struct NullElementTests {
    private static let arrays: [(String, JSONValue?)] = [
        ("none", nil), ("empty", []), ("null", [.null]), ("both", ["a", .null]), ("a", ["a"]), ("nested", [[.null]]),
    ]

    @Test(
        arguments: [
            (.null, ["none", "null", "both"]), (["$ne": .null], ["empty", "a", "nested"]),
            (["$in": [.null, "b"]], ["none", "null", "both"]), (["$in": ["a", .null]], ["none", "null", "both", "a"]),
            (["$nin": [.null]], ["empty", "a", "nested"]),
            (["$exists": true], ["empty", "null", "both", "a", "nested"]),
            (["$all": ["a", .null]], ["both"]), (["$containedBy": [.null]], ["empty", "null"]),
            (["$containedBy": ["a", .null]], ["empty", "null", "both", "a"]),
            (["$containedBy": ["a"]], ["empty", "a"]),
            ([.null], ["null", "nested"]),
        ] as [(JSONValue, [String])])
    func aNullElementIsFoundAsNull(_ condition: JSONValue, _ expected: [String]) async throws {
        let server = try TestServer()
        for (name, tags) in Self.arrays {
            var fields: JSONObject = ["name": .string(name)]
            fields["tags"] = tags
            _ = try await server.create("A", .object(fields))
        }
        _ = try await server.create("Other", ["tags": ["a"]])
        let found = try await server.find("A", where: ["tags": condition]).compactMap { $0["name"]?.string }
        #expect(Set(found) == Set(expected), "\(condition)")
    }
}
