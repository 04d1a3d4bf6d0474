import Foundation
import RelataCore
import RelataEngine

/// Writes objects as JSON, straight from the rows of a statement.
struct ObjectEncoder {
    private(set) var writer = JSONWriter(capacity: 4096)
    /// Pointers whose objects replace them.
    private(set) var gaps: [Gap] = []

    private let limit: Int

    /// - Parameter limit: The maximum number of bytes, not counting the last object.
    init(limit: Int) { self.limit = limit }

    /// Whether the limit is exceeded.
    var isFull: Bool { writer.bytes.count > limit }

    /// A pointer that its object replaces.
    struct Gap {
        let range: Range<Int>
        let pointer: Pointer
        let selection: InnerSelection
        /// Whether it is in an array, from which a missing object is left out.
        var isElement = false
    }

    /// Writes an object, after others.
    ///
    /// - Returns: The range of the object's bytes.
    mutating func write(_ shape: ObjectShape, _ row: Row) -> Range<Int> {
        if !writer.bytes.isEmpty { writer.append(",") }
        let start = writer.bytes.count
        object(shape, row)
        return start..<writer.bytes.count
    }

    private mutating func object(_ shape: ObjectShape, _ row: Row) {
        if isFull { return }
        writer.append(json: shape.head)
        id(shape.id, row)
        for field in shape.fields { write(field, row) }
        writer.append("}")
    }

    private mutating func write(_ field: ObjectShape.Field, _ row: Row) {
        switch field.content {
        case .value(let index, let kind):
            let column = row[index]
            if column.isNull { return }
            writer.append(json: field.prefix)
            write(column, kind)
        case .json(let index):
            let column = row[index]
            if column.isNull { return }
            writer.append(json: field.prefix)
            // Another program may have stored any value.
            column.withTextBytes {
                JSONScanner.isJSON($0, depth: JSONParser.maximumDepth)
                    ? writer.append(json: $0) : writer.write(utf8: $0)
            }
        case .search(let index, let selection):
            let column = row[index]
            if column.isNull { return }
            writer.append(json: field.prefix)
            let text = column.text
            write((try? JSONParser.parse(text)) ?? .string(text), selection)
        case .pointer(let key):
            if Self.isUnset(key, row) { return }
            writer.append(json: field.prefix)
            pointer(key, row)
        case .late(let key, let selection):
            if Self.isUnset(key, row) { return }
            writer.append(json: field.prefix)
            let start = writer.bytes.count
            pointer(key, row)
            gaps.append(
                Gap(
                    range: start..<writer.bytes.count,
                    pointer: Pointer(className: key.className, objectID: Self.id(key, row)), selection: selection))
        case .object(let shape, let key):
            if !row.isNull(at: shape.id.column) {
                writer.append(json: field.prefix)
                object(shape, row)
            } else if !Self.isUnset(key, row) {
                writer.append(json: field.prefix)
                pointer(key, row)
            }
        case .constant(let text):
            writer.append(json: field.prefix)
            writer.append(json: text)
        }
    }

    // MARK: Keys

    /// A compound key with an unset column is none, as for foreign keys.
    private static func isUnset(_ key: ObjectShape.Key, _ row: Row) -> Bool {
        if key.types.count == 1 { return row.isNull(at: key.column) }
        return key.types.indices.contains { row.isNull(at: key.column + $0) }
    }

    private mutating func pointer(_ key: ObjectShape.Key, _ row: Row) {
        writer.append(json: key.prefix)
        id(key, row)
        writer.append("}")
    }

    private mutating func id(_ key: ObjectShape.Key, _ row: Row) {
        if key.types.count == 1, row[key.column].isText {
            row[key.column].withTextBytes { writer.write(utf8: $0) }
        } else {
            writer.write(Self.id(key, row))
        }
    }

    /// The object id of a key.
    static func id(_ key: ObjectShape.Key, _ row: Row) -> String {
        key.coding.text(KeyValue(key.types.indices.map { row.value(at: key.column + $0, as: key.types[$0]) }))
    }

    // MARK: Values

    private mutating func write(_ column: ColumnValue, _ kind: ObjectShape.Kind) {
        switch kind {
        case .text: column.withTextBytes { writer.write(utf8: $0) }
        case .uuid: writer.write(column.value(as: .uuid(.blob)).description)
        case .boolean:
            switch column.value() {
            case .integer(let number): writer.append(number != 0 ? "true" : "false")
            // A value of another program is shown unchanged.
            case let other: writer.write(JSONValue(other, as: nil))
            }
        case .number: write(number: column.value(as: .real))
        case .decimal: write(number: column.value())
        case .bytes:
            writer.append("{\"__type\":\"Bytes\",\"base64\":\"")
            writer.append(json: column.data.base64EncodedString())
            writer.append("\"}")
        case .date(let encoding):
            writer.append("{\"__type\":\"Date\",\"iso\":")
            date(column, encoding)
            writer.append("}")
        case .stamp(let encoding): date(column, encoding)
        }
    }

    private mutating func write(number value: RelataCore.Value) {
        switch value {
        case .integer(let number): writer.write(number)
        case .real(let number): writer.write(number)
        // A decimal, or any value of another program.
        case let value:
            let text = value.description
            if (try? JSONParser.parse(text))?.number != nil {
                writer.append(json: text)
            } else {
                writer.write(text)
            }
        }
    }

    private mutating func date(_ column: ColumnValue, _ encoding: DateEncoding) {
        if let microseconds = DateText.microseconds(of: column.value(), encoding) {
            writer.write(microseconds: microseconds)
        } else {
            writer.write(column.text)
        }
    }

    /// JSON in which pointers make room for their objects.
    private mutating func write(_ value: JSONValue, _ selection: InnerSelection, isElement: Bool = false) {
        switch value {
        case .array(let elements):
            writer.append("[")
            for (index, element) in elements.enumerated() {
                if index > 0 { writer.append(",") }
                write(element, selection, isElement: true)
            }
            writer.append("]")
        case .object(let members):
            if members["__type"] == "Pointer", let pointer = Pointer(value) {
                let start = writer.bytes.count
                writer.write(value)
                gaps.append(
                    Gap(
                        range: start..<writer.bytes.count, pointer: pointer, selection: selection,
                        isElement: isElement))
                return
            }
            var isFirst = true
            writer.append("{")
            for (name, value) in members {
                writer.member(name, isFirst: &isFirst)
                if let inner = selection.included[name] { write(value, inner) } else { writer.write(value) }
            }
            writer.append("}")
        default: writer.write(value)
        }
    }
}
