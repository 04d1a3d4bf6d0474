import RelataCore

/// Declared minimum and maximum counts of to-manys: which lists a save may have changed, checked when it is done.
package struct CountCheck {
    private struct List: Hashable {
        let table: Int
        let relationship: String
    }

    private var owners: [List: Set<KeyValue>] = [:]

    package init() {}

    /// The list that views a reference, of one owner.
    package mutating func noteOwner(_ owner: KeyValue, of reference: Reference, in schema: Schema) {
        guard reference.minimumCount != nil || reference.maximumCount != nil, let view = reference.inverse else {
            return
        }
        owners[List(table: reference.target, relationship: view), default: []].insert(owner)
    }

    /// The lists on the sides of a join.
    package mutating func noteSides(of join: Join, _ source: KeyValue?, _ target: KeyValue?) {
        if let source, join.minimumCount != nil || join.maximumCount != nil {
            owners[List(table: join.source, relationship: join.property), default: []].insert(source)
        }
        if let target, join.inverseMinimumCount != nil || join.inverseMaximumCount != nil, let inverse = join.inverse {
            owners[List(table: join.target, relationship: inverse), default: []].insert(target)
        }
    }

    /// All lists of an object that is written.
    package mutating func noteObject(_ key: KeyValue, _ table: Table) {
        for relationship in table.entity.relationships
        where relationship.minimumCount != nil || relationship.maximumCount != nil {
            owners[List(table: table.index, relationship: relationship.name), default: []].insert(key)
        }
    }

    /// Adds the lists of another check.
    package mutating func merge(_ other: CountCheck) {
        owners.merge(other.owners) { $0.union($1) }
    }

    /// Counts the lists that may have changed.
    ///
    /// - Throws: ``RelataError/validation(_:)`` with every list that has too few or too many members.
    package func check(connection: Connection, schema: Schema) throws {
        var failures: [ValidationFailure] = []
        let rowSQL = connection.rowSQL
        for (list, keys) in owners {
            let table = schema.tables[list.table]
            guard let relationship = table.entity.relationship(list.relationship),
                let counted = Self.source(table.links[list.relationship], schema, rowSQL)
            else { continue }
            for key in keys {
                // A deleted owner has no counts.
                let sql =
                    "SELECT count(*) FROM \(counted.rows) WHERE \(counted.isMember)"
                guard try connection.isStored(key, in: table),
                    case .integer(let count)? = try connection.value(
                        SQLStatement(sql, key.values.map(Parameter.value)))
                else { continue }
                let message: String? =
                    if let minimum = relationship.minimumCount, count < minimum {
                        "must have at least \(minimum), and has \(count)"
                    } else if let maximum = relationship.maximumCount, count > maximum {
                        "must have at most \(maximum), and has \(count)"
                    } else { nil }
                if let message {
                    failures.append(
                        ValidationFailure(entity: table.name, property: list.relationship, key: key, message: message))
                }
            }
        }
        if !failures.isEmpty { throw RelataError.validation(failures) }
    }

    private static func source(
        _ link: Link?, _ schema: Schema, _ rowSQL: RowSQL
    ) -> (rows: String, isMember: String)? {
        switch link {
        case .inverse(let number):
            let reference = schema.references[number]
            let rows = rowSQL.quote(schema.tables[reference.source].sqlName)
            return (rows, rowSQL.refers(reference, in: schema, from: 1))
        case .join(let number, let isSource):
            let join = schema.joins[number]
            let isMember = rowSQL.matches(join.columns(isSource: isSource).own, from: 1)
            return (schema.rows(of: join, rowSQL.dialect), isMember)
        default: return nil
        }
    }
}
