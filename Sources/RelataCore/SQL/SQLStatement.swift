/// SQL text and the values of its parameters, `?1`, `?2`, … in order.
public struct SQLStatement: Hashable, Sendable {
    /// The text, with numbered parameters. Never contains a value from outside.
    public var sql: String
    /// The values to bind.
    public var parameters: [Parameter]

    /// A statement and its parameters.
    public init(_ sql: String, _ parameters: [Parameter] = []) {
        self.sql = sql
        self.parameters = parameters
    }
}

/// The value of one parameter of a statement.
public enum Parameter: Hashable, Sendable {
    /// One value.
    case value(Value)
    /// Any number of single values as one parameter; on SQLite the argument of `relata_values`, column `c0`.
    case list([Value])
    /// Any number of keys as one parameter; on SQLite the argument of `relata_values`, columns `c0`, `c1`, ….
    case keys([KeyValue])
}
