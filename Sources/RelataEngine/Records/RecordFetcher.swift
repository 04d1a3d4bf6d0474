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
        for together in connection.sentTogether(inclusions) {
            try load(together: together, of: table, into: &records)
        }
    }

    private func load(
        together inclusions: [IncludePlan], of table: Table, into records: inout [FetchedRecord]
    ) throws(RelataError) {
        var edges: [Edge] = []
        for inclusion in inclusions { edges.append(try edge(inclusion, of: table, records)) }
        // Without owners there is nothing to read.
        let read = edges.indices.filter { edges[$0].query != nil }
        try connection.rows(edges.compactMap(\.query?.statement)) { number, row throws(RelataError) in
            edges[read[number]].add(row)
        }
        for number in edges.indices {
            try load(edges[number].inclusion.children, of: edges[number].target, into: &edges[number].objects)
            let edge = edges[number]
            for index in records.indices {
                let members = (edge.members[records[index].key(at: edge.columns)] ?? []).map { edge.objects[$0] }
                records[index].links[edge.inclusion.relationship] =
                    edge.isToMany ? .many(members) : .one(members.first)
            }
        }
    }

    private func edge(
        _ inclusion: IncludePlan, of table: Table, _ records: [FetchedRecord]
    ) throws(RelataError) -> Edge {
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
        var edge = Edge(inclusion: inclusion, target: target, isToMany: relationship.isToMany, columns: columns)
        let owners = owners(records, columns)
        if owners.isEmpty { return edge }
        let plan = QueryPlan(entity: target.name, condition: inclusion.requiredCondition, sort: inclusion.sort)
        edge.query = try compiler.edge(
            plan, from: table.name, along: name, of: owners, limit: inclusion.limit)
        return edge
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
}

/// One relationship of many records, and the objects at its other end. One that several share is loaded once.
private struct Edge {
    let inclusion: IncludePlan
    let target: Table
    let isToMany: Bool
    /// The owners' columns by which the relationship is looked up.
    let columns: [Int]
    /// The statement for the objects; `nil` without owners.
    var query: CompiledQuery?
    var objects: [FetchedRecord] = []
    /// For each owner's key the places of its members among the objects.
    private(set) var members: [KeyValue: [Int]] = [:]
    private var places: [KeyValue: Int] = [:]

    init(inclusion: IncludePlan, target: Table, isToMany: Bool, columns: [Int]) {
        (self.inclusion, self.target, self.isToMany, self.columns) = (inclusion, target, isToMany, columns)
    }

    /// Adds a row, which has the owner's key and the object.
    mutating func add(_ row: Row) {
        let types = query?.columnTypes ?? []
        func values(_ range: Range<Int>) -> [Value] {
            range.map { row.value(at: $0, as: $0 < types.count ? types[$0] : nil) }
        }
        let width = columns.count
        let object = FetchedRecord(entity: target.index, values: values(width..<width + target.columns.count))
        let key = object.key(at: target.keyColumns)
        let place = places[key] ?? objects.count
        if place == objects.count {
            places[key] = place
            objects.append(object)
        }
        members[KeyValue(values(0..<width)), default: []].append(place)
    }
}
