import RelataCore
import RelataEngine
import RelataSQLite
import Testing

extension Property {
    static func id(_ type: AttributeType = .integer) -> Property { .attribute(Attribute("id", type: type)) }

    static func attribute(
        _ name: String, _ type: AttributeType = .text, isOptional: Bool = false, default value: Value? = nil,
        column: String? = nil, originalName: OriginalNames? = nil
    ) -> Property {
        .attribute(
            Attribute(
                name, column: column, type: type, isOptional: isOptional, defaultValue: value,
                originalName: originalName))
    }

    static func toOne(
        _ name: String, _ target: String, isOptional: Bool = true, onTargetDelete: DeleteRule? = nil,
        originalName: OriginalNames? = nil
    ) -> Property {
        .relationship(
            Relationship(
                name, target: target, kind: .toOne(isOptional: isOptional), onTargetDelete: onTargetDelete,
                originalName: originalName))
    }

    static func toMany(
        _ name: String, _ target: String, inverse: String, order: Relationship.Order? = nil
    ) -> Property {
        .relationship(Relationship(name, target: target, kind: .toMany(inverse: inverse), order: order))
    }

    static func hasOne(_ name: String, _ target: String, inverse: String) -> Property {
        .relationship(Relationship(name, target: target, kind: .hasOne(inverse: inverse)))
    }

    static func manyToMany(
        _ name: String, _ target: String, order: Relationship.Order? = nil, originalName: OriginalNames? = nil
    ) -> Property {
        .relationship(
            Relationship(name, target: target, kind: .manyToMany(), order: order, originalName: originalName))
    }

    static func manyToManyInverse(
        _ name: String, _ target: String, inverse: String, order: Relationship.Order? = nil
    ) -> Property {
        .relationship(Relationship(name, target: target, kind: .manyToManyInverse(inverse: inverse), order: order))
    }
}

/// A book with properties besides its id.
func book(_ properties: Property..., uniques: [[String]] = [], indexes: [[String]] = []) -> Entity {
    Entity(name: "Book", properties: [.id()] + properties, uniques: uniques, indexes: indexes)
}

/// A genre that has a name.
let genre = Entity(name: "Genre", properties: [.id(), .attribute("name", default: "")])

/// A file that models have made and filled, and other models open.
struct Evolution {
    let connection: Connection

    /// Makes the tables of the entities and fills them.
    init(_ entities: Entity..., filledBy sql: String = "") throws {
        connection = try Connection(path: nil)
        try SQLiteMigrator.migrate(connection, schema: try Schema(entities))
        try connection.execute(sql)
    }

    /// Opens the file with other models, checks that a second opening finds nothing to do, and returns the changes.
    @discardableResult
    func open(_ entities: Entity..., steps: [MigrationStep] = []) throws -> [String] {
        let schema = try Schema(entities)
        let prepared = try SQLiteMigrator.prepare(connection, schema: schema, steps: steps)
        let plan = try SQLiteMigrator.migrate(connection, schema: schema, steps: steps)
        #expect(prepared.changes == plan.changes)
        let again = try plannedWithoutFingerprint(schema)
        #expect(again.isEmpty, "\(again.changes)")
        #expect(try connection.lines("PRAGMA foreign_keys") == ["1"])
        #expect(try connection.lines("PRAGMA integrity_check") == ["ok"])
        return plan.changes.map(\.description)
    }

    /// What opening would change if the fingerprint were lost.
    private func plannedWithoutFingerprint(_ schema: Schema) throws -> MigrationPlan {
        try connection.execute("UPDATE relata_metadata SET value = 'lost' WHERE name = 'fingerprint'")
        let plan = try SQLiteMigrator.prepare(connection, schema: schema)
        try SQLiteMigrator.migrate(connection, schema: schema)
        return plan
    }

    /// What opening the file with other models refuses; the file must be as it was.
    func refusals(_ entities: Entity..., steps: [MigrationStep] = []) throws -> [String] {
        let before = try contents()
        do {
            try SQLiteMigrator.migrate(connection, schema: try Schema(entities), steps: steps)
            return []
        } catch RelataError.schemaMismatch(let problems) {
            #expect(try contents() == before)
            return problems.map(\.description)
        }
    }

    /// Everything the file holds, as text.
    func contents() throws -> [String] {
        let tables = try connection.lines("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        return try connection.lines("SELECT type, name, sql FROM sqlite_master ORDER BY name")
            + tables.flatMap { try connection.lines("SELECT * FROM \"\($0)\"") }
    }

    func lines(_ sql: String) throws -> [String] { try connection.lines(sql) }
}
