// Values whose type alone determines how a column stores them, without a coding. `@Model`'s code calls these if it
// knows the type by its name: a single function costs the compiler less than a choice among codings.

extension RowReader {
    /// Reads the next column.
    @_documentation(visibility: internal)
    @inlinable
    public mutating func readValue<Value: AttributeValue>(_ type: Value.Type) throws -> Value {
        try read(PlainCoding<Value>())
    }

    /// Reads the next column, which may be unset.
    @_documentation(visibility: internal)
    @inlinable
    public mutating func readOptional<Value: AttributeValue>(_ type: Value.Type) throws -> Value? {
        try read(OptionalCoding(PlainCoding<Value>()))
    }
}

extension Binder {
    /// Takes the next column.
    @_documentation(visibility: internal)
    @inlinable
    public mutating func bindValue<Value: AttributeValue>(_ value: Value) throws {
        try bind(value, PlainCoding<Value>())
    }

    /// Takes the next column, which may be unset.
    @_documentation(visibility: internal)
    @inlinable
    public mutating func bindOptional<Value: AttributeValue>(_ value: Value?) throws {
        try bind(value, OptionalCoding(PlainCoding<Value>()))
    }
}
