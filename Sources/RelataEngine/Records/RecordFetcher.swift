import RelataCore

/// Fetches objects of types known at run time, and related ones: one statement for the objects and one for each
/// included relationship, for any number of objects.
///
/// Use it within a read transaction if others write at the same time: its statements should see one state.
package struct RecordFetcher {
    private let connection: Connection
    private let schema: Schema
    private let compiler: QueryCompiler

    /// Fetches the objects of a schema that the caller may see.
    package init(_ connection: Connection, schema: Schema, access: Access) {
        self.connection = connection
        self.schema = schema
        compiler = QueryCompiler(schema: schema, access: access, dialect: connection.dialect)
    }

    /// The objects of a query, in order.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for names that the schema doesn't have, and for trees: records are
    ///   loaded level by level.
    package func fetch(_ plan: QueryPlan, including inclusions: [IncludePlan] = []) throws(RelataError)
        -> [FetchedRecord]
    {
        let inclusions = try IncludePlan.merged(inclusions)
        var plan = plan
        if let required = IncludePlan.requirement(of: inclusions) {
            plan.condition = .and([plan.condition, required].compactMap(\.self))
        }
        let query = try compiler.select(plan)
        guard let entity = schema.index(of: plan.entity) else { return [] }
        var records: [FetchedRecord] = []
        for values in try connection.values(query.statement, types: query.columnTypes) {
            records.append(FetchedRecord(entity: entity, values: values))
        }
        try load(inclusions, of: schema.tables[entity], into: &records)
        return records
    }

    private func load(
        _ inclusions: [IncludePlan], of table: Table, into records: inout [FetchedRecord]
    ) throws(RelataError) {
        for inclusion in inclusions { try load(inclusion, of: table, into: &records) }
    }

    private func load(_ inclusion: IncludePlan, of table: Table, into records: inout [FetchedRecord])
        throws(RelataError)
    {
        let name = inclusion.relationship
        guard let relationship = table.entity.relationship(name), let target = schema[relationship.target],
            let link = table.links[name]
        else {
            let known = table.entity.relationships.map(\.name)
            throw .invalidUse(
                "\(table.name) has no relationship \(name)" + NameSuggestion.hint(for: name, among: known))
        }
        guard inclusion.recursion == nil else {
            throw .invalidUse(
                "\(table.name).\(name) can't be followed recursively for records: include it within itself instead")
        }
        // A to-one is found by its foreign key, everything else by the owner's key.
        let columns = if case .reference = link { table.columnIndexes(of: name) } else { table.keyColumns }
        let loaded = try members(of: inclusion, from: table, to: target, owners: owners(records, columns))
        for index in records.indices {
            let members = loaded[records[index].key(at: columns)] ?? []
            records[index].links[name] = relationship.isToMany ? .many(members) : .one(members.first)
        }
    }

    /// The keys by which a relationship is looked up, each once.
    private func owners(_ records: [FetchedRecord], _ columns: [Int]) -> KeyList {
        var owners = KeyList(width: columns.count)
        var seen: Set<KeyValue> = []
        for record in records {
            let key = record.key(at: columns)
            if !key.values.contains(.null), seen.insert(key).inserted { owners.append(key) }
        }
        return owners
    }

    /// The objects at the other end by the key of their owner. One that several share is loaded once.
    private func members(
        of inclusion: IncludePlan, from table: Table, to target: Table, owners: KeyList
    ) throws(RelataError) -> [KeyValue: [FetchedRecord]] {
        if owners.isEmpty { return [:] }
        let plan = QueryPlan(entity: target.name, condition: inclusion.requiredCondition, sort: inclusion.sort)
        let query = try compiler.edge(
            plan, from: table.name, along: inclusion.relationship, of: owners, limit: inclusion.limit)
        var objects: [FetchedRecord] = []
        var places: [KeyValue: Int] = [:]
        var members: [KeyValue: [Int]] = [:]
        for row in try connection.values(query.statement, types: query.columnTypes) {
            let values = row[owners.width...].prefix(target.columns.count)
            let object = FetchedRecord(entity: target.index, values: Array(values))
            let key = object.key(at: target.keyColumns)
            let place = places[key] ?? objects.count
            if place == objects.count {
                places[key] = place
                objects.append(object)
            }
            members[KeyValue(Array(row[..<owners.width])), default: []].append(place)
        }
        try load(inclusion.children, of: target, into: &objects)
        return members.mapValues { $0.map { objects[$0] } }
    }
}
