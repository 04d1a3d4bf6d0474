import RelataCore
import RelataEngine

/// A column that was converted because a client wrote a number that it couldn't hold: an earlier version made it. All
/// values were converted; if one can't be, the client's request fails, and nothing is changed.
public struct FieldConversion: Hashable, Sendable {
    /// The class.
    public let className: String
    /// The field.
    public let field: String
    /// The column's earlier type, as the database names it.
    public let oldType: String
    /// The column's type now.
    public let newType: String
}

/// A field whose column must be converted.
struct ConvertedField: Hashable, Sendable, CustomStringConvertible {
    let className: String
    let field: String

    var description: String { "\(className).\(field)" }

    /// The type of its column, as the database names it.
    func columnType(of entity: Entity?, _ connection: Connection) throws(RelataError) -> String? {
        guard let entity, let column = entity.attribute(field)?.column else { return nil }
        return try Introspection.tables(of: connection, named: [entity.table]).first?.column(column)?.type
    }
}
