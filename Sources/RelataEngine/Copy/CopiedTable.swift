import RelataCore

/// A table of an entity or a many-to-many, for moving its rows.
package struct CopiedTable: Sendable {
    /// The name in reports: the entity, or the entity and its relationship.
    package let name: String
    /// The table, with the same name in both databases.
    package let table: String
    package let columns: [Column]
    /// The columns of the key, as places in ``columns``.
    package let key: [Int]
    /// The column whose values the database assigns.
    package let assignedKey: String?

    /// A column and its type.
    package struct Column: Sendable {
        /// Its name in the database.
        package let name: String
        /// The property that it stores; otherwise its own name.
        package let property: String
        /// The type of its values.
        package let type: AttributeType
        /// Whether whole numbers are kept as integers: see ``Attribute/keepsIntegers``.
        package var keepsIntegers = false

        /// The type of its parameters: see ``RelataCore/Column/boundType``.
        package var boundType: AttributeType { type.bound(keepsIntegers: keepsIntegers) }
    }

    /// The tables of a schema.
    ///
    /// - Parameter others: Further columns, by the names of their tables.
    package static func tables(
        of schema: Schema, dialect: Dialect, besides others: [String: [UndeclaredColumn]] = [:]
    ) -> [CopiedTable] {
        SchemaDDL.tables(of: schema, dialect: dialect).map { CopiedTable($0, schema, others[$0.name] ?? []) }
    }

    private init(_ description: TableDescription, _ schema: Schema, _ others: [UndeclaredColumn]) {
        table = description.name
        let entity = schema.index(ofTable: description.name).map { schema.tables[$0] }
        let join = schema.join(ofTable: description.name)
        name = entity?.name ?? join.map { "\(schema.tables[$0.source].name).\($0.property)" } ?? description.name
        var known: [String: Column] = [:]
        for column in entity?.columns ?? [] {
            known[column.name] = Column(
                name: column.name, property: column.property, type: column.type, keepsIntegers: column.keepsIntegers)
        }
        if let join {
            for (columns, side) in [(join.sourceColumns, join.source), (join.targetColumns, join.target)] {
                let target = schema.tables[side]
                for (column, key) in zip(columns, target.keyColumns) {
                    known[column] = Column(name: column, property: column, type: target.columns[key].type)
                }
            }
        }
        // All others that the schema declares are positions in lists.
        let declared = description.columns.map {
            known[$0.name] ?? Column(name: $0.name, property: $0.name, type: .integer)
        }
        columns =
            declared
            + others.map {
                Column(name: $0.name, property: $0.name, type: $0.type, keepsIntegers: $0.keepsIntegers)
            }
        key = description.primaryKey.compactMap { key in description.columns.firstIndex { $0.name == key } }
        assignedKey = description.isKeyAssigned ? description.primaryKey.first : nil
    }

    // MARK: Statements

    /// All rows in the order of their keys.
    ///
    /// - Parameter last: The key after which they begin.
    package func rows(_ dialect: Dialect, after last: [Value]?) -> SQLStatement {
        let names = key.map { columns[$0].name }
        var sql = selection(dialect)
        if last != nil {
            let parameters = zip(1..., key).map { dialect.parameter($0, as: columns[$1].boundType) }
            sql += " WHERE (\(dialect.list(names))) > (\(parameters.joined(separator: ", ")))"
        }
        return SQLStatement(sql + " ORDER BY \(dialect.list(names))", (last ?? []).map { .value($0) })
    }

    /// All rows in any order.
    package func allRows(_ dialect: Dialect) -> SQLStatement { SQLStatement(selection(dialect)) }

    private func selection(_ dialect: Dialect) -> String {
        "SELECT \(dialect.list(columns.map(\.name))) FROM \(dialect.quote(table))"
    }

    /// The statement that inserts rows: one on SQLite, a list for each column elsewhere.
    func insertion(_ dialect: Dialect) -> String {
        if dialect == .sqlite { return insertion(of: Array(columns.indices), dialect) }
        let into = "INSERT INTO \(dialect.quote(table)) (\(dialect.list(columns.map(\.name))))"
        let lists = dialect.rows(ofLists: columns.enumerated().map { ($0 + 1, $1.boundType) }, isNumbered: false)
        let names = columns.indices.map { "c\($0)" }.joined(separator: ", ")
        return "\(into) SELECT \(names) FROM \(lists) AS v(\(names))"
    }

    /// The statement that inserts one row with values for only some columns.
    package func insertion(of given: [Int], _ dialect: Dialect) -> String {
        let parameters = given.enumerated().map { dialect.parameter($0 + 1, as: columns[$1].boundType) }
        return "INSERT INTO \(dialect.quote(table)) (\(dialect.list(given.map { columns[$0].name }))) "
            + "VALUES (\(parameters.joined(separator: ", ")))"
    }

    // MARK: Values

    /// The values of a row of ``rows(_:after:)``, as its database stores them.
    package func values(_ row: Row) -> [Value] { columns.indices.map { row.value(at: $0, as: columns[$0].type) } }

    /// The name of a row in messages.
    func object(_ row: [Value]) -> String {
        name + " " + key.map { String(row[$0].description.prefix(80)) }.joined(separator: ", ")
    }

    /// The values of a row as a database of another engine stores them.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for a value that isn't of its column's type, which SQLite lets other
    ///   programs write.
    func fitting(_ row: [Value], for dialect: Dialect) throws(RelataError) -> [Value] {
        var result: [Value] = []
        result.reserveCapacity(row.count)
        for (value, column) in zip(row, columns) {
            guard let fitting = Self.fitting(value, column.type, keepsIntegers: column.keepsIntegers, dialect) else {
                throw .invalidUse(
                    "\(object(row)): \(column.property) holds \(Self.description(of: value)), which can't be stored as "
                        + "\(column.type) \(dialect == .sqlite ? "in a file" : "on a server"): fix it in the source, and "
                        + "run the copy again")
            }
            result.append(fitting)
        }
        return result
    }

    private static func description(of value: Value) -> String {
        if case .text(let text) = value, text.utf8.contains(0) { return "text with U+0000" }
        return String(value.description.prefix(40))
    }

    /// An equivalent value for a column of that type; `nil` if there is none.
    package static func fitting(
        _ value: Value, _ type: AttributeType, keepsIntegers: Bool = false, _ dialect: Dialect
    ) -> Value? {
        // `nil` means an unset value if both are possible.
        let none = Value?.none
        switch (type, value) {
        case (_, .null), (.integer, .integer), (.date(.microseconds), .integer), (.data, .blob), (.uuid(.blob), .uuid):
            return value
        case (.boolean, .integer(let number)): return number == 0 || number == 1 ? value : none
        case (.real, .integer) where keepsIntegers: return value
        case (.real, .real(let number)) where keepsIntegers && Int64(exactly: number) != nil:
            // As both engines store it.
            return Int64(exactly: number).map { .integer($0) }
        case (.real, .real(let number)) where keepsIntegers && dialect == .postgres && !number.isFinite:
            // No decimal number is infinite.
            return none
        case (.real, .real(let number)), (.date(.seconds), .real(let number)):
            return dialect == .sqlite && number.isNaN ? none : value
        // SQLite stores integers unchanged in a column for any numbers.
        case (.real, .integer(let number)), (.date(.seconds), .integer(let number)):
            return number.isRoundedByDouble ? none : .real(Double(number))
        case (.decimal, _): return value.stored(as: .decimal)
        case (.text, .text(let text)), (.json, .text(let text)), (.date(.iso8601), .text(let text)),
            (.uuid(.text), .text(let text)):
            return dialect == .postgres && text.utf8.contains(0) ? none : value
        default: return none
        }
    }
}
