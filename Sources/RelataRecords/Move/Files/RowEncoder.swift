import RelataCore

/// Writes the rows of a table as bytes.
protocol RowEncoder {
    /// The output since the last ``clear()``.
    var bytes: [UInt8] { get }
    /// Writes the part before the first row.
    mutating func begin()
    /// Writes a row.
    mutating func add(_ row: [Value])
    /// Clears the written bytes.
    mutating func clear()
}

/// Writes JSON Lines: every field of an object, `null` for an unset one.
struct JSONLinesEncoder: RowEncoder {
    private let fields: [MovedField]
    /// The text before the value of each field.
    private let members: [[UInt8]]
    private var writer = JSONWriter(capacity: 1 << 17)

    /// - Parameter className: The first member of each line, for a file of several classes.
    init(_ table: MovedTable, className: String?) {
        fields = table.fields
        var names = table.fields.map { [UInt8](JSONWriter.text(.string($0.name)).utf8) + [UInt8(ascii: ":")] }
        for place in names.indices.dropFirst() { names[place].insert(UInt8(ascii: ","), at: 0) }
        let start = className.map { "{\"\(Self.classMember)\":\(JSONWriter.text(.string($0)))," } ?? "{"
        if !names.isEmpty { names[0].insert(contentsOf: start.utf8, at: 0) }
        members = names
    }

    /// The member that names the class of an object.
    static let classMember = "@class"

    var bytes: [UInt8] { writer.bytes }

    mutating func begin() {}

    mutating func add(_ row: [Value]) {
        for (place, value) in row.enumerated() {
            writer.append(json: members[place])
            write(fields[place].written(value))
        }
        writer.append("}\n")
    }

    private mutating func write(_ value: WrittenValue) {
        switch value {
        case .none: writer.append("null")
        case .boolean(let isTrue): writer.append(isTrue ? "true" : "false")
        case .integer(let number): writer.write(number)
        case .real(let number):
            number.isFinite ? writer.append(json: number.description) : writer.write(number.description)
        case .text(let text): writer.write(text)
        case .json(var text):
            let isJSON = text.withUTF8 { JSONScanner.isJSON($0, depth: MovedField.maximumDepth) }
            guard isJSON else { return writer.write(text) }
            // Line breaks between tokens are white space in JSON; within its texts there are none.
            text.utf8.contains { $0 == 0x0A || $0 == 0x0D }
                ? writer.append(json: text.utf8.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 })
                : writer.append(json: text)
        }
    }

    mutating func clear() { writer.removeAll(after: 0) }
}

/// Writes CSV: an unset value is an empty field, and empty text a pair of quotes.
struct CSVEncoder: RowEncoder {
    private let fields: [MovedField]
    private(set) var bytes: [UInt8] = []

    init(_ table: MovedTable) {
        fields = table.fields
        bytes.reserveCapacity(1 << 17)
    }

    mutating func begin() {
        for (place, field) in fields.enumerated() {
            if place > 0 { bytes.append(UInt8(ascii: ",")) }
            write(field.name)
        }
        endRow()
    }

    mutating func add(_ row: [Value]) {
        for (place, value) in row.enumerated() {
            if place > 0 { bytes.append(UInt8(ascii: ",")) }
            switch fields[place].written(value) {
            case .none: break
            case .boolean(let isTrue): bytes.append(contentsOf: (isTrue ? "true" : "false").utf8)
            case .integer(let number): bytes.append(contentsOf: String(number).utf8)
            case .real(let number): bytes.append(contentsOf: number.description.utf8)
            case .text(let text), .json(let text): write(text)
            }
        }
        endRow()
    }

    private mutating func endRow() {
        bytes.append(0x0D)
        bytes.append(0x0A)
    }

    private mutating func write(_ text: String) {
        var text = text
        text.withUTF8 { text in
            guard text.isEmpty || Self.needsQuotes(text) else { return bytes.append(contentsOf: text) }
            bytes.append(UInt8(ascii: "\""))
            for byte in text {
                if byte == UInt8(ascii: "\"") { bytes.append(byte) }
                bytes.append(byte)
            }
            bytes.append(UInt8(ascii: "\""))
        }
    }

    private static func needsQuotes(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        // A blank at an end, or a byte-order mark, wouldn't survive some programs.
        if text[0] == 0x20 || text[text.count - 1] == 0x20 || text[0] == 0xEF { return true }
        return text.contains { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\"") || $0 == 0x0A || $0 == 0x0D }
    }

    mutating func clear() { bytes.removeAll(keepingCapacity: true) }
}
