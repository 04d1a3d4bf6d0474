import Foundation
import RelataCore
import RelataEngine
import RelataSQLite
import TestSupport
import Testing

/// In every query, hidden rows have no more effect than rows that don't exist.
struct AccessPropertyTests {
    @Test(arguments: Array(1...24) + [26, 34, 114, 162])
    func hiddenRowsAppearNowhere(_ seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let library = try AccessLibrary(&random)
        for round in 0..<40 {
            var run = AccessRun(library: library, random: random, note: "seed \(seed), round \(round)")
            run.compareAll()
            random = run.random
        }
    }

    @Test(arguments: 1...12)
    func hiddenRowsOfLinksAppearNowhere(_ seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let library = try AccessLibrary(&random)
        for round in 0..<40 {
            var run = AccessRun(library: library, random: random, note: "seed \(seed), round \(round)")
            run.compareRecords()
            random = run.random
        }
    }

    /// Delete rules are those of the schema: the same objects are deleted, and the hidden ones are counted.
    @Test(arguments: 1...24)
    func deletionsNeverNameHiddenObjects(_ seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let library = try AccessLibrary(&random)
        for round in 0..<12 {
            var run = AccessRun(library: library, random: random, note: "seed \(seed), round \(round)")
            try run.compareDeletion()
            random = run.random
        }
    }
}

/// Asks both libraries the same.
private struct AccessRun {
    let library: AccessLibrary
    var random: SeededGenerator
    let note: String

    private var schema: Schema { library.schema }

    private mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    private mutating func make<Result>(_ body: (inout RandomQueries) -> Result) -> Result {
        var queries = RandomQueries(schema: schema, random: random)
        defer { random = queries.random }
        return body(&queries)
    }

    // MARK: Queries

    private mutating func table() -> Table { schema.tables.randomElement(using: &random) ?? schema.tables[0] }

    private mutating func link(of table: Table, where fits: (Relationship) -> Bool) -> Relationship? {
        table.entity.relationships.filter(fits).randomElement(using: &random)
    }

    private mutating func sort(_ table: Table) -> SortTerm {
        switch number(0...3) {
        case 0:
            if let toOne = link(of: table, where: { !$0.isToMany }) {
                return SortTerm(the(toOne.name), isAscending: number(0...1) == 0)
            }
        case 1:
            if let toMany = link(of: table, where: \.isToMany) {
                return SortTerm(.aggregate(.count, set(toMany.name), of: nil, filter: nil), isAscending: false)
            }
        default: break
        }
        return make { $0.sortTerm(table) }
    }

    private mutating func plan(_ table: Table, depth: Int = 2) -> QueryPlan {
        var conditions = [make { $0.condition([table], depth: depth) }]
        if number(0...2) == 0, let toOne = link(of: table, where: { !$0.isToMany }),
            let target = schema[toOne.target], depth > 0
        {
            var inner = plan(target, depth: depth - 1)
            if number(0...1) == 0 { inner.limit = number(1...4) }
            let node = ExpressionNode.inQuery(the(toOne.name), inner, selecting: nil)
            conditions.append(number(0...3) == 0 ? .not(node) : node)
        }
        if number(0...3) == 0 { conditions = [] }
        let sort = (0..<number(0...2)).map { _ in self.sort(table) }
        return QueryPlan(
            entity: table.name,
            condition: conditions.isEmpty ? nil : conditions.count == 1 ? conditions[0] : .or(conditions),
            sort: sort)
    }

    /// Asks both libraries, each with its own compiler, and compares the answers.
    private func compare<Answer: Equatable>(
        _ what: String, _ ask: (QueryLibrary, QueryCompiler) throws -> Answer
    ) {
        let place = "\(note), \(what), hiding \(library.description)"
        do {
            let (limited, expected) = (
                try ask(library.full, library.limited), try ask(library.rest, library.rest.compiler)
            )
            #expect(limited == expected, "\(place)")
        } catch {
            Issue.record("\(place): \(error)")
        }
    }

    mutating func compareAll() {
        let table = table()
        let plan = plan(table)
        compare("keys \(plan)") { try $0.run($1.keys(plan)) }
        compare("count \(plan)") { try $0.connection.value($1.count(plan)) }
        compare("exists \(plan)") { try $0.connection.value($1.exists(plan)) }
        compareParts(plan, table)
        compareFigures(plan, table)
        comparePages(plan, table)
        compareMembers(table)
        compareEdges(table)
        compareUpdate(plan, table)
        compareSearch(plan, table)
    }

    /// The matches, their relevance and their order.
    private mutating func compareSearch(_ plan: QueryPlan, _ table: Table) {
        guard table.entity.search != nil else { return }
        // The other comparisons stay the same for each seed.
        let before = random
        defer { random = before }
        let text = ["a", "k1 OR a OR b", "a*", "k*", "\"a\" -b", "e OR k2"].randomElement(using: &random) ?? "a"
        var plan = plan
        plan.sort = []
        if number(0...1) == 0 { plan.condition = nil }
        if number(0...1) == 0 { plan.limit = number(1...4) }
        plan.search = ObjectSearch(SearchText(text))
        let search = plan
        // The same access makes no difference if nothing is hidden, except for the way that relevance is counted.
        let access = library.access
        compare("search \(search)") { library, compiler in
            let compiler = QueryCompiler(schema: compiler.schema, access: access)
            return try library.run(compiler.select(search, columns: .expressions([the(""), .relevance])))
        }
        compare("number found \(search)") { try $0.connection.value($1.count(search)) }
        var condition = QueryPlan(entity: table.name, condition: .found(ObjectSearch(SearchText(text))))
        if number(0...1) == 0 { condition.condition = condition.condition.map { .not($0) } }
        let matching = condition
        compare("matching \(matching)") { try $0.run($1.keys(matching)) }
        guard let toOne = link(of: table, where: { !$0.isToMany }), schema[toOne.target]?.entity.search != nil else {
            return
        }
        let linked = QueryPlan(
            entity: table.name, condition: .found(ObjectSearch(SearchText(text), path: [toOne.name])))
        compare("linked \(linked)") { try $0.run($1.keys(linked)) }
    }

    /// Values on paths through links, keys that to-ones hold, and objects at the end of to-ones.
    private mutating func compareParts(_ plan: QueryPlan, _ table: Table) {
        var parts: [SelectedPart] = [.key(path: [])]
        for toOne in table.entity.relationships where !toOne.isToMany {
            parts.append(.expression(the(toOne.name)))
            parts.append(.key(path: [toOne.name]))
            parts.append(.expression(the(toOne.name + ".level")))
            guard let target = schema[toOne.target], number(0...1) == 0 else { continue }
            for next in target.entity.relationships where !next.isToMany {
                parts.append(.expression(the("\(toOne.name).\(next.name)")))
                parts.append(.expression(.isNull(the("\(toOne.name).\(next.name)"))))
            }
        }
        for toMany in table.entity.relationships where toMany.isToMany {
            let isDistinct = number(0...1) == 0
            var members = set(toMany.name)
            members.isDistinct = isDistinct
            parts.append(.expression(.aggregate(.sum, members, of: the("level", 1), filter: nil)))
            parts.append(.expression(.quantified(.any, members, condition: the("level", 1) > 0)))
        }
        var plan = plan
        plan.limit = number(1...8)
        compare("parts \(plan)") { try $0.run($1.select(plan, columns: .parts(parts))) }
        plan.isDistinct = true
        plan.limit = nil
        let values = parts.dropFirst().prefix(3)
        compare("distinct values \(plan)") {
            Set(try $0.run($1.select(plan, columns: .parts(Array(values)))))
        }
    }

    private mutating func compareFigures(_ plan: QueryPlan, _ table: Table) {
        var whole = plan
        whole.sort = []
        var figures: [ExpressionNode] = [
            .groupAggregate(.count, of: nil, isDistinct: false),
            .groupAggregate(.sum, of: the("level"), isDistinct: false),
        ]
        let schema = schema
        guard let toOne = link(of: table, where: { !$0.isToMany && schema[$0.target]?.keyColumns.count == 1 }) else {
            return compare("totals \(plan)") { try $0.run($1.totals(whole, figures)) }
        }
        figures.append(.groupAggregate(.count, of: the(toOne.name), isDistinct: true))
        figures.append(.groupAggregate(.maximum, of: the(toOne.name + ".level"), isDistinct: false))
        let all = figures
        compare("totals \(whole)") { try $0.run($1.totals(whole, all)) }
        compare("groups by \(toOne.name) \(whole)") {
            Set(try $0.run($1.grouped(whole, by: [the(toOne.name)], columns: [the(toOne.name)] + all)))
        }
        var part = plan
        part.limit = number(1...5)
        part.offset = number(0...2)
        let limited = part
        compare("totals \(limited)") { try $0.run($1.totals(limited, all)) }
    }

    private mutating func comparePages(_ plan: QueryPlan, _ table: Table) {
        var plan = plan
        plan.limit = number(1...4)
        let page = plan
        compare("pages \(page)") { library, compiler in
            var rows: [[Value]] = []
            var place: PagePosition?
            repeat {
                let query = try compiler.select(
                    page, columns: .expressions([the("")]), after: place, tellsPlace: true)
                let found = try library.run(query)
                rows += found
                place =
                    found.count < page.limit ?? 0
                    ? nil
                    : found.last.map { PagePosition(Array($0.suffix(query.placeColumns)), order: query.placeOrder) }
            } while place != nil && rows.count < 200
            return rows
        }
    }

    /// Lists of one object, which may be hidden itself.
    private mutating func compareMembers(_ table: Table) {
        for relationship in table.entity.relationships {
            for key in library.someKeys(of: table, &random).prefix(3) {
                let isRecursive = relationship.target == table.name && number(0...1) == 0
                var plan = QueryPlan(
                    entity: relationship.target,
                    relatedTo: RelatedOwner(
                        entity: table.name, relationship: relationship.name, key: key, isRecursive: isRecursive))
                plan.isDistinct = number(0...1) == 0
                let members = plan
                compare("members \(members)") { try $0.run($1.keys(members)) }
                compare("number of members \(members)") { try $0.connection.value($1.count(members)) }
            }
        }
    }

    /// Lists of many objects, which may be hidden themselves.
    private mutating func compareEdges(_ table: Table) {
        for relationship in table.entity.relationships {
            guard let target = schema[relationship.target], let link = table.links[relationship.name] else { continue }
            let owned = link.isReference ? target : table
            var owners: KeyList? = KeyList(
                library.someKeys(of: owned, &random), width: owned.keyColumns.count)
            let isTree = relationship.target == table.name && owned.keyColumns.count == 1 && number(0...1) == 0
            let recursion = isTree ? IncludePlan.Recursion(depth: number(0...1) == 0 ? nil : number(1...3)) : nil
            let limit = recursion == nil && number(0...1) == 0 ? number(1...3) : nil
            if recursion == nil, limit == nil, number(0...2) == 0 { owners = nil }
            let plan = QueryPlan(
                entity: target.name, condition: number(0...1) == 0 ? make { $0.condition([target], depth: 1) } : nil,
                sort: number(0...1) == 0 ? [sort(target)] : [])
            let (tellsRows, sortsRows) = (recursion == nil && number(0...1) == 0, number(0...1) == 0)
            let given = owners
            compare(
                "edges \(table.name).\(relationship.name) of \(given.map { "\($0)" } ?? "all"), \(plan), \(String(describing: recursion)), \(String(describing: limit))"
            ) {
                let query = try $1.edge(
                    plan, from: table.name, along: relationship.name, of: given,
                    columns: .parts([.key(path: []), .expression(the("level"))]), limit: limit, tellsRows: tellsRows,
                    sortsRows: sortsRows, following: recursion)
                // Rows without an owner are left out of the comparison.
                return try $0.run(query).filter { $0[0] != .null }.map { "\($0)" }.sorted()
            }
        }
    }

    private mutating func compareUpdate(_ plan: QueryPlan, _ table: Table) {
        var plan = plan
        if number(0...1) == 0 { plan.limit = number(1...4) }
        var value: ExpressionNode = .arithmetic(.add, the("level"), .value(1))
        if let toOne = link(of: table, where: { !$0.isToMany }), number(0...1) == 0 {
            value = .function(.coalesce, [the(toOne.name + ".level"), .value(7)])
        }
        let (changed, assigned) = (plan, value)
        compare("update \(changed) to \(assigned)") { library, compiler in
            let query = try compiler.update(
                changed, [Assignment("level", assigned)], returnsKeys: true,
                returned: [
                    table.columns.firstIndex { $0.name == "level" } ?? 0
                ])
            try library.connection.execute("SAVEPOINT change")
            defer { try? library.connection.execute("ROLLBACK TO change; RELEASE change") }
            return Set(try library.run(query))
        }
    }

    // MARK: Records

    private mutating func include(_ table: Table, depth: Int) -> [IncludePlan] {
        table.entity.relationships.filter { _ in number(0...1) == 0 }.map { relationship in
            guard let target = schema[relationship.target] else { return IncludePlan(relationship.name) }
            var plan = IncludePlan(relationship.name)
            if number(0...3) == 0 { plan.condition = make { $0.condition([target], depth: 1) } }
            if number(0...3) == 0 { plan.sort = [sort(target)] }
            if relationship.isToMany, number(0...2) == 0 { plan.limit = number(1...3) }
            plan.isRequired = number(0...5) == 0
            if depth > 0 { plan.children = include(target, depth: depth - 1) }
            return plan
        }
    }

    mutating func compareRecords() {
        let table = table()
        let plan = plan(table)
        let inclusions = include(table, depth: 2)
        compare("records \(plan) with \(inclusions)") { library, compiler in
            let fetcher = RecordFetcher(library.connection, schema: compiler.schema, access: compiler.access)
            let records = try fetcher.fetch(plan, including: inclusions).map(describe)
            return plan.sort.isEmpty ? records.sorted() : records
        }
    }

    /// A record without the keys that its to-ones hold: these stay in the row.
    private func describe(_ record: FetchedRecord) -> String {
        let table = schema.tables[record.entity]
        let values = zip(table.columns, record.values).filter { $0.0.reference == nil }.map { "\($0.1)" }
        let links = record.links.sorted { $0.key < $1.key }.map { name, link in
            "\(name): [\(link.records.map(describe).joined(separator: ", "))]"
        }
        return "\(table.name)(\((values + links).joined(separator: ", ")))"
    }

    // MARK: Deletions

    mutating func compareDeletion() throws {
        let table = table()
        let connection = library.full.connection
        let keys = library.someKeys(of: table, &random)
        func seen(_ keys: some Sequence<KeyValue>, of entity: String) throws -> Set<KeyValue> {
            let plan = QueryPlan(entity: entity, condition: .keyIn(the(""), Array(keys)))
            return Set(try library.full.run(library.limited.keys(plan)).map { KeyValue($0) })
        }
        let roots = DeletionRoots.keys(try keys.filter { try !seen([$0], of: table.name).isEmpty })
        let all = try connection.deletionPlan(of: table.index, roots: roots, schema: schema, access: .everything)
        let plan = try connection.deletionPlan(
            of: table.index, roots: .keys(keys), schema: schema, access: library.access)
        let place = "\(note), deleting \(keys) of \(table.name), hiding \(library.description)"
        #expect(plan.deletedCount == all.deletedCount && plan.isDenied == all.isDenied, "\(place)")
        for (limited, whole) in zip(plan.deleted, all.deleted) {
            let visible = try seen(whole.keys, of: whole.entity)
            #expect(Set(limited.keys) == visible, "\(place)")
            #expect(limited.hiddenCount == whole.keys.count - visible.count, "\(place)")
        }
        for (limited, whole) in zip(plan.nullified, all.nullified) {
            let visible = try seen(whole.keys, of: whole.entity)
            #expect(Set(limited.keys) == visible, "\(place)")
            #expect(limited.hiddenCount == whole.keys.count - visible.count, "\(place)")
        }
        for (limited, whole) in zip(plan.removedJoinRows, all.removedJoinRows) {
            let join = try #require(
                schema.joins.first { "\(schema.tables[$0.source].name).\($0.property)" == whole.relationship })
            let sources = try seen(whole.sources, of: schema.tables[join.source].name)
            let targets = try seen(whole.targets, of: schema.tables[join.target].name)
            let visible = whole.pairs.filter { sources.contains($0.source) && targets.contains($0.target) }
            #expect(limited.sources.count == visible.count && limited.count == whole.count, "\(place)")
            #expect(Set(limited.sources) == Set(visible.map(\.source)), "\(place)")
            #expect(Set(limited.targets) == Set(visible.map(\.target)), "\(place)")
        }
        #expect(plan.blockers.count + plan.hiddenBlockerCount == all.blockers.count, "\(place)")
        // The deletion matches the plan.
        try connection.execute("BEGIN")
        defer { try? connection.execute("ROLLBACK") }
        guard !plan.isDenied else { return }
        let done = try connection.delete(
            entity: table.index, roots: .keys(keys), schema: schema, access: library.access)
        #expect(done.sorted() == plan.sorted(), "\(place)")
    }
}
