public import RelataCore

/// SQL of your own, with values in it that are bound and never become text.
///
/// ```swift
/// let sql: SQL = "SELECT * FROM Book WHERE year > \(year) AND title IN \(list: titles)"
/// ```
public struct SQL: ExpressibleByStringInterpolation, Sendable {
    private let checked: Result<[Part], RelataError>

    /// A piece of the text, or an interpolated value.
    fileprivate enum Part: Sendable {
        case text(String)
        case name(String)
        case value(Value)
        case list([Value])
    }

    /// The text and the bound values.
    ///
    /// - Parameter dialect: The dialect of the text around the values.
    /// - Throws: The error of an interpolated value.
    package func statement(_ dialect: Dialect) throws(RelataError) -> SQLStatement {
        var statement = SQLStatement("")
        for part in try checked.get() {
            switch part {
            case .text(let text): statement.sql += text
            case .name(let name): dialect.append(quoted: name, to: &statement.sql)
            case .value(let value):
                statement.parameters.append(.value(value))
                statement.sql += dialect.parameter(statement.parameters.count)
            case .list(let values):
                statement.parameters.append(.list(values))
                let type = AttributeType.of(values, like: nil)
                statement.sql += dialect.rows(ofParameter: statement.parameters.count, types: [type])
            }
        }
        return statement
    }

    /// SQL without values.
    public init(stringLiteral text: String) { checked = .success([.text(text)]) }

    /// SQL with values.
    public init(stringInterpolation: Interpolation) {
        checked = stringInterpolation.problem.map { .failure($0) } ?? .success(stringInterpolation.parts)
    }

    /// Collects text and values.
    public struct Interpolation: StringInterpolationProtocol {
        fileprivate var parts: [Part] = []
        /// The error of the first value that can't be bound: thrown when the SQL runs, because an interpolation can't
        /// throw.
        var problem: RelataError?

        /// Begins the text.
        public init(literalCapacity: Int, interpolationCount: Int) { parts.reserveCapacity(2 * interpolationCount + 1) }

        /// Source text, unchanged.
        public mutating func appendLiteral(_ literal: String) { parts.append(.text(literal)) }

        /// A value, bound.
        public mutating func appendInterpolation(_ value: some AttributeValue) {
            parts.append(.value(stored(value)))
        }

        /// A value that may be unset, bound.
        public mutating func appendInterpolation<Wrapped: AttributeValue>(_ value: Wrapped?) {
            parts.append(.value(value.map { stored($0) } ?? .null))
        }

        /// A stored value, bound.
        public mutating func appendInterpolation(_ value: Value) { parts.append(.value(value)) }

        /// Any number of values for `IN`, bound as one parameter.
        public mutating func appendInterpolation(list values: some Sequence<some AttributeValue>) {
            var list: [Value] = []
            for value in values { list.append(stored(value)) }
            parts.append(.list(list))
        }

        /// A table or column by its name, quoted.
        public mutating func appendInterpolation(name: String) { parts.append(.name(name)) }

        private mutating func stored(_ value: some AttributeValue) -> Value {
            do {
                return try value.databaseValue
            } catch {
                if problem == nil { problem = error }
                return .null
            }
        }
    }
}
