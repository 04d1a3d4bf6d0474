import RelataCore
import Synchronization

/// The entities that changes are reported for. Immutable: classes that are created while a store is open make a new
/// instance.
package final class ChangeEntities: Sendable {
    /// The entities, by number.
    package let schema: Schema
    /// The entities' names by the names of their tables; made on first use, because most stores don't need them.
    private let names = Mutex<[FoldedName: String]?>(nil)

    /// The entities of a schema.
    package init(_ schema: Schema) {
        self.schema = schema
    }

    /// The name of the entity of a table; the table's own name for one without an entity.
    func name(ofTable table: String) -> String {
        names.withLock { names in
            let known =
                names ?? Dictionary(schema.tables.map { ($0.sqlName.foldedName, $0.name) }) { first, _ in first }
            names = known
            return known[table.foldedName] ?? table
        }
    }

    /// The changes of a region that was written elsewhere: the entities only. Links belong to the entities at both
    /// ends.
    package func unknownChanges(of region: TableRegion) -> [Change] {
        let names =
            region.isEverything
            ? schema.tables.map(\.name)
            : Set(
                region.tables.keys.filter { !ReservedNames.isInternal($0) && !$0.hasPrefix("pg_") }.flatMap(
                    entities(ofTable:))
            )
            .sorted()
        return names.map { Change(entity: $0, kind: .unknown) }
    }

    private func entities(ofTable table: String) -> [String] {
        guard let join = schema.join(ofTable: table) else { return [name(ofTable: table)] }
        return [schema.tables[join.source].name, schema.tables[join.target].name]
    }
}
