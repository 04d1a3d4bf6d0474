import RelataCore

/// Receives the columns of one object one after the other: binds them to a statement's parameters, or collects them as
/// values to compare or check.
@_documentation(visibility: internal)
@frozen
public struct Binder {
    /// The statement to bind to; `nil` to collect.
    @usableFromInline let statement: RunningStatement?
    /// The next parameter; the first is 1.
    @usableFromInline package var index: Int32
    /// The collected values.
    @usableFromInline package var values: [Value]
    /// Whether a bound value is stored in another form, so that reading it returns another value.
    public var isRounded = false

    /// Binds to a statement, from a parameter on.
    @inlinable
    package init(_ statement: RunningStatement, index: Int32 = 1) {
        self.statement = statement
        self.index = index
        values = []
    }

    /// Collects values.
    @inlinable
    public init(collecting capacity: Int) {
        statement = nil
        index = 1
        values = []
        values.reserveCapacity(capacity)
    }

    /// Takes the next column.
    @inlinable
    public mutating func bind<Coding: AttributeCoding>(_ value: Coding.Value, _ coding: Coding) throws {
        if let statement {
            try coding.bind(value, to: StatementParameter(statement, index))
            if !coding.isExact(value) { isRounded = true }
        } else {
            values.append(try coding.encode(value))
        }
        index += 1
    }

    /// Takes the values of a key.
    public mutating func bind(_ key: KeyValue) throws(RelataError) {
        for value in key.values {
            if let statement {
                try StatementParameter(statement, index).bind(value)
            } else {
                values.append(value)
            }
            index += 1
        }
    }

    /// Leaves a number of columns unset.
    @inlinable
    public mutating func bindNull(_ count: Int) {
        for _ in 0..<count {
            if let statement { statement.bindNull(at: index) } else { values.append(.null) }
            index += 1
        }
    }
}
