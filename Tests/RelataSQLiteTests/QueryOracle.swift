import Foundation
import RelataCore

/// Evaluates conditions over plain rows in Swift, one object at a time. The SQL must give the same results.
struct QueryOracle {
    let schema: Schema
    let rows: [String: [[String: Value]]]

    /// A row of an entity. Its key is known even if the row doesn't exist: a reference may dangle.
    struct Object {
        let table: Table
        let key: [Value]
        let row: [String: Value]?
    }

    enum Result: Equatable {
        case null
        case number(Double)
        case decimal(Decimal)
        case text(String)
        case key([Value])
    }

    func objects(of table: Table) -> [Object] {
        (rows[table.sqlName] ?? []).map { row in
            Object(table: table, key: table.keyColumnNames.map { row[$0] ?? .null }, row: row)
        }
    }

    private func object(of table: Table, _ key: [Value]) -> Object? { objects(of: table).first { $0.key == key } }

    // MARK: Conditions

    func holds(_ node: ExpressionNode, _ scopes: [Object]) -> Bool {
        switch node {
        case .and(let nodes): return nodes.allSatisfy { holds($0, scopes) }
        case .or(let nodes): return nodes.contains { holds($0, scopes) }
        case .not(let node): return !holds(node, scopes)
        case .isNull(let node): return value(node, scopes) == .null
        case .comparison(let comparison, let left, let right, let options):
            return compare(
                comparison, fold(value(left, scopes), options), fold(value(right, scopes, like: left), options))
        case .between(let value, let lower, let upper):
            return holds(.comparison(.greaterOrEqual, value, lower, []), scopes)
                && holds(.comparison(.lessOrEqual, value, upper, []), scopes)
        case .keyIn(let node, let keys): return keys.contains { value(node, scopes) == .key($0.values) }
        case .valueIn(let node, let values, let options):
            return values.contains { holds(.comparison(.equal, node, .value($0), options), scopes) }
        case .text(let search, let text, let pattern, let options):
            guard case .text(let text) = fold(value(text, scopes), options),
                case .text(let pattern) = fold(value(pattern, scopes), options)
            else { return false }
            return find(search, Array(text.utf8), Array(pattern.utf8))
        case .quantified(let quantifier, let set, let condition):
            let found = related(set, scopes).map { holds(condition, Array(scopes[..<set.innerScope]) + [$0]) }
            return switch quantifier {
            case .any: found.contains(true)
            case .all: !found.contains(false)
            case .none: !found.contains(true)
            }
        default: return value(node, scopes) == .number(1)
        }
    }

    private func compare(_ comparison: ComparisonOperator, _ left: Result, _ right: Result) -> Bool {
        switch comparison {
        case .equal: isSame(left, right)
        case .notEqual: !isSame(left, right)
        case .less: precedes(left, right) ?? false
        case .greater: precedes(right, left) ?? false
        case .lessOrEqual: precedes(right, left).map { !$0 } ?? false
        case .greaterOrEqual: precedes(left, right).map { !$0 } ?? false
        }
    }

    private func isSame(_ left: Result, _ right: Result) -> Bool {
        if left == .null || right == .null { return left == right }
        return precedes(left, right) == false && precedes(right, left) == false
    }

    /// Whether the left comes before the right; `nil` if one is unset.
    func precedes(_ left: Result, _ right: Result) -> Bool? {
        switch (left, right) {
        case (.null, _), (_, .null): nil
        case (.number(let left), .number(let right)): left < right
        case (.text(let left), .text(let right)): left.utf8.lexicographicallyPrecedes(right.utf8)
        case (.key(let left), .key(let right)): left == right ? false : "\(left)" < "\(right)"
        default: decimal(left) < decimal(right)
        }
    }

    private func decimal(_ result: Result) -> Decimal {
        switch result {
        case .decimal(let value): value
        case .number(let value): Decimal(string: "\(value)") ?? .nan
        default: .nan
        }
    }

    private func fold(_ result: Result, _ options: TextOptions) -> Result {
        guard case .text(var text) = result else { return result }
        if options.contains(.caseInsensitive) { text = text.lowercased() }
        if options.contains(.diacriticInsensitive) {
            text = text.replacingOccurrences(of: "é", with: "e").replacingOccurrences(of: "É", with: "E")
        }
        return .text(text)
    }

    private func find(_ search: TextOperator, _ text: [UInt8], _ pattern: [UInt8]) -> Bool {
        switch search {
        case .beginsWith: text.starts(with: pattern)
        case .endsWith: text.suffix(pattern.count) == pattern[...] && text.count >= pattern.count
        case .contains: (0...text.count).contains { text[$0...].starts(with: pattern) }
        case .like: isLike(scalars(text), scalars(pattern))
        case .matches, .search, .words: false
        }
    }

    private func scalars(_ bytes: [UInt8]) -> ArraySlice<Unicode.Scalar> {
        Array(String(decoding: bytes, as: UTF8.self).unicodeScalars)[...]
    }

    private func isLike(_ text: ArraySlice<Unicode.Scalar>, _ pattern: ArraySlice<Unicode.Scalar>) -> Bool {
        guard let first = pattern.first else { return text.isEmpty }
        if first == "*" {
            return (text.startIndex...text.endIndex).contains { isLike(text[$0...], pattern.dropFirst()) }
        }
        guard let character = text.first, first == "?" || first == character else { return false }
        return isLike(text.dropFirst(), pattern.dropFirst())
    }

    // MARK: Values

    func value(_ node: ExpressionNode, _ scopes: [Object], like other: ExpressionNode? = nil) -> Result {
        switch node {
        case .value(let value): return result(value, nil)
        case .property(let scope, let path): return value(of: path, scopes[scope])
        case .arithmetic(let operation, let left, let right):
            guard case .number(let left) = value(left, scopes), case .number(let right) = value(right, scopes) else {
                return .null
            }
            return switch operation {
            case .add: .number(left + right)
            case .subtract: .number(left - right)
            case .multiply: .number(left * right)
            case .divide: right == 0 ? .null : .number((left / right).rounded(.towardZero))
            case .remainder: right == 0 ? .null : .number(left.truncatingRemainder(dividingBy: right))
            }
        case .function(.coalesce, let nodes):
            return nodes.lazy.map { value($0, scopes) }.first { $0 != .null } ?? .null
        case .function(let function, let nodes):
            guard case .text(let text) = value(nodes[0], scopes) else { return .null }
            return switch function {
            case .length: .number(Double(text.count))
            case .uppercased: .text(text.uppercased())
            default: .text(text.lowercased())
            }
        case .aggregate(let function, let set, let node, let filter):
            var objects = related(set, scopes).map { Array(scopes[..<set.innerScope]) + [$0] }
            if let filter { objects = objects.filter { holds(filter, $0) } }
            guard let node else { return .number(Double(objects.count)) }
            return figure(function, objects.map { value(node, $0) }.filter { $0 != .null })
        default: return .number(holds(node, scopes) ? 1 : 0)
        }
    }

    private func figure(_ function: AggregateFunction, _ values: [Result]) -> Result {
        let ordered = values.sorted { precedes($0, $1) ?? false }
        let isDecimal = if case .decimal? = values.first { true } else { false }
        let sum = values.reduce(Decimal(0)) { $0 + decimal($1) }
        let number = { (value: Decimal) in
            isDecimal ? Result.decimal(value) : .number(NSDecimalNumber(decimal: value).doubleValue)
        }
        return switch function {
        case .count: .number(Double(values.count))
        case .minimum: ordered.first ?? .null
        case .maximum: ordered.last ?? .null
        case .sum: number(sum)
        case .average: values.isEmpty ? .null : number(sum / Decimal(values.count))
        }
    }

    private func result(_ value: Value, _ type: AttributeType?) -> Result {
        switch (value, type) {
        case (.null, _): .null
        case (.text(let text), .decimal): .decimal(Decimal(string: text) ?? .nan)
        case (.integer(let number), _): .number(Double(number))
        case (.real(let number), _): .number(number)
        case (.text(let text), _): .text(text)
        default: .text(value.description)
        }
    }

    private func value(of path: [String], _ object: Object) -> Result {
        var object = object
        for name in path {
            guard let attribute = object.table.entity.attribute(name) else {
                guard let next = toOne(name, object) else { return .null }
                object = next
                continue
            }
            if let part = object.table.entity.key.firstIndex(of: name) {
                return result(object.key[part], attribute.type)
            }
            return result(object.row?[attribute.column] ?? .null, attribute.type)
        }
        return .key(object.key)
    }

    private func toOne(_ name: String, _ object: Object) -> Object? {
        switch object.table.links[name] {
        case .reference(let number)?:
            let reference = schema.references[number]
            guard let row = object.row else { return nil }
            let key = reference.columns.map { row[$0] ?? .null }
            guard !key.contains(.null) else { return nil }
            let target = schema.tables[reference.target]
            return self.object(of: target, key) ?? Object(table: target, key: key, row: nil)
        case .inverse(let number)?: return sources(of: schema.references[number], object.key).first
        default: return nil
        }
    }

    private func sources(of reference: Reference, _ key: [Value]) -> [Object] {
        objects(of: schema.tables[reference.source]).filter { object in
            reference.columns.map { object.row?[$0] ?? .null } == key
        }
    }

    /// The related objects, one for each way along the path.
    private func related(_ set: RelatedSet, _ scopes: [Object]) -> [Object] {
        var path = set.path[...]
        var owner = scopes[set.scope]
        while path.count > 1, let name = path.first, owner.table.entity.relationship(name)?.isToMany == false {
            guard let next = toOne(name, owner) else { return [] }
            owner = next
            path = path.dropFirst()
        }
        var objects = [owner]
        for name in path { objects = objects.flatMap { step(name, $0) } }
        guard set.isDistinct else { return objects }
        var keys: Swift.Set<[Value]> = []
        return objects.filter { keys.insert($0.key).inserted }
    }

    private func step(_ name: String, _ owner: Object) -> [Object] {
        switch owner.table.links[name] {
        case .inverse(let number)?: return sources(of: schema.references[number], owner.key)
        case .join(let number, let isSource)?:
            let join = schema.joins[number]
            let (near, far) =
                isSource ? (join.sourceColumns, join.targetColumns) : (join.targetColumns, join.sourceColumns)
            let target = schema.tables[isSource ? join.target : join.source]
            return (rows[join.table] ?? []).filter { row in near.map { row[$0] ?? .null } == owner.key }
                .compactMap { row in object(of: target, far.map { row[$0] ?? .null }) }
        case .through(let inverse, let reference)?:
            return sources(of: schema.references[inverse], owner.key).compactMap { middle in
                toOne(schema.references[reference].property, middle).flatMap { $0.row == nil ? nil : $0 }
            }
        default: return toOne(name, owner).flatMap { $0.row == nil ? nil : $0 }.map { [$0] } ?? []
        }
    }
}
