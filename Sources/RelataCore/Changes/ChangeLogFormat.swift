import Foundation

/// The storage format of the durable change log. This is version 2; the row `change log` of `relata_metadata` holds the
/// number.
///
/// The table `relata_changes` has one row for each entity and kind of change of a statement:
///
/// | column | holds |
/// | --- | --- |
/// | `position` | ascending, never used twice |
/// | `batch` | the position of the first row of the same transaction |
/// | `time` | when it was written, in microseconds since 1970 |
/// | `entity` | the entity's name, or a table's if no entity stands for it |
/// | `kind` | `insert`, `update`, `delete` or `unknown` |
/// | `ids` | a JSON array of keys: a number or a string each, an array of these for a key of several columns; UUIDs as text, bytes as `{"bytes": "hexadecimal"}`. A whole number is an integer, or in a column of floating-point numbers one of these; any other is `{"real": 2}` or `{"integer": 2}`, and an infinite one `{"real": "inf"}` |
/// | `properties` | a JSON array of the names of the properties that an update wrote |
/// | `origin` | the name that the writer of the transaction gave itself; `NULL` if it gave none. Since version 2 |
/// | `originNumber` | the writer's own number of the transaction; `NULL` if it has none. Since version 2 |
/// | `versions` | a JSON array with the version of each object of `ids`: its revision after the transaction, `null` for
/// an object that then had none. `NULL` for deletions, for entities without a revision, if the objects aren't known,
/// and in rows that an older version of Relata wrote. Since version 2 |
///
/// On a server with concurrent writers, it is version 3, with other columns instead of `position` and `batch`:
///
/// | column | holds |
/// | --- | --- |
/// | `log` | the log's number: another one after the database was restored, moved or promoted |
/// | `position` | the number that the transaction drew when it had written everything else; ascending among those that changed the same objects |
/// | `number` | the place within the transaction, from 1 on |
/// | `transaction` | the transaction's own number, `pg_current_xact_id()` |
/// | `writer` | the store that made it, by a number of its own |
package enum ChangeLogFormat {
    /// The table's name.
    package static let table = "relata_changes"
    /// The version of the format that this version of Relata writes, and the newest that it reads.
    package static let version = 2
    /// The columns on a server, where rows are ordered by transactions.
    package static let transactionVersion = 3

    /// The unique number of a log.
    package static func number(ofLog identity: String) -> Int64 {
        var hasher = StableHasher()
        hasher.combine(identity)
        return Int64(max(1, hasher.value & UInt64(Int64.max)))
    }

    /// Keys of these columns as JSON.
    package static func json(_ keys: KeyList, of columns: [Column]) -> String {
        var json = JSONWriter(capacity: keys.values.count * 40)
        json.append("[")
        for (index, value) in keys.values.enumerated() {
            if index > 0 { json.append(",") }
            if keys.width > 1 && index % keys.width == 0 { json.append("[") }
            let place = index % keys.width
            write(value, to: &json, holdsReals: place < columns.count && columns[place].holdsReals)
            if keys.width > 1 && index % keys.width == keys.width - 1 { json.append("]") }
        }
        json.append("]")
        return String(decoding: json.bytes, as: UTF8.self)
    }

    /// Names as JSON.
    package static func json(_ names: [String]) -> String {
        json(KeyList(values: names.map { .text($0) }, width: 1), of: [])
    }

    private static func write(_ value: Value, to json: inout JSONWriter, holdsReals: Bool) {
        switch value {
        case .null: json.append("null")
        case .integer(let number) where holdsReals: json.write(["integer": .integer(number)])
        case .integer(let number): json.write(number)
        case .real(let number) where number.isInfinite: json.write(["real": .string(number < 0 ? "-inf" : "inf")])
        case .real(let number) where !holdsReals && Int64(exactly: number) != nil:
            json.write(["real": .double(number)])
        case .real(let number): json.write(number)
        case .uuid(let id): json.write(id.uuidString.lowercased())
        case .blob(let data): json.write(["bytes": .string(data.hexadecimal)])
        case .text(let text): json.write(text)
        }
    }

    /// Reads keys of these columns.
    ///
    /// - Throws: ``RelataError/corruptStore(_:)`` for values in another format.
    package static func keys(_ json: String, of columns: [Column]) throws(RelataError) -> KeyList {
        let rows = try decode([Item].self, json)
        var keys = KeyList(width: rows.first?.width ?? max(1, columns.count))
        for row in rows {
            for (place, item) in row.parts.enumerated() {
                keys.append(value: item.value(in: place < columns.count ? columns[place] : nil))
            }
        }
        return keys
    }

    /// Versions as JSON.
    package static func json(_ versions: [Int64?]) -> String {
        json(KeyList(values: versions.map { $0.map { .integer($0) } ?? .null }, width: 1), of: [])
    }

    /// Reads versions.
    package static func versions(_ json: String) throws(RelataError) -> [Int64?] { try decode([Int64?].self, json) }

    /// Reads names.
    package static func names(_ json: String) throws(RelataError) -> [String] { try decode([String].self, json) }

    private static func decode<Result: Decodable>(_ type: Result.Type, _ json: String) throws(RelataError) -> Result {
        do {
            return try JSONDecoder().decode(type, from: Data(json.utf8))
        } catch {
            throw .corruptStore("the change log contains \(json.prefix(80)), which isn't in its format: \(error)")
        }
    }

    private indirect enum Item: Decodable {
        /// A value as JSON; its column determines its type.
        case plain(Value)
        /// A value as JSON that includes its type.
        case exact(Value)
        case key([Item])

        var width: Int { parts.count }

        var parts: [Item] { if case .key(let items) = self { items } else { [self] } }

        func value(in column: Column?) -> Value {
            switch self {
            case .plain(.text(let text)) where column?.type == .uuid(.blob):
                UUID(uuidString: text).map { .uuid($0) } ?? .text(text)
            case .plain(.integer(let number)) where column?.holdsReals == true: .real(Double(number))
            case .plain(let value), .exact(let value): value
            case .key: .null
            }
        }

        init(from decoder: any Decoder) throws {
            if let items = try? [Item](from: decoder) {
                self = .key(items)
                return
            }
            if let value = try? Exact(from: decoder).value {
                self = .exact(value)
                return
            }
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .plain(.null)
            } else if let number = try? container.decode(Int64.self) {
                self = .plain(.integer(number))
            } else if let number = try? container.decode(Double.self) {
                self = .plain(.real(number))
            } else {
                self = .plain(.text(try container.decode(String.self)))
            }
        }
    }

    /// A value as an object, whose member names its type.
    private struct Exact: Decodable {
        let value: Value

        private enum CodingKeys: String, CodingKey { case bytes, integer, real }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            if let bytes = try container.decodeIfPresent(String.self, forKey: .bytes) {
                guard let data = Data(hexadecimal: bytes) else {
                    throw DecodingError.dataCorruptedError(
                        forKey: .bytes, in: container, debugDescription: "these aren't bytes")
                }
                value = .blob(data)
            } else if let number = try container.decodeIfPresent(Int64.self, forKey: .integer) {
                value = .integer(number)
            } else if let text = try? container.decode(String.self, forKey: .real) {
                value = .real(text == "-inf" ? -.infinity : .infinity)
            } else {
                value = .real(try container.decode(Double.self, forKey: .real))
            }
        }
    }
}

extension Column {
    /// Whether its stored values are floating-point numbers, including whole ones.
    fileprivate var holdsReals: Bool { storage == .real }
}
