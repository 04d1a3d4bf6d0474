import Foundation
import RelataCore

/// What Relata remembers about a file, in the table `relata_metadata`.
struct Metadata {
    /// The entities that the file was last opened with, or `nil` if Relata never opened it.
    var entities: [Entity]?
    /// The names of the migration steps that are done.
    var steps: [String] = []

    private static let table = "\"relata_metadata\""

    /// Whether the file was last left by the same entities and steps, and nobody changed its tables since: one look-up.
    static func isUnchanged(_ connection: Connection, fingerprint: String) -> Bool {
        let query = """
            SELECT m.value = ?1 || ' ' || s.schema_version FROM \(table) AS m JOIN temp.pragma_schema_version AS s
            WHERE m.name = 'fingerprint'
            """
        // A file without the table is one that Relata doesn't know.
        return (try? connection.value(SQLStatement(query, [.value(.text(fingerprint))]))) == .integer(1)
    }

    /// Reads what is remembered. A file without the table is one that Relata doesn't know.
    static func read(_ connection: Connection) throws(RelataError) -> Metadata {
        var metadata = Metadata()
        let exists = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'relata_metadata'"
        guard try connection.value(SQLStatement(exists)) != nil else { return metadata }
        // What can't be read was written by a newer version: the tables themselves tell enough.
        metadata.entities = []
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        try connection.rows(SQLStatement("SELECT name, value FROM \(table)")) { row in
            let data = Data(row.text(at: 1).utf8)
            switch row.text(at: 0) {
            case "entities": metadata.entities = (try? decoder.decode([Entity].self, from: data)) ?? []
            case "steps": metadata.steps = (try? decoder.decode([String].self, from: data)) ?? []
            default: break
            }
        }
        return metadata
    }

    /// Remembers entities and steps, within the transaction that made the tables fit.
    func write(_ connection: Connection, fingerprint: String) throws(RelataError) {
        try connection.execute("CREATE TABLE IF NOT EXISTS \(Self.table) (name TEXT PRIMARY KEY, value TEXT)")
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        do {
            try put("entities", String(decoding: encoder.encode(entities ?? []), as: UTF8.self), connection)
            try put("steps", String(decoding: encoder.encode(steps), as: UTF8.self), connection)
        } catch let error as RelataError {
            throw error
        } catch {
            throw .invalidUse("the models can't be described as JSON: \(error)")
        }
        let version =
            try connection.value(SQLStatement("SELECT schema_version FROM temp.pragma_schema_version")) ?? .null
        try put("fingerprint", "\(fingerprint) \(version)", connection)
    }

    private func put(_ name: String, _ value: String, _ connection: Connection) throws(RelataError) {
        try connection.execute(
            SQLStatement(
                "INSERT INTO \(Self.table) (name, value) VALUES (?1, ?2) "
                    + "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                [.value(.text(name)), .value(.text(value))]))
    }
}
