/// The meaning of the names in a path.
extension PredicateParser {
    /// A name between points, or an aggregate such as `@count`.
    struct PathElement {
        let name: String
        let isFigure: Bool
        let column: Int
    }

    /// `genre.name`, `reviews.@avg.stars`, `SELF`.
    mutating func path() throws(RelataError) -> Operand {
        let column = token.column
        var elements: [PathElement] = []
        var base = 0
        if case .variable(let name) = token.kind {
            base = try scope(ofVariable: name)
            index += 1
            if token.kind != .symbol(".") {
                return Operand(
                    kind: .object(.property(scope: base, path: []), quantifiers[base - 1].table), column: column)
            }
        } else if take(keyword: "SELF") {
            if token.kind != .symbol(".") {
                return Operand(kind: .object(.property(scope: 0, path: []), table), column: column)
            }
        } else {
            elements += try self.elements()
        }
        while take(".") { elements += try self.elements() }
        return try resolve(elements, from: base, column: column)
    }

    /// The element at the current token; several if an argument names a path.
    mutating func elements() throws(RelataError) -> [PathElement] {
        let column = token.column
        defer { index += 1 }
        switch token.kind {
        case .name(let name): return [PathElement(name: name, isFigure: false, column: column)]
        case .keyword(_, let written): return [PathElement(name: written, isFigure: false, column: column)]
        case .figure(let name): return [PathElement(name: name, isFigure: true, column: column)]
        case .placeholder("K"):
            guard case .value(.text(let path)) = try argument("K") else { throw unexpected("a name") }
            let names = path.split(separator: ".", omittingEmptySubsequences: false)
            if names.contains("") {
                throw failure(column, "expected the name of a property as the argument for %K, not \"\(path)\"")
            }
            return names.map { name in
                PathElement(
                    name: name.hasPrefix("@") ? String(name.dropFirst()) : String(name), isFigure: name.hasPrefix("@"),
                    column: column)
            }
        default: throw unexpected("the name of a property")
        }
    }

    /// Names followed from an object: the query's own, a subquery's variable, or the related object of a quantifier.
    private struct Way {
        /// The scope that the names begin in.
        let base: Int
        /// The names from there on.
        var names: [String] = []
        /// The position at which the names from the scope's object begin.
        var start = 0
        var scope = 0
        /// The places of the to-manys among those.
        var toManys: [Int] = []
        var table: Table
        var attribute: Attribute?
        /// The members of a JSON value that are followed after the attribute.
        var members: [JSONStep] = []

        init(base: Int, table: Table) {
            self.base = base
            scope = base
            self.table = table
        }

        func names(_ range: Range<Int>) -> [String] { Array(names[range]) }

        /// The end of the path, as an operand.
        func operand(_ node: ExpressionNode, _ column: Int) -> Operand {
            if !members.isEmpty {
                return Operand(kind: .value(.function(.json(.any, members), [node]), nil), column: column)
            }
            if let attribute {
                return Operand(kind: .value(node, attribute.type), column: column, attribute: attribute)
            }
            return Operand(kind: .object(node, table), column: column)
        }
    }

    /// The meaning of a path at this position.
    mutating func resolve(_ elements: [PathElement], from base: Int, column: Int) throws(RelataError) -> Operand {
        let (elements, isDistinct) = try undoubled(elements)
        let place = elements.firstIndex(where: \.isFigure) ?? elements.count
        var way = Way(base: base, table: baseTable(base))
        for element in elements[..<place] { try follow(element, &way) }
        rebase(&way)
        if place == elements.count, way.attribute?.type == .json, way.members.isEmpty, !quantifiers.isEmpty {
            quantifiers[quantifiers.count - 1].array = way.toManys.isEmpty ? way.names.joined(separator: ".") : nil
        }
        if place < elements.count {
            return try figure(elements[place], elements[(place + 1)...], &way, isDistinct: isDistinct, column)
        }
        guard let last = way.toManys.last else {
            return way.operand(.property(scope: way.scope, path: way.names(way.start..<way.names.count)), column)
        }
        let rest = way.names(last + 1..<way.names.count)
        if let scope = try quantify(&way, upTo: last) {
            return way.operand(.property(scope: scope, path: rest), column)
        }
        let set = RelatedSet(scope: way.scope, path: way.names(way.start..<last + 1), innerScope: quantifiers.count + 1)
        guard way.members.isEmpty else { throw needsQuantifier(set, column) }
        return Operand(
            kind: .set(set, rest: rest, way.attribute?.type, way.table), column: column, attribute: way.attribute)
    }

    /// The entity of the object at which a path begins.
    private func baseTable(_ base: Int) -> Table { base == 0 ? table : quantifiers[base - 1].table }

    private static let distinctUnions: Set = ["distinctunionofobjects", "distinctunionofsets", "distinctunionofarrays"]

    /// The elements without `@distinctUnionOfObjects`, and whether it was present.
    private func undoubled(_ elements: [PathElement]) throws(RelataError) -> ([PathElement], isDistinct: Bool) {
        guard
            let place = elements.firstIndex(where: { $0.isFigure && Self.distinctUnions.contains($0.name.lowercased()) }
            )
        else { return (elements, false) }
        var rest = elements
        let union = rest.remove(at: place)
        guard let figure = rest.firstIndex(where: \.isFigure), figure >= place else {
            throw failure(
                union.column, "expected the name of a relationship and @count or another aggregate after @\(union.name)"
            )
        }
        return (rest, true)
    }

    /// Follows one name of the path.
    private func follow(_ element: PathElement, _ way: inout Way) throws(RelataError) {
        if let attribute = way.attribute {
            if attribute.type == .json { return way.members.append(.member(element.name)) }
            guard let link = way.table.matched(from: attribute.name), let target = schema[link.target] else {
                throw failure(
                    element.column, "\(way.table.name).\(attribute.name) is an attribute: a path ends there")
            }
            way.names[way.names.count - 1] = link.name
            (way.attribute, way.table) = (nil, target)
        }
        guard let name = resolveName(element.name, way.table), let property = way.table.entity.property(name) else {
            throw failure(
                element.column,
                "\(way.table.name) has no property \(element.name)"
                    + NameSuggestion.hint(for: element.name, among: way.table.entity.properties.map(\.name)))
        }
        way.names.append(name)
        switch property {
        case .attribute(let attribute): way.attribute = attribute
        case .relationship(let relationship):
            if relationship.isToMany { way.toManys.append(way.names.count - 1) }
            guard let target = schema[relationship.target] else {
                throw failure(
                    element.column, "\(way.table.name).\(name) leads to an entity that the schema doesn't have")
            }
            way.table = target
        }
    }

    /// Begins the path at the object of the innermost quantifier on the path.
    private func rebase(_ way: inout Way) {
        for (index, quantifier) in quantifiers.enumerated().reversed() {
            guard quantifier.set != nil, quantifier.variable == nil, quantifier.base == way.base,
                way.names.starts(with: quantifier.path)
            else { continue }
            way.scope = index + 1
            way.start = quantifier.path.count
            way.toManys.removeAll { $0 < way.start }
            return
        }
    }

    /// Makes the path up to a to-many the path of the current quantifier, if it has none yet, and returns the
    /// quantifier's scope.
    private mutating func quantify(_ way: inout Way, upTo last: Int) throws(RelataError) -> Int? {
        guard let index = quantifiers.indices.last, quantifiers[index].set == nil else { return nil }
        quantifiers[index].base = way.base
        quantifiers[index].path = way.names(0..<last + 1)
        quantifiers[index].set = RelatedSet(
            scope: way.scope, path: way.names(way.start..<last + 1), innerScope: index + 1)
        quantifiers[index].table = try target(of: way.names(0..<last + 1), from: baseTable(way.base))
        return index + 1
    }

    private func target(of names: [String], from base: Table) throws(RelataError) -> Table {
        var table = base
        for name in names {
            guard let target = table.entity.relationship(name).flatMap({ schema[$0.target] }) else {
                throw failure(token.column, "\(name) leads to an entity that the schema doesn't have")
            }
            table = target
        }
        return table
    }

    // MARK: Figures

    /// `reviews.@count`, `reviews.@avg.stars`, `reviews.stars.@max`, `tags.@count` of a JSON array.
    private mutating func figure(
        _ element: PathElement, _ after: ArraySlice<PathElement>, _ way: inout Way, isDistinct: Bool, _ column: Int
    ) throws(RelataError) -> Operand {
        let function = try figureFunction(element)
        if function == .count, after.isEmpty, way.attribute?.type == .json, way.toManys.isEmpty {
            let array = way.operand(.property(scope: way.scope, path: way.names(way.start..<way.names.count)), column)
            guard case .value(let node, _) = array.kind else { return array }
            return Operand(kind: .value(.function(.elementCount, [node]), .integer), column: column)
        }
        guard let last = way.toManys.last else {
            throw failure(element.column, "expected a to-many before @\(element.name)")
        }
        guard !isDistinct || way.attribute == nil else {
            throw failure(
                element.column,
                "each object counts once, not each value: put @\(element.name) between the relationship and the attribute"
            )
        }
        // The path between the last to-many and the aggregate is part of the set, unless it is the value of the
        // aggregate.
        let end = way.attribute == nil ? way.names.count : last + 1
        var value: [String]? = way.attribute == nil ? nil : way.names(last + 1..<way.names.count)
        for next in after {
            guard !next.isFigure, function != .count else {
                throw failure(next.column, "expected nothing after @\(element.name)")
            }
            try follow(next, &way)
            value = (value ?? []) + [way.names[way.names.count - 1]]
        }
        guard way.toManys.last == last else {
            throw failure(column, "expected a path through to-ones after @\(element.name)")
        }
        // A quantifier takes the to-manys before the last one: ANY albums.tracks.@count > 5.
        if way.toManys.count > 1, let scope = try quantify(&way, upTo: way.toManys[way.toManys.count - 2]) {
            way.scope = scope
            way.start = way.toManys[way.toManys.count - 2] + 1
        }
        let set = RelatedSet(
            scope: way.scope, path: way.names(way.start..<end), innerScope: quantifiers.count + 1,
            isDistinct: isDistinct)
        return try figure(element, function, of: set, value, way, filter: nil, column)
    }

    private func figureFunction(_ element: PathElement) throws(RelataError) -> AggregateFunction {
        guard let function = AggregateFunction(rawValue: element.name.lowercased()) else {
            throw failure(
                element.column, "there is no aggregate @\(element.name): it is @count, @sum, @min, @max or @avg")
        }
        return function
    }

    private func figure(
        _ element: PathElement, _ function: AggregateFunction, of set: RelatedSet, _ value: [String]?, _ way: Way,
        filter: ExpressionNode?, _ column: Int
    ) throws(RelataError) -> Operand {
        guard function == .count || way.attribute != nil else {
            throw failure(
                element.column, "expected an attribute to take @\(element.name) of, such as reviews.@avg.stars")
        }
        guard way.members.isEmpty else {
            throw failure(element.column, "@\(element.name) of a member of a JSON value can't be taken")
        }
        let node = ExpressionNode.aggregate(
            function, set, of: value.map { .property(scope: set.innerScope, path: $0) }, filter: filter)
        let type: AttributeType? =
            switch function {
            case .count: .integer
            case .average: way.attribute?.type == .decimal ? .decimal : .real
            case .sum, .minimum, .maximum: way.attribute?.type
            }
        return Operand(kind: .value(node, type), column: column)
    }

    // MARK: Subqueries

    /// `SUBQUERY(reviews, $r, $r.stars > 3).@count`: an aggregate of those related objects that meet a condition.
    mutating func subquery() throws(RelataError) -> Operand {
        let column = token.column
        index += 2
        let place = token.column
        guard case .set(let set, rest: [], nil, let target) = try path().kind else {
            throw failure(place, "expected a to-many as the first part of SUBQUERY")
        }
        try require(",", ", and a variable such as $x")
        guard case .variable(let name) = token.kind else { throw unexpected("a variable such as $x") }
        guard !quantifiers.contains(where: { $0.variable == name }) else {
            throw failure(token.column, "$\(name) is the variable of an enclosing subquery: choose another name")
        }
        index += 1
        try require(",", ", and a condition")
        quantifiers.append(QuantifierContext(variable: name, set: set, table: target))
        let filter = try nested { (parser) throws(RelataError) in
            let operand = try parser.disjunction()
            return try parser.condition(of: operand)
        }
        quantifiers.removeLast()
        try require(")", "an operator or )")
        try require(".", ".@count or another aggregate after SUBQUERY(…)")
        var elements: [PathElement] = []
        repeat { elements += try self.elements() } while take(".")
        guard let first = elements.first, first.isFigure else {
            throw failure(elements.first?.column ?? column, "expected @count or another aggregate after SUBQUERY(…)")
        }
        let function = try figureFunction(first)
        var way = Way(base: set.innerScope, table: target)
        for next in elements.dropFirst() {
            guard !next.isFigure, function != .count else {
                throw failure(next.column, "expected nothing after @\(first.name)")
            }
            try follow(next, &way)
        }
        guard way.toManys.isEmpty else {
            throw failure(first.column, "expected a path through to-ones after @\(first.name)")
        }
        return try figure(
            first, function, of: set, way.names.isEmpty ? nil : way.names, way, filter: filter, column)
    }

    private func scope(ofVariable name: String) throws(RelataError) -> Int {
        guard let place = quantifiers.lastIndex(where: { $0.variable == name }) else {
            let known = quantifiers.compactMap(\.variable)
            throw failure(
                token.column, "there is no variable $\(name) here" + NameSuggestion.hint(for: name, among: known))
        }
        return place + 1
    }
}
