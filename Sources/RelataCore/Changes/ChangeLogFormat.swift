import Foundation

/// How the durable change log is stored: the same on every engine. This is version 2 of the format; the row `change log`
/// of `relata_metadata` holds the number.
///
/// The table `relata_changes` has one row for each entity and way in which a statement changed objects:
///
/// | column | holds |
/// | --- | --- |
/// | `position` | ascending, never used twice |
/// | `batch` | the position of the first row of the same transaction |
/// | `time` | when it was written, in microseconds since 1970 |
/// | `entity` | the entity's name, or a table's where no entity stands for it |
/// | `kind` | `insert`, `update`, `delete` or `unknown` |
/// | `ids` | a JSON array of keys: a number or a string each, an array of these for a key of several columns; UUIDs as text, bytes as `{"bytes": "hexadecimal"}` |
/// | `properties` | a JSON array of the names of the properties that an update wrote |
/// | `origin` | who made the transaction, in the caller's words; `NULL` where it didn't say. Since version 2 |
/// | `originNumber` | the caller's own number of the transaction; `NULL` where it has none. Since version 2 |
/// | `versions` | a JSON array with the version of each object of `ids`: its revision as the transaction left it, `null` for an object that the transaction left without one. `NULL` for deletions, for entities without a revision, where the objects aren't known, and in rows that an older version of Relata wrote. Since version 2 |
package enum ChangeLogFormat {
    /// The table's name.
    package static let table = "relata_changes"
    /// The version of the format that this version of Relata writes, and the newest that it reads.
    package static let version = 2

    /// Keys as JSON.
    package static func json(_ keys: KeyList) -> String {
        var json = JSONWriter(capacity: keys.values.count * 40)
        json.append("[")
        for (index, value) in keys.values.enumerated() {
            if index > 0 { json.append(",") }
            if keys.width > 1 && index % keys.width == 0 { json.append("[") }
            write(value, to: &json)
            if keys.width > 1 && index % keys.width == keys.width - 1 { json.append("]") }
        }
        json.append("]")
        return String(decoding: json.bytes, as: UTF8.self)
    }

    /// Names as JSON.
    package static func json(_ names: [String]) -> String {
        json(KeyList(values: names.map { .text($0) }, width: 1))
    }

    private static func write(_ value: Value, to json: inout JSONWriter) {
        switch value {
        case .null: json.append("null")
        case .integer(let number): json.write(number)
        case .real(let number): json.write(number)
        case .uuid(let id): json.write(id.uuidString.lowercased())
        case .blob(let data): json.write(["bytes": .string(data.hexadecimal)])
        case .text(let text): json.write(text)
        }
    }

    /// Reads keys of columns of these types.
    ///
    /// - Throws: ``RelataError/corruptStore(_:)`` for what isn't in the format.
    package static func keys(_ json: String, types: [AttributeType]) throws(RelataError) -> KeyList {
        let rows = try decode([Item].self, json)
        var keys = KeyList(width: rows.first?.width ?? max(1, types.count))
        for row in rows {
            let values = row.values
            for (column, value) in values.enumerated() {
                keys.append(value: typed(value, column < types.count ? types[column] : nil))
            }
        }
        return keys
    }

    /// Versions as JSON.
    package static func json(_ versions: [Int64?]) -> String {
        json(KeyList(values: versions.map { $0.map { .integer($0) } ?? .null }, width: 1))
    }

    /// Reads versions.
    package static func versions(_ json: String) throws(RelataError) -> [Int64?] { try decode([Int64?].self, json) }

    /// Reads names.
    package static func names(_ json: String) throws(RelataError) -> [String] { try decode([String].self, json) }

    private static func decode<Result: Decodable>(_ type: Result.Type, _ json: String) throws(RelataError) -> Result {
        do {
            return try JSONDecoder().decode(type, from: Data(json.utf8))
        } catch {
            throw .corruptStore("the change log holds \(json.prefix(80)), which isn't in its format: \(error)")
        }
    }

    private static func typed(_ value: Value, _ type: AttributeType?) -> Value {
        guard case .text(let text) = value, type == .uuid(.blob), let id = UUID(uuidString: text) else {
            if case .integer(let number) = value, type?.storage == .real { return .real(Double(number)) }
            return value
        }
        return .uuid(id)
    }

    private indirect enum Item: Decodable {
        case value(Value)
        case key([Item])

        var width: Int { if case .key(let items) = self { items.count } else { 1 } }

        var values: [Value] {
            switch self {
            case .value(let value): [value]
            case .key(let items): items.flatMap(\.values)
            }
        }

        init(from decoder: any Decoder) throws {
            if let items = try? [Item](from: decoder) {
                self = .key(items)
                return
            }
            if let bytes = try? Bytes(from: decoder), let data = Data(hexadecimal: bytes.bytes) {
                self = .value(.blob(data))
                return
            }
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .value(.null)
            } else if let number = try? container.decode(Int64.self) {
                self = .value(.integer(number))
            } else if let number = try? container.decode(Double.self) {
                self = .value(.real(number))
            } else {
                self = .value(.text(try container.decode(String.self)))
            }
        }
    }

    private struct Bytes: Decodable {
        let bytes: String
    }
}
