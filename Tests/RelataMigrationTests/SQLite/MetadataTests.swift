import Foundation
import RelataCore
import Testing

@testable import RelataEngine
@testable import RelataSQLite

/// Metadata of files in formats of other versions.
@Suite struct MetadataTests {
    /// Read by the tables alone, dates would be numbers and lists texts, and the next change would leave them so.
    @Test func entitiesInANewerFormatAreRefused() throws {
        for (row, value) in [("entities", "[later]"), ("entity Later", #"{"name":"Later","future":1}"#)] {
            let connection = try Connection(path: nil)
            try Metadata(entities: [genre]).write(connection, fingerprint: "1")
            try connection.execute(
                SQLStatement(
                    "INSERT OR REPLACE INTO relata_metadata VALUES (?1, ?2)",
                    [.value(.text(row)), .value(.text(value))]))
            #expect { try Metadata.read(connection) } throws: { "\($0)".contains("open it with the newer version") }
        }
    }

    /// An older version writes all entities at once, and leaves the rows of one that a newer one wrote.
    @Test func newerMetadataIsNotReplacedByOlder() throws {
        let connection = try Connection(path: nil)
        let (old, new, other) = (book(.attribute("a")), book(.attribute("b")), genre)
        try Metadata(entities: []).write(connection, fingerprint: "1")
        try Metadata.write([old], removing: [], connection)
        let older = try Connection(path: nil)
        try Metadata(entities: [new]).write(older, fingerprint: "1")
        for name in ["entities", "fingerprint"] {
            let value = try #require(
                try older.value(SQLStatement("SELECT value FROM relata_metadata WHERE name = '\(name)'")))
            try connection.execute(
                SQLStatement("INSERT OR REPLACE INTO relata_metadata VALUES ('\(name)', ?1)", [.value(value)]))
        }
        #expect(try Metadata.read(connection).entities == [new])
        try Metadata.write([other], removing: [], connection)
        #expect(try Metadata.read(connection).entities == [new, other])
    }

    @Test func originalNamesAreWrittenAsEarlierVersionsReadThem() throws {
        func json(_ names: OriginalNames) throws -> String {
            String(decoding: try JSONEncoder().encode([names]), as: UTF8.self)
        }
        #expect(try json("a") == #"["a"]"#)
        #expect(try json(["a", "b"]) == #"[["a","b"]]"#)
        let read = try JSONDecoder().decode([OriginalNames].self, from: Data(#"["a",["b","c"]]"#.utf8))
        #expect(read == ["a", ["b", "c"]])
    }
}
