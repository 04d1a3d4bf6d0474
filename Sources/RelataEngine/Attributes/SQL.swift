public import RelataCore

/// SQL of your own, with values in it that are bound and never become text.
///
/// ```swift
/// let sql: SQL = "SELECT * FROM Book WHERE year > \(year) AND title IN \(list: titles)"
/// ```
public struct SQL: ExpressibleByStringInterpolation, Sendable {
    private let checked: Result<SQLStatement, RelataError>

    /// The text and what is bound.
    ///
    /// - Throws: What was wrong with a value in it.
    package var statement: SQLStatement {
        get throws(RelataError) { try checked.get() }
    }

    /// SQL without values.
    public init(stringLiteral text: String) { checked = .success(SQLStatement(text)) }

    /// SQL with values.
    public init(stringInterpolation: Interpolation) {
        checked =
            stringInterpolation.problem.map { .failure($0) }
            ?? .success(SQLStatement(stringInterpolation.text, stringInterpolation.parameters))
    }

    /// Collects text and values.
    public struct Interpolation: StringInterpolationProtocol {
        var text = ""
        var parameters: [Parameter] = []
        /// The first value that can't be bound: said when the SQL runs, because an interpolation can't throw.
        var problem: RelataError?

        /// Begins the text.
        public init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity + 16) }

        /// Text of the source, as it is.
        public mutating func appendLiteral(_ literal: String) { text += literal }

        /// A value, bound.
        public mutating func appendInterpolation(_ value: some AttributeValue) {
            append(.value(stored(value)))
        }

        /// A value that may be unset, bound.
        public mutating func appendInterpolation<Wrapped: AttributeValue>(_ value: Wrapped?) {
            append(.value(value.map { stored($0) } ?? .null))
        }

        /// A stored value, bound.
        public mutating func appendInterpolation(_ value: Value) { append(.value(value)) }

        /// Any number of values for `IN`, bound as one parameter.
        public mutating func appendInterpolation(list values: some Sequence<some AttributeValue>) {
            var list: [Value] = []
            for value in values { list.append(stored(value)) }
            parameters.append(.list(list))
            text += Dialect.sqlite.rows(ofParameter: parameters.count)
        }

        /// A table or column by its name, quoted.
        public mutating func appendInterpolation(name: String) { text += Dialect.sqlite.quote(name) }

        private mutating func stored(_ value: some AttributeValue) -> Value {
            do {
                return try value.databaseValue
            } catch {
                if problem == nil { problem = error }
                return .null
            }
        }

        private mutating func append(_ parameter: Parameter) {
            parameters.append(parameter)
            text += "?\(parameters.count)"
        }
    }
}
