import Foundation
import RelataCore
import RelataRecords
import RelataEngine

/// Chooses good examples in an unknown database.
struct WalkChooser {
    private let database: ToolDatabase
    private let fetcher: RecordFetcher
    private let label: RecordLabel
    private var schema: Schema { database.schema }

    init(_ database: ToolDatabase) {
        self.database = database
        fetcher = RecordFetcher(database.connection, schema: database.schema, access: .everything)
        label = RecordLabel(database.schema)
    }

    // MARK: A query

    /// The arguments of a query through as many relationships as can be had; `nil` for a database without objects.
    func fetch() throws(RelataError) -> [String]? {
        var best: (score: Int, arguments: [String])?
        for table in schema.tables {
            guard try !isEmpty(table) else { continue }
            let toOne = try toOneCondition(of: table)
            let toMany = try toManyCondition(of: table, among: toOne?.condition)
            let name = nameProperty(of: table)
            let score = (toOne == nil ? 0 : 4) + (toMany == nil ? 0 : 2) + (name == nil ? 0 : 1)
            guard score > best?.score ?? -1 else { continue }
            var arguments = [table.name]
            let conditions = [toOne?.text, toMany?.text].compactMap(\.self)
            if !conditions.isEmpty { arguments += ["--where", conditions.joined(separator: " AND ")] }
            if let name { arguments += ["--sort", name] }
            let included = [toOne?.property, toMany?.property].compactMap(\.self)
            if !included.isEmpty { arguments += ["--include", included.joined(separator: ",")] }
            best = (score, arguments + ["--limit", "5"])
        }
        return best?.arguments
    }

    private func isEmpty(_ table: Table) throws(RelataError) -> Bool {
        try fetcher.fetch(QueryPlan(entity: table.name, limit: 1)).isEmpty
    }

    /// The objects that refer to the object with the most of them, by its name.
    func toOneCondition(
        of table: Table
    ) throws(RelataError) -> (property: String, text: String, condition: ExpressionNode)? {
        for relationship in table.entity.relationships {
            guard case .reference(let number)? = table.links[relationship.name],
                let inverse = schema.references[number].inverse, relationship.target != table.name,
                let target = schema[relationship.target], let name = nameProperty(of: target),
                let column = target.columnIndexes(of: name).first,
                let record = try richest(target, in: inverse, limit: 1).first,
                case .text(let text) = record.values[column], text.count < 60
            else { continue }
            let path = [relationship.name, name]
            let literal = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            return (
                relationship.name, "\(path.joined(separator: ".")) == \"\(literal)\"",
                .comparison(.equal, .property(scope: 0, path: path), .value(.text(text)), [])
            )
        }
        return nil
    }

    /// The objects with at least as many related ones as the average of those that have any.
    private func toManyCondition(
        of table: Table, among condition: ExpressionNode?
    ) throws(RelataError) -> (property: String, text: String)? {
        // A join table is a better example than a foreign key.
        let relationships = table.entity.relationships.filter(\.isToMany)
        let sorted = relationships.filter(\.isManyToMany) + relationships.filter { !$0.isManyToMany }
        for relationship in sorted {
            let count = ExpressionNode.aggregate(
                .count, RelatedSet(scope: 0, path: [relationship.name], innerScope: 1), of: nil, filter: nil)
            let some = ExpressionNode.comparison(.greater, count, .value(0), [])
            let plan = QueryPlan(entity: table.name, condition: .and([some] + [condition].compactMap(\.self)))
            let totals = try QueryCompiler(schema: schema, access: .everything).totals(
                plan, [.groupAggregate(.average, of: count, isDistinct: false)])
            guard let average = try database.connection.value(totals.statement, as: .real), !average.isNull else {
                continue
            }
            let number = if case .real(let value) = average { Int(value.rounded(.up)) } else { 1 }
            return (relationship.name, "\(relationship.name).@count >= \(number)")
        }
        return nil
    }

    /// The property with the names of an entity's objects, if there is one.
    func nameProperty(of table: Table) -> String? {
        label.columns(of: table.index).first.map { table.columns[$0].property }
    }

    /// The objects of an entity with the most objects in a relationship.
    func richest(_ table: Table, in relationship: String, limit: Int) throws(RelataError) -> [FetchedRecord] {
        let set = RelatedSet(scope: 0, path: [relationship], innerScope: 1)
        let sort =
            table.entity.relationship(relationship)?.isToMany == true
            ? [SortTerm(.aggregate(.count, set, of: nil, filter: nil), isAscending: false)] : []
        return try fetcher.fetch(QueryPlan(entity: table.name, sort: sort, limit: limit))
    }

    /// The arguments that show the rest of the entity after a deletion.
    func remainder(of entity: String) -> [String] {
        guard let table = schema[entity] else { return [] }
        let included = table.entity.relationships.first { $0.isToMany }.map { ["--include", $0.name] } ?? []
        return [entity] + included + ["--limit", "5"]
    }

    // MARK: Deletions

    /// The arguments of the best example of a deletion that is, or isn't, denied; `nil` for none.
    func deletion(isDenied: Bool) throws(RelataError) -> [String]? {
        var best: (score: Int, arguments: [String])?
        for table in schema.tables {
            for record in try candidates(of: table) {
                let key = record.key(in: schema)
                guard let argument = argument(key) else { continue }
                let plan = try database.connection.deletionPlan(
                    of: table.index, roots: .keys([key]), schema: schema, access: .everything)
                // Small enough to be taken in, with as much in it as possible.
                let size = plan.deletedCount + plan.blockers.count
                let score =
                    plan.deleted.count * 4 + plan.nullified.count * 2 + plan.removedJoinRows.count * 2
                    - (size > 200 ? 5 : 0) - (plan.blockers.count > 3 ? 1 : 0)
                guard plan.isDenied == isDenied, score > best?.score ?? .min else { continue }
                best = (score, [table.name, argument])
            }
        }
        return best?.arguments
    }

    /// Objects with many dependents, and some without any.
    private func candidates(of table: Table) throws(RelataError) -> [FetchedRecord] {
        var records = try fetcher.fetch(QueryPlan(entity: table.name, limit: 5))
        for relationship in table.entity.relationships where relationship.isToMany {
            records += try richest(table, in: relationship.name, limit: 5)
            let none = ExpressionNode.comparison(
                .equal,
                .aggregate(
                    .count, RelatedSet(scope: 0, path: [relationship.name], innerScope: 1), of: nil, filter: nil),
                .value(0), [])
            records += try fetcher.fetch(QueryPlan(entity: table.name, condition: none, limit: 5))
        }
        return records
    }

    /// A key as command-line input, if possible.
    private func argument(_ key: KeyValue) -> String? {
        var parts: [String] = []
        for value in key.values {
            let text = value.description
            guard !value.isNull, !text.isEmpty, !text.hasPrefix("-"), !text.hasSuffix("bytes") else { return nil }
            parts.append(
                key.values.count == 1 ? text : text.replacing("\\", with: "\\\\").replacing(",", with: "\\,"))
        }
        return parts.joined(separator: ",")
    }
}

extension Relationship {
    var isManyToMany: Bool {
        switch kind {
        case .manyToMany, .manyToManyInverse: true
        case .toOne, .hasOne, .toMany, .through, .matched: false
        }
    }
}
