import Foundation
import RelataCore
import RelataEngine

/// The progress of an import.
struct ImportPlace: Hashable, Sendable, Codable {
    /// The number of the file that is read.
    var file = 0
    /// The position of its next row; 0 before the first one.
    var byte: Int64 = 0
    /// The line of that row.
    var line = 1
    /// The digest of the last 4 KB before it.
    var fingerprint: UInt64 = 0
    /// The number of rows read from all files.
    var rows = 0
    /// Whether all are imported.
    var isDone = false
}

/// The progress of an import in batches, in a table that is removed at the end.
struct ImportState {
    private let connection: Connection
    /// The names of the files.
    private let origin: String
    private static let name = "relata_import"
    private static let table = "\"\(name)\""

    init(of files: [ImportedFile], on connection: Connection) {
        self.connection = connection
        origin = files.map { "\($0.name) \($0.className)" }.joined(separator: "\n")
    }

    /// The position at which an import of these files continues; `nil` for a new one.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` if an import of other files is unfinished.
    func place() throws -> ImportPlace? {
        guard try connection.hasTable(Self.name) else { return nil }
        let rows = try connection.values(SQLStatement("SELECT origin, place FROM \(Self.table)"))
        guard let row = rows.first, case .text(let origin) = row[0], case .text(let place) = row[1] else { return nil }
        guard origin == self.origin else {
            throw RelataError.invalidUse(
                "an import into this database isn't finished, of \(origin.split(separator: "\n").joined(separator: ", ")): call it again with the same files and batches, or drop the table \(Self.name) to leave it as it is"
            )
        }
        let known = try JSONDecoder().decode(ImportPlace.self, from: Data(place.utf8))
        guard known.file >= 0, known.byte >= 0, known.line > 0, known.rows >= 0, known.rows < 1 << 60 else {
            throw RelataError.invalidUse(
                "the table \(Self.name) contains no position of an import: drop it, and import into a database without the rows"
            )
        }
        return known
    }

    /// Records the progress, in the transaction of the rows.
    func note(_ place: ImportPlace) throws {
        if place.isDone { return try clear() }
        if try !connection.hasTable(Self.name) {
            try connection.execute("CREATE TABLE \(Self.table) (origin TEXT PRIMARY KEY, place TEXT NOT NULL)")
        }
        let dialect = connection.dialect
        let text = String(decoding: try JSONEncoder().encode(place), as: UTF8.self)
        try connection.execute(
            SQLStatement(
                "INSERT INTO \(Self.table) (origin, place) VALUES (\(dialect.parameter(1, as: .text)), "
                    + "\(dialect.parameter(2, as: .text))) ON CONFLICT (origin) DO UPDATE SET place = excluded.place",
                [.value(.text(origin)), .value(.text(text))]))
    }

    private func clear() throws {
        if try connection.hasTable(Self.name) { try connection.execute("DROP TABLE \(Self.table)") }
    }
}
