import RelataCore
import RelataEngine

/// The schema and contents of a database, as text or JSON.
struct Inspection {
    private let database: ToolDatabase
    /// The number of objects each entity has, and the number of rows each join table; `nil` if they can't be counted.
    private var counts: [Int?] = []
    private var joinCounts: [Int?] = []
    /// Facts about the tables that no entity can describe, and which of them can't be counted.
    private var notes: [SchemaProblem]

    init(_ database: ToolDatabase, progress: Progress) throws {
        self.database = database
        notes = database.notes
        let dialect = database.connection.dialect
        for table in database.schema.tables {
            counts.append(try count(table.stored(dialect), of: table.sqlName, progress))
        }
        for join in database.schema.joins {
            joinCounts.append(try count(join.stored(dialect), of: join.table, progress))
        }
        try leaveOutKeyless()
    }

    private mutating func count(_ rows: String, of table: String, _ progress: Progress) throws -> Int? {
        progress.step("counting \(table)")
        let statement = SQLStatement("SELECT count(*) FROM \(rows)")
        do {
            // A server ends the transaction with a statement that fails, unless that is one of a savepoint.
            let found = try database.connection.savepoint { try database.connection.value(statement) }
            guard case .integer(let count)? = found else { return 0 }
            return Int(count)
        } catch let error as RelataError {
            let reason: String
            switch error {
            // The program that made the file may sort by its own collation.
            case .database(_, let message, _): reason = message
            // A view may call a function that fails, or that the role may not call.
            case .invalidUse(let message), .fileAccess(_, let message): reason = message
            default: throw error
            }
            guard database.connection.isInTransaction else { throw error }
            notes.append(SchemaProblem(entity: table, message: "its rows can't be counted: \(reason)"))
            return nil
        }
    }

    /// Subtracts rows without a key from the counts, because queries leave them out.
    private mutating func leaveOutKeyless() throws {
        for table in database.schema.tables where table.entity.mayLackKeys {
            let dialect = database.connection.dialect
            let sql =
                "SELECT count(*) FROM \(dialect.quote(table.sqlName)) WHERE NOT (\(dialect.areSet(table.keyColumnNames)))"
            guard let count = counts[table.index],
                case .integer(let keyless)? = try database.connection.value(SQLStatement(sql)), keyless > 0
            else { continue }
            counts[table.index] = count - Int(keyless)
            notes.append(
                SchemaProblem(
                    entity: table.name,
                    message: "\(DisplayText.count(Int(keyless), "row has", "rows have")) no key: nothing can address "
                        + (keyless == 1 ? "it, and it is left out" : "them, and they are left out")))
        }
    }

    // MARK: Text

    /// The entities for a person, each with its attributes and relationships.
    func lines() -> [String] {
        let schema = database.schema
        let total = DisplayText.count(counts.reduce(0) { $0 + ($1 ?? 0) }, "object")
        var lines = [
            "\(database.name): \(DisplayText.count(schema.tables.count, "entity", "entities")), \(total)"
        ]
        for table in schema.tables {
            var name = table.sqlName == table.name ? table.name : "\(table.name) (table \(table.sqlName))"
            if let kind = table.entity.source?.kind, kind != .table { name += " (\(kind.rawValue))" }
            let count = counts[table.index].map { DisplayText.count($0, "object") } ?? "not counted"
            lines += ["", "\(name) · \(count)"]
            lines += DisplayText.wrapped(table.entity.attributes.map { attribute($0, of: table) }, indent: "  ")
            for unique in table.entity.uniques where unique.count > 1 {
                lines.append("  unique together: \(unique.joined(separator: ", "))")
            }
            lines += relationshipLines(of: table)
        }
        if !notes.isEmpty { lines += [""] + notes.map { "note: \($0)" } }
        return lines.map(DisplayText.visible)
    }

    private func attribute(_ attribute: Attribute, of table: Table) -> String {
        let marks = [
            table.entity.key.contains(attribute.name) ? "key" : nil,
            table.entity.uniques.contains([attribute.name]) ? "unique" : nil,
            attribute.declaredType, attribute.isGenerated ? "generated" : nil,
        ].compactMap(\.self)
        return "\(attribute.name): \(attribute.type.word)\(attribute.isOptional ? "?" : "")"
            + (marks.isEmpty ? "" : " (\(marks.joined(separator: ", ")))")
    }

    private func relationshipLines(of table: Table) -> [String] {
        let relationships = table.entity.relationships
        let nameWidth = relationships.map { DisplayText.width($0.name) }.max() ?? 0
        let targetWidth = relationships.map { DisplayText.width($0.target) }.max() ?? 0
        return relationships.map { relationship in
            var words = RelationshipSummary(relationship, of: table, in: database.schema).words
            if table.entity.key.contains(relationship.name) { words.insert("key", at: 1) }
            return "  " + DisplayText.padded(relationship.name, to: nameWidth) + (relationship.isToMany ? " ⇉ " : " → ")
                + DisplayText.padded(relationship.target, to: targetWidth) + "  " + words.joined(separator: ", ")
        }
    }

    // MARK: JSON

    /// The entities for a program.
    func json() -> JSONValue {
        [
            "file": .string(database.name),
            "entities": .array(database.schema.tables.map(json)),
            "joinTables": .array(database.schema.joins.map(json)),
            "notes": JSONValue(notes.map(\.description)),
        ]
    }

    private func json(_ table: Table) -> JSONValue {
        let relationships = table.entity.relationships.map {
            RelationshipSummary($0, of: table, in: database.schema).json
        }
        var members: JSONObject = [
            "name": .string(table.name), "table": .string(table.entity.source?.fullName ?? table.sqlName),
            "count": counts[table.index].map { JSONValue($0) } ?? .null,
            "key": JSONValue(table.entity.key),
            "attributes": .array(table.entity.attributes.map { json($0, of: table) }),
            "relationships": .array(relationships),
            "uniques": .array(table.entity.uniques.map { JSONValue($0) }),
        ]
        if let kind = table.entity.source?.kind { members["kind"] = .string(kind.rawValue) }
        return .object(members)
    }

    private func json(_ attribute: Attribute, of table: Table) -> JSONValue {
        let isUnique = table.entity.uniques.contains([attribute.name]) || table.entity.key == [attribute.name]
        var members: JSONObject = [
            "name": .string(attribute.name), "column": .string(attribute.column), "type": .string(attribute.type.word),
            "optional": .bool(attribute.isOptional), "unique": .bool(isUnique),
            "key": .bool(table.entity.key.contains(attribute.name)),
        ]
        if let declared = attribute.declaredType { members["declaredType"] = .string(declared) }
        if attribute.isGenerated { members["generated"] = true }
        if let value = attribute.defaultValue { members["default"] = JSONValue(value, as: attribute.type) }
        return .object(members)
    }

    private func json(_ join: Join) -> JSONValue {
        [
            "table": .string(join.table), "count": joinCounts[join.index].map { JSONValue($0) } ?? .null,
            "source": .string(database.schema.tables[join.source].name), "property": .string(join.property),
            "target": .string(database.schema.tables[join.target].name),
        ]
    }
}
