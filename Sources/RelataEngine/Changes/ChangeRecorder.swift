import RelataCore

/// Records a transaction's changes, for observers and feeds when it is committed.
@_documentation(visibility: internal)
package final class ChangeRecorder {
    /// The entities as the transaction sees them.
    private(set) var entities: ChangeEntities
    /// Whether objects are listed one by one, or only the tables.
    package let listsRows: Bool
    /// The tables and columns that the statements read and write.
    package let accesses = AccessLog()
    private var records: [Record] = []
    /// The last record of each entity, which takes further changes of the same kind.
    private var open: [Int: Int] = [:]
    /// The end of the change log after the transaction.
    var position: ChangePosition?
    /// Whether others are notified of the transaction once it is committed.
    var isAnnounced = false
    /// The origin of the transaction.
    package var origin: ChangeOrigin?

    struct Record {
        let table: Int
        let kind: Change.Kind
        let properties: [String]
        var keys: KeyList
    }

    init(_ entities: ChangeEntities, listsRows: Bool) {
        self.entities = entities
        self.listsRows = listsRows
    }

    /// The entities.
    package var schema: Schema { entities.schema }

    /// Sets the entities as the transaction sees them. Entities with records keep their numbers.
    package func follow(_ entities: ChangeEntities) { self.entities = entities }

    // MARK: Recording

    /// Records objects of an entity that a statement changed.
    package func record(_ kind: Change.Kind, _ table: Int, _ keys: KeyList, properties: [String] = []) {
        guard listsRows, !keys.isEmpty else { return }
        records.merge(Record(table: table, kind: kind, properties: properties, keys: keys), into: &open)
    }

    /// Records an object that a statement changed.
    package func record(_ kind: Change.Kind, _ table: Int, _ key: KeyValue, properties: [String] = []) {
        guard listsRows else { return }
        record(kind, table, KeyList([key]), properties: properties)
    }

    /// Records that two objects were linked or unlinked by a many-to-many.
    package func recordLink(_ join: Join, sources: KeyList, targets: KeyList) {
        record(.update, join.source, sources, properties: [join.property])
        if let inverse = join.inverse { record(.update, join.target, targets, properties: [inverse]) }
    }

    /// Records a deletion.
    ///
    /// - Parameter schema: The schema whose entities the report names: their numbers are those of ``entities``, and the
    ///   names may differ.
    package func record(_ report: DeletionReport, in schema: Schema) {
        guard listsRows else { return }
        for links in report.nullified {
            guard let table = schema[links.entity] else { continue }
            record(
                .update, table.index, links.keys,
                properties: links.property.split(separator: ", ").map(String.init) + table.stampProperties)
        }
        for rows in report.removedJoinRows {
            guard let join = schema.join(of: rows) else { continue }
            recordLink(
                join, sources: rows.sources.distinct(without: report.deletedKeys(of: schema.tables[join.source].name)),
                targets: rows.targets.distinct(without: report.deletedKeys(of: schema.tables[join.target].name)))
        }
        for objects in report.deleted {
            if let table = schema.index(of: objects.entity) { record(.delete, table, objects.keys) }
        }
    }

    // MARK: Savepoints

    /// The current position in the records.
    package func mark() -> Int {
        open = [:]
        return records.count
    }

    /// Discards the records since a mark. Tables that were written still count as written, which costs at most a query
    /// without new results.
    package func rollBack(to mark: Int) {
        open = [:]
        records.removeLast(records.count - mark)
    }

    // MARK: The result

    /// The changes of the transaction.
    func changeSet() -> ChangeSet {
        var merged: [Record] = []
        var open: [Int: Int] = [:]
        for record in records { merged.merge(record, into: &open) }
        return ChangeSet(changes(merged), position: position, origin: origin)
    }

    /// The records one by one, as the change log keeps them.
    var statements: [Change] { changes(records) }

    private func changes(_ records: [Record]) -> [Change] {
        records.map {
            Change(entity: schema.tables[$0.table].name, kind: $0.kind, keys: $0.keys, properties: $0.properties)
        } + unlistedTables().map { Change(entity: $0, kind: .unknown) }
    }

    /// Names of entities (or of tables without one) that were written without a record.
    private func unlistedTables() -> [String] {
        var tables = accesses.unlisted
        if !listsRows { tables.formUnion(accesses.writes.tables.keys) }
        if accesses.writes.isEverything { tables.formUnion(schema.tables.map(\.sqlName)) }
        return tables.filter { !ReservedNames.isInternal($0) }
            .map(entities.name(ofTable:)).sorted()
    }
}

extension [ChangeRecorder.Record] {
    /// Adds a record, to the entity's last one if that is of the same kind.
    fileprivate mutating func merge(_ record: Element, into open: inout [Int: Int]) {
        if let index = open[record.table], self[index].kind == record.kind,
            self[index].properties == record.properties, self[index].keys.width == record.keys.width
        {
            let last = self[index].keys.last
            for (number, key) in record.keys.enumerated() where number > 0 || key != last {
                self[index].keys.append(key)
            }
        } else {
            open[record.table] = count
            append(record)
        }
    }
}

extension KeyList {
    /// Each key once, without those of another list.
    fileprivate func distinct(without others: KeyList) -> KeyList {
        var seen = Set(others)
        var result = KeyList(width: width)
        for key in self where seen.insert(key).inserted { result.append(key) }
        return result
    }
}
