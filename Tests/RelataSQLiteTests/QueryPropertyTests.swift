import Foundation
import RelataCore
import RelataEngine
import RelataSQLite
import TestSupport
import Testing

/// Random conditions over random data find the same objects in SQL as in Swift.
struct QueryPropertyTests {
    @Test(arguments: 1...24)
    func queriesAgreeWithTheOracle(_ seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let library = try QueryLibrary()
        try RandomQueries.fill(library, &random)
        let oracle = QueryOracle(schema: library.schema, rows: library.rows)
        for round in 0..<60 {
            let table = library.schema.tables.randomElement(using: &random)!
            var queries = RandomQueries(schema: library.schema, random: random)
            let condition = queries.condition([table], depth: 3)
            let sort = (0..<queries.number(0...2)).map { _ in queries.sortTerm(table) }
            random = queries.random
            let plan = QueryPlan(entity: table.name, condition: condition, sort: sort)

            let objects = oracle.objects(of: table).filter { oracle.holds(condition, [$0]) }
            let expected = sorted(objects, sort, oracle).map(\.key)
            let note = "seed \(seed), round \(round): \(table.name) where \(condition), sorted by \(sort)"
            do {
                #expect(try library.run(library.compiler.keys(plan)) == expected, "\(note)")
                let count = try library.connection.value(library.compiler.count(plan))
                #expect(count == .integer(Int64(expected.count)), "\(note)")
            } catch {
                Issue.record("\(note): \(error)")
            }
        }
    }

    private func sorted(
        _ objects: [QueryOracle.Object], _ sort: [SortTerm], _ oracle: QueryOracle
    ) -> [QueryOracle.Object] {
        objects.sorted { left, right in
            for term in sort {
                let (first, second) = (oracle.value(term.node, [left]), oracle.value(term.node, [right]))
                let nullsFirst = term.nullsFirst ?? term.isAscending
                switch (first == .null, second == .null) {
                case (true, true): continue
                case (true, false): return nullsFirst
                case (false, true): return !nullsFirst
                case (false, false):
                    if oracle.precedes(first, second) == true { return term.isAscending }
                    if oracle.precedes(second, first) == true { return !term.isAscending }
                }
            }
            for (first, second) in zip(left.key, right.key) where first != second {
                switch (first, second) {
                case (.integer(let first), .integer(let second)): return first < second
                default: return first.description.utf8.lexicographicallyPrecedes(second.description.utf8)
                }
            }
            return false
        }
    }
}

/// Makes conditions that fit the schema, over few values, so that they often hold.
struct RandomQueries {
    let schema: Schema
    var random: SeededGenerator

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    private mutating func pick<Element>(_ elements: [Element]) -> Element { elements.randomElement(using: &random)! }
    private mutating func isChance(_ percent: Int) -> Bool { number(1...100) <= percent }

    private static let texts = ["", "a", "A", "ab", "é", "É_", "b%", "aé*"]

    /// Rows whose references have targets, except those that may dangle: keys 1 to 6 are in every table.
    static func fill(_ library: QueryLibrary, _ random: inout SeededGenerator) throws {
        var queries = RandomQueries(schema: library.schema, random: random)
        for table in library.schema.tables {
            var keys: Swift.Set<[Value]> = []
            for index in 1...(table.name == "ISBN" ? queries.number(1...6) : queries.number(6...9)) {
                let row = queries.row(of: table, index, library.rows)
                if keys.insert(table.keyColumnNames.map { row[$0]! }).inserted {
                    try library.insert(table.sqlName, [row])
                }
            }
        }
        for join in library.schema.joins {
            var keys: Swift.Set<[Value]> = []
            for _ in 0..<queries.number(3...12) {
                var row: [String: Value] = [:]
                for (columns, table) in [(join.sourceColumns, join.source), (join.targetColumns, join.target)] {
                    let key = library.schema.tables[table]
                    for (column, index) in zip(columns, key.keyColumns) {
                        row[column] = queries.key(key.columns[index].type)
                    }
                }
                if keys.insert((join.sourceColumns + join.targetColumns).map { row[$0]! }).inserted {
                    try library.insert(join.table, [row])
                }
            }
        }
        random = queries.random
    }

    private mutating func row(
        of table: Table, _ index: Int, _ rows: [String: [[String: Value]]]
    ) -> [String: Value] {
        var row: [String: Value] = [:]
        for column in table.columns where column.reference == nil {
            if table.keyColumnNames.contains(column.name) {
                row[column.name] = table.keyColumns.count == 1 ? Self.key(column.type, index) : key(column.type)
            } else {
                row[column.name] = column.isOptional && isChance(25) ? .null : constant(column.type)
            }
        }
        for reference in schema.references where reference.source == table.index {
            let target = schema.tables[reference.target]
            var key = target.keyColumns.map { self.key(target.columns[$0].type) }
            if reference.isUnique { key = [.integer(Int64(index))] }
            if !reference.isEnforced, isChance(20) { key = [99] }
            if key.count > 1 {
                let other = pick(rows[target.sqlName]!)
                key = target.keyColumnNames.map { other[$0]! }
            }
            let isUnset = reference.isOptional && isChance(25)
            for (column, value) in zip(reference.columns, key) { row[column] = isUnset ? .null : value }
        }
        return row
    }

    private static func key(_ type: AttributeType, _ number: Int) -> Value {
        type == .text ? .text("k\(number)") : .integer(Int64(number))
    }

    private mutating func key(_ type: AttributeType) -> Value { Self.key(type, number(1...6)) }

    private mutating func constant(_ type: AttributeType) -> Value {
        switch type {
        case .boolean: .integer(Int64(number(0...1)))
        case .integer: .integer(Int64(number(-3...6)))
        case .real: .real(Double(number(-4...8)) / 4)
        case .decimal: .text(pick(["0", "-1.5", "2", "2.50", "10", "9.9", "1e1"]))
        case .text: .text(pick(Self.texts + ["k1", "k2"]))
        case .date: .integer(Int64(number(-4...8)) * 250_000)
        case .uuid: .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(number(1...4)))))
        case .data: .blob(Data([UInt8(number(0...3))]))
        case .json: .text(pick(["[]", "{}", "[1]"]))
        }
    }

    // MARK: Conditions

    /// A condition on the innermost of the objects, which may speak of those around it.
    mutating func condition(_ scopes: [Table], depth: Int) -> ExpressionNode {
        switch depth > 0 ? number(0...11) : number(5...9) {
        case 0: .and((0..<number(0...3)).map { _ in condition(scopes, depth: depth - 1) })
        case 1: .or((0..<number(0...3)).map { _ in condition(scopes, depth: depth - 1) })
        case 2: .not(condition(scopes, depth: depth - 1))
        case 3, 4, 10, 11: related(scopes, depth: depth)
        case 5: object(scopes)
        default: comparison(scopes)
        }
    }

    private mutating func comparison(_ scopes: [Table]) -> ExpressionNode {
        let (node, type) = attribute(scopes)
        let comparison = pick([ComparisonOperator.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual])
        let equality = pick([ComparisonOperator.equal, .notEqual])
        let options: TextOptions = pick([
            [], [], .caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive],
        ])
        let value = isChance(15) ? Value.null : constant(type)
        switch (type, number(0...6)) {
        case (.boolean, 0...3): return node
        case (.decimal, 4...6): return .isNull(node)  // constants of decimals have their own tests
        case (.decimal, _), (.uuid, _), (.date, 0...3), (.data, _):
            return .comparison(
                type == .decimal ? comparison : equality, node, .value(type == .decimal ? .null : value), [])
        case (.json, _): return .comparison(equality, node, .value(value), [])
        case (.text, 0...2):
            let search = pick([TextOperator.contains, .beginsWith, .endsWith, .like])
            return .text(
                search, node, .value(.text(search == .like ? pick(["*", "a*", "?", "*é*", "k?"]) : pick(Self.texts))),
                options)
        case (.text, 3): return .comparison(equality, node, .value(value), options)
        case (.text, 4):
            return .comparison(comparison, .function(.length, [node]), .value(.integer(Int64(number(0...3)))), [])
        case (.text, 5): return .comparison(equality, .function(.coalesce, [node, .value("a")]), .value(value), [])
        case (.integer, 0):
            let other = ExpressionNode.arithmetic(
                pick([.add, .subtract, .multiply, .divide, .remainder]), node, .value(.integer(Int64(number(-2...3)))))
            return .comparison(comparison, other, .value(constant(.integer)), [])
        case (_, 1): return .valueIn(node, (0..<number(0...4)).map { _ in isChance(10) ? .null : constant(type) }, [])
        case (_, 2): return .isNull(node)
        case (_, 3): return .between(node, .value(constant(type)), .value(constant(type)))
        case (_, 4):
            let (other, otherType) = attribute(scopes)
            return otherType == type
                ? .comparison(comparison, node, other, []) : .comparison(comparison, .value(value), node, [])
        default: return .comparison(comparison, node, .value(value), [])
        }
    }

    /// About the identity of an object: a to-one, or the innermost itself.
    private mutating func object(_ scopes: [Table]) -> ExpressionNode {
        let scope = number(0...scopes.count - 1)
        let toOnes = scopes[scope].entity.relationships.filter { !$0.isToMany }
        var path: [String] = []
        var table = scopes[scope]
        if let link = toOnes.randomElement(using: &random), let target = schema[link.target] {
            path = [link.name]
            table = target
        }
        let node = ExpressionNode.property(scope: scope, path: path)
        let types = table.keyColumns.map { table.columns[$0].type }
        if isChance(25) { return .isNull(node) }
        let others = scopes.indices.filter { scopes[$0].index == table.index }
        if isChance(30), let other = others.randomElement(using: &random) {
            return .comparison(pick([.equal, .notEqual]), node, .property(scope: other, path: []), [])
        }
        let keys = (0..<number(0...4)).map { _ in KeyValue(types.map { key($0) }) }
        return .keyIn(node, keys)
    }

    /// An attribute on a path through to-ones from one of the objects.
    private mutating func attribute(_ scopes: [Table]) -> (ExpressionNode, AttributeType) {
        let scope = isChance(75) ? scopes.count - 1 : number(0...scopes.count - 1)
        var table = scopes[scope]
        var path: [String] = []
        while path.count < 3, isChance(35),
            let link = table.entity.relationships.filter({ !$0.isToMany }).randomElement(using: &random),
            let target = schema[link.target]
        {
            path.append(link.name)
            table = target
        }
        let attribute = pick(table.entity.attributes)
        return (.property(scope: scope, path: path + [attribute.name]), attribute.type)
    }

    private mutating func related(_ scopes: [Table], depth: Int) -> ExpressionNode {
        let scope = isChance(80) ? scopes.count - 1 : number(0...scopes.count - 1)
        var table = scopes[scope]
        var path: [String] = []
        var hasToMany = false
        while path.count < 4, !hasToMany || isChance(35) {
            guard let link = table.entity.relationships.randomElement(using: &random), let target = schema[link.target]
            else { break }
            path.append(link.name)
            hasToMany = hasToMany || link.isToMany
            table = target
        }
        guard hasToMany else { return comparison(scopes) }
        var set = RelatedSet(scope: scope, path: path, innerScope: scopes.count)
        let inner = scopes + [table]
        if isChance(65) {
            return .quantified(pick([.any, .all, .none]), set, condition: condition(inner, depth: depth - 1))
        }
        set.isDistinct = isChance(40)
        let filter = isChance(30) ? condition(inner, depth: depth - 1) : nil
        let numbers = table.entity.attributes.filter { $0.type == .integer || $0.type == .real }
        let comparison = pick([ComparisonOperator.equal, .notEqual, .less, .greaterOrEqual])
        guard isChance(60), let number = numbers.randomElement(using: &random) else {
            return .comparison(
                comparison, .aggregate(.count, set, of: nil, filter: filter),
                .value(.integer(Int64(self.number(0...4)))), [])
        }
        let value = ExpressionNode.property(scope: inner.count - 1, path: [number.name])
        let function = pick([AggregateFunction.count, .sum, .minimum, .maximum, .average])
        return .comparison(
            comparison, .aggregate(function, set, of: value, filter: filter), .value(constant(.integer)), [])
    }

    mutating func sortTerm(_ table: Table) -> SortTerm {
        while true {
            let (node, type) = attribute([table])
            guard type != .json, type != .data else { continue }
            return SortTerm(node, isAscending: isChance(50), nullsFirst: pick([nil, true, false]))
        }
    }
}
