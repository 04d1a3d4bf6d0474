import Foundation

/// Writes expressions as SQL: the state of one statement that is being built.
///
/// Rows in expressions are *positions*: the query's own row, and those reached from it. A position is joined only if
/// its row has a needed value that the known key doesn't give; each path is joined once.
struct ExpressionWriter {
    let schema: Schema
    let dialect: Dialect
    /// The rows that the statement sees.
    let access: Access
    /// The text being written: conditions are appended to it.
    var sql = ""
    var parameters: [Parameter] = []
    /// The number of parameters the statement around this one has already.
    var earlierParameters = 0
    var positions: [Position] = []
    /// The text after `FROM` of the query and of each subquery; joins are appended as paths need them.
    var frames: [String] = []
    /// The position of each scope number.
    var scopes: [(number: Int, position: Int)] = []
    /// The alias of the JSON element that a scope number means.
    var elements: [(number: Int, alias: String)] = []
    /// Whether aggregates of groups are allowed.
    var groups = Groups.none
    /// The rows of guarded tables, by the tables' numbers; see ``source(_:)``.
    var sources: [Int: String] = [:]
    /// The parameters that belong to the access.
    var accessParameters: [AccessParameter] = []
    /// The grouping, if the engine requires it for values that are equal within a group.
    var grouped: [(node: ExpressionNode, operand: Operand)] = []
    /// The query's search in the statement; `nil` without one.
    var found: FoundRows?
    /// The reason why the rows of a guarded table can't be written.
    var failure: RelataError?
    private var aliases = 0
    /// The number of parts of the statement that are open around this text.
    private(set) var depth: Int

    init(schema: Schema, dialect: Dialect, access: Access, earlierParameters: Int = 0, depth: Int = 0) {
        self.schema = schema
        self.dialect = dialect
        self.access = access
        self.earlierParameters = earlierParameters
        self.depth = depth
    }

    /// A row that expressions can talk about.
    struct Position {
        /// The entity's number.
        let table: Int
        /// The frame in which it is joined.
        let frame: Int
        /// The row's alias; `nil` as long as only its key was needed.
        var alias: String?
        /// The key, if it is known without the row: the columns that point at it.
        let key: [String]?
        /// Whether rows without it stay: for paths through to-ones, but not for the elements of a related set.
        let isOuter: Bool
        /// Whether it may be missing, so that its columns may be unset.
        let isOptional: Bool
        /// Whether its key may be unset.
        let isKeyOptional: Bool
        /// The positions reached from here, so that each path is joined once.
        var children: [(name: String, position: Int)] = []
    }

    /// Whether an aggregate of a group is allowed here, and where its argument is written.
    enum Groups {
        case none
        case direct
        /// The aggregate belongs to a subquery, whose columns are collected.
        case subquery([String])
    }

    /// A value in SQL: a column, or text that needs no parentheses around it.
    struct Term {
        var sql: String
        var type: AttributeType?
        var isNullable: Bool
        /// The name of the value in messages.
        var name: String?
        /// The column, if it is one.
        var column: (table: Int, index: Int)?
        /// Whether its values are those of a Swift `Float`.
        var isSinglePrecision = false
        /// Whether it is a column's value that may be an integer though others are floating-point numbers.
        var keepsIntegers = false
        /// Whether it is a column's value that may be of another type, so that constants are compared as they come.
        var holdsOtherTypes = false
        /// Whether it is a JSON value of any kind, so that the other operand becomes JSON too.
        var isJSON = false

        /// The type of constants beside it. See ``Column/boundType``.
        var boundType: AttributeType? { isJSON ? .json : type?.bound(keepsIntegers: keepsIntegers) }
    }

    /// The kind of an expression: a constant (whose form depends on the other operand), one value, or an object.
    enum Operand {
        case constant(Value)
        case term(Term)
        case key([Term], entity: Int)
    }

    // MARK: Parts of SQL

    /// A name that no other part of the statement uses.
    mutating func newAlias() -> String {
        defer { aliases += 1 }
        return "t\(aliases)"
    }

    /// Binds a value and returns its place in the text.
    ///
    /// - Parameter type: The type of the other operand, or of the column; `nil` if only the value determines it.
    mutating func bind(_ value: Value, as type: AttributeType? = nil) -> String {
        parameters.append(.value(value))
        return dialect.parameter(earlierParameters + parameters.count, holding: value, as: type)
    }

    /// Binds many values as one parameter and returns the subquery that yields them.
    mutating func bind(list parameter: Parameter, types: [AttributeType]) -> String {
        parameters.append(parameter)
        return dialect.rows(ofParameter: earlierParameters + parameters.count, types: types)
    }

    /// Binds many values as one parameter and returns the table of them, whose rows are numbered by `rowid` from 1.
    mutating func bind(table parameter: Parameter, types: [AttributeType]) -> String {
        parameters.append(parameter)
        return dialect.rows(ofParameter: earlierParameters + parameters.count, types: types, isNumbered: true)
    }

    /// Binds a constant in the form that a value of that type has in the database.
    mutating func bind(_ value: Value, like term: Term) throws(RelataError) -> String {
        bind(try stored(value, like: term), as: term.boundType)
    }

    /// A constant in the form of the other operand.
    func comparable(_ value: Value, like term: Term) throws(RelataError) -> Value {
        let stored = try stored(value, like: term)
        return term.isSinglePrecision ? stored.singlePrecision : stored
    }

    func stored(_ value: Value, like term: Term) throws(RelataError) -> Value {
        if term.isJSON { return value.isNull ? .null : .text(value.json) }
        guard let type = term.type, !term.holdsOtherTypes else { return value }
        if let stored = value.stored(as: type) { return stored }
        let kind = value.type.map { " is \($0.spelled) and" } ?? ""
        throw .invalidUse(
            "\(describe(term)) is \(type.spelled); \"\(value)\"\(kind) can't be compared with it or stored in it")
    }

    /// A column of a row.
    func column(_ alias: String, _ name: String) -> String {
        var text = alias
        text.append(".")
        dialect.append(quoted: name, to: &text)
        return text
    }

    func columns(_ alias: String, _ names: [String]) -> [String] { names.map { column(alias, $0) } }

    /// `a = c AND b = d`.
    func pairwise(_ left: [String], _ right: [String]) -> String {
        var text = ""
        for (left, right) in zip(left, right) {
            if !text.isEmpty { text.append(" AND ") }
            text.append(left)
            text.append(" = ")
            text.append(right)
        }
        return text
    }

    /// A single value directly, several as a row.
    func tuple(_ values: [String]) -> String {
        values.count == 1 ? values[0] : "(" + values.joined(separator: ", ") + ")"
    }

    // MARK: Messages

    func describe(_ term: Term) -> String {
        if let column = term.column {
            let table = schema.tables[column.table]
            return "\(table.name).\(table.columns[column.index].property)"
        }
        return term.name ?? "the expression"
    }

    // MARK: Size

    /// Refuses invalid parts, and statements that no engine can read: SQLite joins 64 tables and binds some ten
    /// thousand parameters at most.
    func checkSize() throws(RelataError) {
        if let failure { throw failure }
        guard earlierParameters + parameters.count < 30_000 else {
            throw .invalidUse("the query has too many values: put those of one property into a list")
        }
        guard positions.count > 20 else { return }
        for frame in frames where frame.components(separatedBy: " JOIN ").count > 60 {
            throw .invalidUse("the query follows more than 60 relationships: ask for less at once")
        }
    }

    // MARK: Depth

    /// Runs `body` inside a node, or refuses: SQLite's parser allows a hundred open parts at most, and reports more
    /// obscurely.
    mutating func nested<Result>(
        _ node: ExpressionNode, _ body: (inout Self) throws(RelataError) -> Result
    ) throws(RelataError) -> Result {
        let weight = node.openParts
        guard depth + weight <= 70 else {
            throw .invalidUse(
                "the expression is nested too deeply: about 20 levels of conditions or 7 of related sets can be read")
        }
        depth += weight
        defer { depth -= weight }
        return try body(&self)
    }

    /// Writes into a separate text and returns that.
    mutating func written(_ body: (inout Self) throws(RelataError) -> Void) throws(RelataError) -> String {
        let outer = sql
        sql = ""
        try body(&self)
        defer { sql = outer }
        return sql
    }
}

extension ExpressionNode {
    /// The number of parts of SQL that are open while a part of this one is read.
    fileprivate var openParts: Int {
        switch self {
        case .value, .property, .element, .keyIn, .valueIn, .isNull, .invalid, .sql, .relevance: 0
        case .not: 1
        case .comparison, .negated: 2
        case .and, .or, .between, .text, .arithmetic: 3
        case .function, .groupAggregate: 5
        case .quantified, .aggregate, .anyElement, .inQuery, .found: 10
        }
    }
}
