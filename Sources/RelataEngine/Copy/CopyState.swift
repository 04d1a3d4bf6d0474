import Foundation
import RelataCore

/// The progress of a copy, in a table of the destination that is removed at the end.
struct CopyState {
    private let destination: Connection
    /// The database that it is a copy of, and the entities of the copy.
    private let origin: String
    private static let name = "relata_copy"
    private static let table = "\"\(name)\""

    /// The progress of a table.
    struct Place: Hashable, Codable {
        var rows = 0
        /// The key of the last row.
        var last: [Value]?
        var isDone = false
    }

    /// - Parameter undeclared: The columns that are copied besides those of the schema, by their tables.
    init(
        of schema: Schema, _ undeclared: [String: [UndeclaredColumn]], in source: Connection,
        _ destination: Connection
    ) {
        self.destination = destination
        let isFile = source.dialect == .sqlite && !source.path.isEmpty
        let path = isFile ? URL(fileURLWithPath: source.path).standardizedFileURL.path : source.path
        let others = undeclared.flatMap { table, columns in columns.map { " \(table).\($0.name)" } }.sorted()
        origin = SchemaFingerprint.of(schema, steps: []) + " " + path + others.joined()
    }

    /// Refuses a destination that holds something else than a part of this copy.
    ///
    /// - Returns: Whether it holds a part of it.
    func check() throws -> Bool {
        if try destination.hasTable(Self.name) {
            if try read("origin") == origin { return true }
            throw RelataError.invalidUse(
                "the destination holds a part of a copy of another database, or of other tables: begin with an empty one"
            )
        }
        var tables = try Introspection.tables(of: destination, hidesReserved: false).map(\.name)
        if try destination.hasTable("relata_metadata") { tables.append("relata_metadata") }
        guard tables.isEmpty else {
            throw RelataError.invalidUse(
                "the destination has tables already (\(tables.prefix(3).joined(separator: ", "))"
                    + "\(tables.count > 3 ? ", …" : "")): copy into an empty database")
        }
        return false
    }

    /// Marks the destination as unfinished, in the transaction that creates its tables.
    func begin() throws {
        try destination.execute("CREATE TABLE \(Self.table) (name TEXT PRIMARY KEY, value TEXT NOT NULL)")
        try write("origin", origin)
        try Metadata.write(fingerprint: "being copied", .asDeclared, destination)
    }

    /// Refuses a database into which a copy isn't finished: a half copy would look complete.
    static func refusePart(in connection: Connection) throws(RelataError) {
        guard try connection.hasTable(name) else { return }
        throw .invalidUse(
            "a copy into this database isn't finished: call `relata copy` again with the same source and destination")
    }

    // MARK: Tables

    func place(of table: CopiedTable) throws -> Place {
        guard let text = try read("table " + table.table) else { return Place() }
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return try decoder.decode(Place.self, from: Data(text.utf8))
    }

    /// Records the progress, in the transaction of the rows.
    ///
    /// - Throws: ``RelataError/busy(_:)`` if another process continues the same copy.
    func note(_ place: Place, since before: Place, of table: CopiedTable) throws {
        guard try self.place(of: table) == before else {
            throw RelataError.busy("another process continues this copy: let one of the two finish it")
        }
        let encoder = JSONEncoder()
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        try write("table " + table.table, String(decoding: try encoder.encode(place), as: UTF8.self))
    }

    // MARK: The end

    /// Copies the source's metadata of models to the destination, and removes the progress.
    func finish(remembering source: Connection) throws {
        let known = try Metadata.read(source)
        var metadata = try Metadata.read(destination)
        (metadata.steps, metadata.renames) = (known.steps, known.renames)
        // The next opening compares the tables once.
        try metadata.write(destination, fingerprint: "copied")
        try destination.execute("DROP TABLE \(Self.table)")
    }

    private func read(_ name: String) throws -> String? {
        let query = "SELECT value FROM \(Self.table) WHERE name = \(destination.dialect.parameter(1))"
        guard case .text(let text)? = try destination.value(SQLStatement(query, [.value(.text(name))])) else {
            return nil
        }
        return text
    }

    private func write(_ name: String, _ value: String) throws {
        let dialect = destination.dialect
        try destination.execute(
            SQLStatement(
                "INSERT INTO \(Self.table) (name, value) VALUES (\(dialect.parameter(1)), \(dialect.parameter(2))) "
                    + "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                [.value(.text(name)), .value(.text(value))]))
    }
}
