import Foundation
import RelataCore

/// A class that is created for a file: its fields have the types of the rows' values.
///
/// A field `id` that every row has is the key; otherwise the database assigns one. References to other classes are
/// plain fields, because a file doesn't show their targets.
struct ClassGuess {
    private var kinds: [Kinds] = []

    /// The types that fit all values of a field.
    private struct Kinds: OptionSet {
        let rawValue: Int

        static let boolean = Kinds(rawValue: 1)
        static let integer = Kinds(rawValue: 2)
        static let real = Kinds(rawValue: 4)
        static let date = Kinds(rawValue: 8)
        static let text = Kinds(rawValue: 16)
        static let json = Kinds(rawValue: 32)
        static let any: Kinds = [.boolean, .integer, .real, .date, .text, .json]
    }

    private var values: [Int] = []
    private var rows = 0

    /// Reads a file to its end.
    static func entity(for file: ImportedFile) throws -> Entity {
        let input = try DataInput(file.path, name: file.name)
        var guess = ClassGuess()
        switch file.format {
        case .csv:
            let source = try CSVSource(guessing: input)
            try guess.read(source)
            return try guess.entity(file.className, source.names)
        case .jsonLines:
            let source = try JSONLinesSource(guessing: input)
            try guess.read(source)
            return try guess.entity(file.className, source.guessedNames)
        }
    }

    private mutating func read(_ source: some RowSource) throws {
        while let result = try source.next() {
            guard case .row(let row) = result else { continue }
            rows += 1
            if rows % 1000 == 0 { try Task.checkCancellation() }
            while kinds.count < row.fields.count {
                kinds.append(.any)
                values.append(0)
            }
            source.input.bytes.withUnsafeBufferPointer { bytes in
                for (place, field) in row.fields.enumerated() { add(field, at: place, bytes) }
            }
        }
    }

    private mutating func add(_ field: RawField, at place: Int, _ bytes: UnsafeBufferPointer<UInt8>) {
        let isEmpty = field.start == field.end
        switch field.form {
        case .absent, .null: return
        case .bare where isEmpty, .quoted where isEmpty && kinds[place] != .text: return
        case .isTrue, .isFalse: kinds[place].formIntersection([.boolean, .json])
        case .json: kinds[place].formIntersection(.json)
        case .number:
            let isWhole = Int64(String(decoding: bytes[field.start..<field.end], as: UTF8.self)) != nil
            kinds[place].formIntersection(isWhole ? [.integer, .real, .json] : [.real, .json])
        case .string, .bare, .quoted, .doubled:
            // A decided type needs no check.
            if kinds[place] == .text || kinds[place] == .json { break }
            let text = String(decoding: bytes[field.start..<field.end], as: UTF8.self)
            var found: Kinds = DateText.microseconds(text: text) == nil ? .text : [.date, .text]
            if field.form == .string {
                found.insert(.json)
            } else {
                found.formUnion(Self.kinds(of: text))
            }
            kinds[place].formIntersection(found)
        }
        values[place] += 1
    }

    /// The types that a text of CSV may have. A number that begins with 0 is none: it would lose the 0.
    private static func kinds(of text: String) -> Kinds {
        let text = text.trimmingCharacters(in: .whitespaces)
        switch text.lowercased() {
        case "true", "false": return .boolean
        default:
            let digits = text.drop { $0 == "-" }
            guard !digits.hasPrefix("0") || digits.count == 1 || digits.dropFirst().hasPrefix("."),
                text.allSatisfy({ $0.isNumber || "+-.eE".contains($0) }), let number = Double(text), number.isFinite
            else { return [] }
            return Int64(text) == nil ? .real : [.integer, .real]
        }
    }

    private func type(at place: Int) -> AttributeType {
        guard place < kinds.count, values[place] > 0 else { return .text }
        let kinds = kinds[place]
        if kinds.contains(.boolean) { return .boolean }
        if kinds.contains(.integer) { return .integer }
        if kinds.contains(.real) { return .real }
        if kinds.contains(.date) { return .date(.microseconds) }
        return kinds.contains(.text) ? .text : .json
    }

    private func entity(_ name: String, _ names: [String]) throws(RelataError) -> Entity {
        var entity = Entity(name: name, table: name, properties: [])
        for (place, column) in names.enumerated() {
            let field = Naming.lowerCamelCase(column)
            try entity.checkName(ofNewField: field)
            let type = type(at: place)
            let isKey =
                field == "id" && rows > 0 && place < values.count && values[place] == rows
                && [.integer, .text].contains(type)
            if isKey {
                entity.key = [field]
                entity.isKeyAssigned = type == .integer
            }
            entity.properties.append(
                .attribute(Attribute(field, column: column, type: type, isOptional: !isKey || entity.isKeyAssigned)))
        }
        if entity.property("id") == nil {
            entity.properties.insert(.attribute(Attribute("id", type: .integer, isOptional: true)), at: 0)
            (entity.key, entity.isKeyAssigned) = (["id"], true)
        }
        guard entity.key.allSatisfy({ entity.attribute($0)?.isOptional != true || entity.isKeyAssigned }) else {
            throw .invalidUse("\(name): some rows have no id, which is the key: give each row one, or rename the field")
        }
        return entity
    }
}
