import Foundation
import RelataCore

/// Reads CSV, by RFC 4180 with extensions: lines may end with a line feed alone, and fields may be separated by
/// semicolons or tabs if the header has them and no comma.
final class CSVSource: RowSource {
    let input: DataInput
    private(set) var line = 1
    private let table: Int
    /// 0 if each column is a field.
    private let fieldCount: Int
    /// The names of the columns, if the class isn't known.
    private(set) var names: [String] = []
    /// The fields of the columns.
    private var columns: [Int] = []
    private var separator = UInt8(ascii: ",")

    /// Reads the line of names.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for names that aren't fields of the class.
    init(_ input: DataInput, _ table: MovedTable, number: Int, schema: Schema) throws {
        self.input = input
        self.table = number
        fieldCount = table.fields.count
        separator = try Self.separator(of: input)
        for name in try Self.names(in: self) {
            guard let field = table.field(name) else {
                let problem = table.refusal(ofField: name, in: schema)
                throw RelataError.invalidUse("\(input.name): \(name): \(problem.reason)")
            }
            guard !columns.contains(field) else {
                throw RelataError.invalidUse("\(input.name): two columns name the field \(table.fields[field].name)")
            }
            columns.append(field)
        }
    }

    /// Reads a file of an unknown class: each column is a field.
    init(guessing input: DataInput) throws {
        self.input = input
        (table, fieldCount) = (0, 0)
        separator = try Self.separator(of: input)
        names = try Self.names(in: self)
        columns = Array(names.indices)
    }

    private static func names(in source: CSVSource) throws -> [String] {
        let (cells, end) = try source.cells()
        let names = source.input.bytes.withUnsafeBufferPointer { bytes in
            cells.map { cell in
                let text = String(decoding: bytes[cell.start..<cell.end], as: UTF8.self)
                return (cell.form == .doubled ? text.replacingOccurrences(of: "\"\"", with: "\"") : text)
                    .trimmingCharacters(in: .whitespaces)
            }
        }
        guard names.contains(where: { !$0.isEmpty }) else {
            throw RelataError.invalidUse("\(source.input.name): the first line must name the fields, and is empty")
        }
        source.consume(to: end)
        return names
    }

    /// The separator of the names in the first line.
    private static func separator(of input: DataInput) throws -> UInt8 {
        while !input.isAtEnd, !input.bytes[input.start...].contains(0x0A) { try input.readMore() }
        let line = input.bytes[input.start...].prefix { $0 != 0x0A }
        let separators = [UInt8(ascii: ","), UInt8(ascii: "\t"), UInt8(ascii: ";")]
        return separators.first(where: line.contains) ?? separators[0]
    }

    func seek(to place: Int64, line: Int) throws {
        try input.seek(to: place)
        self.line = line
    }

    func next() throws -> RowResult? {
        while true {
            if input.start == input.bytes.count {
                if input.isAtEnd { return nil }
                try input.readMore()
                continue
            }
            let number = line
            let cells: [RawField]
            let end: Int
            do {
                (cells, end) = try self.cells()
            } catch let problem as RowProblem {
                consume(to: try endOfLine())
                return .problem(problem, table: table, line: number)
            }
            consume(to: end)
            let isBlank = cells.count == 1 && cells[0].form == .bare && cells[0].start == cells[0].end
            if isBlank, columns.count > 1 { continue }
            guard cells.count == columns.count else {
                let problem = RowProblem(
                    "has \(cells.count) field\(cells.count == 1 ? "" : "s"), and the line of names \(columns.count)")
                return .problem(problem, table: table, line: number)
            }
            if fieldCount == 0 { return .row(RawRow(table: table, line: number, fields: cells)) }
            var fields = Array(repeating: RawField(), count: fieldCount)
            for (cell, column) in zip(cells, columns) { fields[column] = cell }
            return .row(RawRow(table: table, line: number, fields: fields))
        }
    }

    private func consume(to end: Int) {
        line += max(1, input.bytes[input.start..<end].reduce(0) { $0 + ($1 == 0x0A ? 1 : 0) })
        input.consume(to: end)
    }

    /// The end of the line on which the next row begins.
    private func endOfLine() throws -> Int {
        while true {
            if let newline = input.bytes[input.start...].firstIndex(of: 0x0A) { return newline + 1 }
            if input.isAtEnd { return input.bytes.count }
            try input.readMore()
        }
    }

    // MARK: Cells

    /// The fields of the next row, and the beginning of the row after it.
    private func cells() throws -> (cells: [RawField], end: Int) {
        while true {
            let (start, isAtEnd) = (input.start, input.isAtEnd)
            let separator = separator
            let found = try input.bytes.withUnsafeBufferPointer { bytes in
                var scan = CellScan(bytes, from: start, separator: separator, isAtEnd: isAtEnd)
                return try scan.run() ? (scan.cells, scan.place) : nil
            }
            if let found { return found }
            try input.readMore()
        }
    }
}

/// Finds the fields of one row of CSV.
private struct CellScan {
    private let bytes: UnsafeBufferPointer<UInt8>
    private let separator: UInt8
    private let isAtEnd: Bool
    private(set) var place: Int
    private(set) var cells: [RawField] = []

    init(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int, separator: UInt8, isAtEnd: Bool) {
        self.bytes = bytes
        self.separator = separator
        self.isAtEnd = isAtEnd
        place = start
    }

    /// Whether the end of the row is available; otherwise more must be read.
    mutating func run() throws(RowProblem) -> Bool {
        while true {
            guard try place < bytes.count && bytes[place] == UInt8(ascii: "\"") ? quoted() : bare() else {
                return false
            }
            guard place < bytes.count else { return isAtEnd }
            switch bytes[place] {
            case separator: place += 1
            case 0x0A:
                place += 1
                return true
            case 0x0D:
                guard place + 1 < bytes.count || isAtEnd else { return false }
                place += place + 1 < bytes.count && bytes[place + 1] == 0x0A ? 2 : 1
                return true
            default: throw RowProblem("has text after the closing quotation mark of a field")
            }
        }
    }

    private mutating func bare() -> Bool {
        var end = place
        while end < bytes.count, bytes[end] != separator, bytes[end] != 0x0A, bytes[end] != 0x0D { end += 1 }
        guard end < bytes.count || isAtEnd else { return false }
        cells.append(RawField(form: .bare, start: place, end: end))
        place = end
        return true
    }

    private mutating func quoted() throws(RowProblem) -> Bool {
        var (end, form) = (place + 1, RawField.Form.quoted)
        while true {
            while end < bytes.count, bytes[end] != UInt8(ascii: "\"") { end += 1 }
            guard end < bytes.count else {
                if isAtEnd { throw RowProblem("has a quotation mark that isn't closed") }
                return false
            }
            guard end + 1 < bytes.count || isAtEnd else { return false }
            guard end + 1 < bytes.count, bytes[end + 1] == UInt8(ascii: "\"") else { break }
            form = .doubled
            end += 2
        }
        cells.append(RawField(form: form, start: place + 1, end: end))
        place = end + 1
        return true
    }
}
