import Foundation
import RelataCore

/// Reads JSON Lines.
final class JSONLinesSource: RowSource {
    let input: DataInput
    private(set) var line = 1
    private let tables: [MovedTable]
    private let schema: Schema
    /// The table of rows that don't name theirs.
    private let table: Int?
    private let names: [String: Int]
    /// The members of the last row of each table, in their order: most rows have the same.
    private var members: [[Member]]

    /// The names of the members, if the class isn't known and each is a field.
    private(set) var guessedNames: [String] = []
    private let guesses: Bool

    private struct Member {
        let name: [UInt8]
        let field: Int
    }

    init(_ input: DataInput, _ tables: [MovedTable], table: Int?, schema: Schema) {
        self.input = input
        self.tables = tables
        self.table = table
        self.schema = schema
        guesses = false
        names = Dictionary(tables.enumerated().map { ($1.name, $0) }) { first, _ in first }
        members = tables.map { _ in [] }
    }

    /// Reads a file of an unknown class: each member is a field.
    init(guessing input: DataInput) throws {
        self.input = input
        (tables, table, guesses, names, members) = ([], 0, true, [:], [[]])
        schema = try Schema([])
    }

    func seek(to place: Int64, line: Int) throws {
        try input.seek(to: place)
        self.line = line
    }

    func next() throws -> RowResult? {
        while let range = try nextLine() {
            let number = line
            line += 1
            let result = input.bytes.withUnsafeBufferPointer { bytes -> RowResult? in
                var scanner = JSONScanner(
                    UnsafeBufferPointer(rebasing: bytes[..<range.upperBound]), at: range.lowerBound)
                scanner.skipSpace()
                if scanner.place == range.upperBound { return nil }
                var found = table
                do throws(RowProblem) {
                    let fields = try read(&scanner, bytes, &found)
                    guard let found else { throw Self.noClass }
                    return .row(RawRow(table: found, line: number, fields: fields))
                } catch {
                    return .problem(error, table: found, line: number)
                }
            }
            if let result { return result }
        }
        return nil
    }

    /// The bytes of the next line without its end.
    private func nextLine() throws -> Range<Int>? {
        var searched = 0
        while true {
            let start = input.start
            let newline = input.bytes.withUnsafeBufferPointer { bytes -> Int? in
                let rest = bytes[(start + searched)...]
                guard let base = UnsafeBufferPointer(rebasing: rest).baseAddress,
                    let found = memchr(base, 0x0A, rest.count)
                else { return nil }
                return start + searched + (UnsafeRawPointer(found) - UnsafeRawPointer(base))
            }
            if let newline {
                input.consume(to: newline + 1)
                return start..<newline
            }
            if input.isAtEnd {
                let end = input.bytes.count
                input.consume(to: end)
                return start == end ? nil : start..<end
            }
            searched = input.bytes.count - start
            try input.readMore()
        }
    }

    // MARK: Objects

    private static let noClass = RowProblem(
        "names no class: start it with the member \(JSONLinesEncoder.classMember), or name the file, or the import, after one"
    )

    /// Reads the members of an object.
    private func read(
        _ scanner: inout JSONScanner, _ bytes: UnsafeBufferPointer<UInt8>, _ found: inout Int?
    ) throws(RowProblem) -> [RawField] {
        guard scanner.take(UInt8(ascii: "{")) else {
            throw RowProblem("each line must be a JSON object, and this one isn't")
        }
        var fields = found.map { emptyRow(of: $0) } ?? []
        var count = 0
        scanner.skipSpace()
        if !scanner.take(UInt8(ascii: "}")) {
            repeat {
                let (name, value) = try member(&scanner)
                if count == 0, !guesses, isClassMember(bytes[name]) {
                    found = try table(value, bytes)
                    fields = found.map { emptyRow(of: $0) } ?? []
                    continue
                }
                guard let found else { throw Self.noClass }
                let field = try self.field(bytes[name], number: count, of: found)
                if field >= fields.count { fields.append(RawField()) }
                guard fields[field].form == .absent else {
                    let text = String(decoding: bytes[name], as: UTF8.self)
                    throw RowProblem("occurs twice in one object", field: text)
                }
                fields[field] = value
                count += 1
            } while scanner.take(UInt8(ascii: ","))
            guard scanner.take(UInt8(ascii: "}")) else { throw Self.broken(scanner) }
        }
        scanner.skipSpace()
        guard scanner.next == nil else { throw RowProblem("something follows the JSON object on the line") }
        return fields
    }

    private func emptyRow(of table: Int) -> [RawField] {
        Array(repeating: RawField(), count: guesses ? guessedNames.count : tables[table].fields.count)
    }

    private static func broken(_ scanner: JSONScanner) -> RowProblem {
        RowProblem(scanner.next == nil ? "the line ends within the JSON object" : "the line isn't JSON")
    }

    /// The name of a member, without its quotes, and its value.
    private func member(_ scanner: inout JSONScanner) throws(RowProblem) -> (name: Range<Int>, value: RawField) {
        scanner.skipSpace()
        let start = scanner.place
        guard scanner.next == UInt8(ascii: "\""), scanner.string() else { throw Self.broken(scanner) }
        let name = start + 1..<scanner.place - 1
        scanner.skipSpace()
        guard scanner.take(UInt8(ascii: ":")) else { throw Self.broken(scanner) }
        scanner.skipSpace()
        let first = scanner.next
        var value = RawField(form: .number, start: scanner.place, end: 0)
        guard scanner.value(MovedField.maximumDepth) else { throw Self.broken(scanner) }
        value.end = scanner.place
        switch first {
        case UInt8(ascii: "\""): value = RawField(form: .string, start: value.start + 1, end: value.end - 1)
        case UInt8(ascii: "{"), UInt8(ascii: "["): value.form = .json
        case UInt8(ascii: "t"): value.form = .isTrue
        case UInt8(ascii: "f"): value.form = .isFalse
        case UInt8(ascii: "n"): value.form = .null
        default: break
        }
        scanner.skipSpace()
        return (name, value)
    }

    private func isClassMember(_ name: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        name.elementsEqual(JSONLinesEncoder.classMember.utf8)
    }

    private func table(_ value: RawField, _ bytes: UnsafeBufferPointer<UInt8>) throws(RowProblem) -> Int {
        let name =
            value.form == .string
            ? JSONScanner.text(UnsafeBufferPointer(rebasing: bytes[value.start..<value.end])) : nil
        if let number = name.flatMap({ names[$0] }) { return number }
        throw RowProblem(
            "there is no class \(name ?? "of that name")"
                + NameSuggestion.hint(for: name ?? "", among: tables.map(\.name)), field: JSONLinesEncoder.classMember)
    }

    /// The field of a member.
    ///
    /// - Parameter number: The number of members before it.
    private func field(
        _ name: Slice<UnsafeBufferPointer<UInt8>>, number: Int, of table: Int
    ) throws(RowProblem) -> Int {
        if number < members[table].count, members[table][number].name.elementsEqual(name) {
            return members[table][number].field
        }
        let text = JSONScanner.text(UnsafeBufferPointer(rebasing: name)) ?? ""
        guard let field = guesses ? guess(text) : tables[table].field(text) else {
            throw tables[table].refusal(ofField: text, in: schema)
        }
        if number <= members[table].count {
            members[table].removeSubrange(number...)
            members[table].append(Member(name: Array(name), field: field))
        }
        return field
    }

    /// The field of a member of an unknown class.
    private func guess(_ name: String) -> Int {
        if let known = guessedNames.firstIndex(of: name) { return known }
        guessedNames.append(name)
        return guessedNames.count - 1
    }
}
