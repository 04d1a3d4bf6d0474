import RelataCore

/// The value of a field in a file: its notation, and the position of its bytes.
struct RawField {
    enum Form: UInt8 {
        /// The row doesn't have the field.
        case absent
        /// JSON's `null`.
        case null
        /// JSON's words.
        case isTrue, isFalse
        /// A number of JSON.
        case number
        /// An array or an object of JSON.
        case json
        /// A string of JSON, between its quotes.
        case string
        /// A value of CSV without quotes.
        case bare
        /// A value of CSV between its quotes.
        case quoted
        /// A quoted text with quotes in it, which are doubled.
        case doubled
    }

    var form = Form.absent
    var start = 0
    var end = 0
}

/// A row as a file holds it.
struct RawRow {
    /// The table that it belongs to, by its number.
    let table: Int
    /// The line that it begins on.
    let line: Int
    /// In the order of the table's fields.
    let fields: [RawField]
}

/// The problem of a row.
struct RowProblem: Error {
    /// The field; `nil` for the row as a whole.
    var field: String?
    let reason: String
    /// Whether the row refers to a missing object.
    let isReference: Bool

    init(_ reason: String, field: String? = nil, isReference: Bool = false) {
        self.field = field
        self.reason = reason
        self.isReference = isReference
    }
}

/// A row that can't be read, or not stored.
enum RowResult {
    case row(RawRow)
    case problem(RowProblem, table: Int?, line: Int)
}

/// Reads the rows of a file, one after the other.
protocol RowSource: AnyObject {
    var input: DataInput { get }
    /// The line that the next row begins on.
    var line: Int { get }
    /// The next row, whose bytes are valid until the next call; `nil` after the last one.
    func next() throws -> RowResult?
    /// Continues at the position of a row.
    func seek(to place: Int64, line: Int) throws
}

extension MovedTable {
    /// The reason why a name isn't that of a field.
    func refusal(ofField name: String, in schema: Schema) -> RowProblem {
        if case .entity(let number) = owner, let relationship = schema.tables[number].entity.relationship(name) {
            let isList: String
            switch schema.tables[number].links[name] {
            case .join(let join, _)?:
                let join = schema.joins[join]
                isList = "its links are rows of \(schema.tables[join.source].name).\(join.property)"
            default: isList = "it follows from the links of \(relationship.target)"
            }
            return RowProblem("isn't a field of \(self.name): \(isList)", field: name)
        }
        return RowProblem(
            "\(self.name) has no such field" + NameSuggestion.hint(for: name, among: fields.map(\.name)),
            field: name)
    }
}
