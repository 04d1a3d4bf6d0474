import Foundation
import RelataCore

@testable import RelataEngine
@testable import RelataSQLite

/// A database in memory with rows that a test writes by hand.
struct TestDatabase {
    let schema: Schema
    let connection: Connection

    init(_ entities: [Entity], trace: SQLTrace? = nil) throws {
        schema = try Schema(entities)
        connection = try Connection(path: nil, trace: trace)
        for statement in SchemaDDL.creation(of: schema, dialect: .sqlite) { try connection.execute(statement) }
    }

    func number(_ entity: String) throws -> Int {
        guard let number = schema.index(of: entity) else { throw RelataError.invalidUse("no entity \(entity)") }
        return number
    }

    /// Inserts rows of integers and texts; the columns are those of the table.
    func insert(_ table: String, _ rows: [Value]...) throws {
        for row in rows {
            let places = row.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
            try connection.execute(
                SQLStatement(
                    "INSERT INTO \(Dialect.sqlite.quote(table)) VALUES (\(places))", row.map { .value($0) }))
        }
    }

    func rows(_ table: String) throws -> [[Value]] {
        try connection.values(SQLStatement("SELECT * FROM \(Dialect.sqlite.quote(table)) ORDER BY 1"))
    }

    /// The first column of all rows.
    func keys(_ table: String) throws -> [Value] { try rows(table).map { $0[0] } }

    func plan(_ entity: String, _ keys: Value...) throws -> DeletionReport {
        try connection.deletionPlan(
            of: number(entity), roots: .keys(keys.map { KeyValue($0) }), schema: schema, access: .everything
        )
        .sorted()
    }

    @discardableResult
    func delete(
        _ entity: String, _ keys: Value..., method: Connection.DeletionMethod = .setBased
    ) throws -> DeletionReport {
        try delete(entity, roots: .keys(keys.map { KeyValue($0) }), method: method)
    }

    @discardableResult
    func delete(
        _ entity: String, roots: DeletionRoots, method: Connection.DeletionMethod = .setBased
    ) throws -> DeletionReport {
        let number = try number(entity)
        try connection.execute("BEGIN IMMEDIATE")
        do {
            let report = try connection.delete(entity: number, roots: roots, schema: schema, method: method)
            try connection.execute("COMMIT")
            return report.sorted()
        } catch {
            // The data must be unchanged even before the rollback.
            try connection.execute("COMMIT")
            throw error
        }
    }
}

/// Short ways to describe entities.
enum Describe {
    static func entity(_ name: String, _ properties: Property..., key: [String] = ["id"]) -> Entity {
        Entity(name: name, properties: [.attribute(Attribute("id", type: .integer))] + properties, key: key)
    }

    static func text(_ name: String) -> Property { .attribute(Attribute(name, type: .text, isOptional: true)) }

    static func toOne(
        _ name: String, _ target: String, required: Bool = false, rule: DeleteRule? = nil,
        whenTargetGoes: DeleteRule? = nil
    ) -> Property {
        .relationship(
            Relationship(
                name, target: target, kind: .toOne(isOptional: !required), deleteRule: rule,
                onTargetDelete: whenTargetGoes))
    }

    static func toMany(_ name: String, _ target: String, inverse: String, rule: DeleteRule? = nil) -> Property {
        .relationship(Relationship(name, target: target, kind: .toMany(inverse: inverse), deleteRule: rule))
    }

    static func manyToMany(_ name: String, _ target: String, rule: DeleteRule? = nil) -> Property {
        .relationship(Relationship(name, target: target, kind: .manyToMany(), deleteRule: rule))
    }

    static func manyToManyInverse(
        _ name: String, _ target: String, inverse: String, rule: DeleteRule? = nil
    ) -> Property {
        .relationship(Relationship(name, target: target, kind: .manyToManyInverse(inverse: inverse), deleteRule: rule))
    }
}

extension KeyList {
    /// A list of single integers.
    static func of(_ keys: Int64...) -> KeyList { KeyList(keys.map { KeyValue(.integer($0)) }) }
}
