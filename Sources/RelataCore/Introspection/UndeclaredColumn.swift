import Foundation

/// A column of an entity's table that no property declares, as a copy of the database keeps it. Another program may have
/// added it, or models had its property once.
package struct UndeclaredColumn: Hashable, Sendable {
    /// Its name.
    package let name: String
    /// The type of its values.
    package let type: AttributeType
    /// Whether whole numbers are kept as integers: see ``Attribute/keepsIntegers``.
    package let keepsIntegers: Bool
    /// The value of rows that don't give it, if that is a constant.
    private let defaultValue: Value?
    private let isRequired: Bool
    /// Whether it has a default that a copy can't have.
    package let losesDefault: Bool

    /// - Returns: `nil` for a column whose values no attribute's type holds, and for one that the database computes.
    package init?(_ column: ColumnDescription, in dialect: Dialect) {
        guard !column.isGenerated else { return nil }
        switch dialect {
        case .sqlite:
            let declared = AttributeType(declaredType: column.type)
            keepsIntegers = declared == .real && Affinity(declaredType: column.type) == .numeric
            // SQLite doesn't check that values are of the types that these two words declare.
            type =
                switch declared {
                case .boolean: .integer
                case .json: .text
                default: declared
                }
        case .postgres:
            type = AttributeType(postgresType: column.type)
            guard dialect.holds(type, declaredType: column.type) else { return nil }
            keepsIntegers = false
        }
        name = column.name
        isRequired = column.isRequired
        defaultValue = column.defaultSQL.flatMap(Self.constant).flatMap { [type] in Self.isPlain($0, type) ? $0 : nil }
        losesDefault = column.defaultSQL != nil && column.defaultSQL?.uppercased() != "NULL" && defaultValue == nil
    }

    /// The column for a copy in another dialect. Without a default it may be unset: rows are inserted without it.
    package func description(_ dialect: Dialect) -> ColumnDescription {
        let isNumeric = dialect == .sqlite && keepsIntegers
        return ColumnDescription(
            name: name,
            type: isNumeric
                ? StorageType.numeric.rawValue : dialect.type(of: type.bound(keepsIntegers: keepsIntegers)),
            isRequired: isRequired && defaultValue != nil,
            defaultSQL: defaultValue.map { SchemaDDL.literal($0, as: type, dialect: dialect) })
    }

    /// A constant of SQL; a server adds its type: `'new'::text`.
    private static func constant(_ sql: String) -> Value? {
        if let value = Value(literal: sql) { return value }
        return sql.range(of: "::", options: .backwards).flatMap { Value(literal: String(sql[..<$0.lowerBound])) }
    }

    private static func isPlain(_ value: Value, _ type: AttributeType) -> Bool {
        switch (type, value) {
        case (.integer, .integer), (.boolean, .integer), (.real, .integer), (.real, .real), (.text, .text): true
        default: false
        }
    }
}
