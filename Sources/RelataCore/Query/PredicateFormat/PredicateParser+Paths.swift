/// What the names of a path mean.
extension PredicateParser {
    /// A name between points, or a figure such as `@count`.
    struct PathElement {
        let name: String
        let isFigure: Bool
        let column: Int
    }

    /// Names followed from the query's own object, or from a related one that a quantifier speaks of.
    private struct Way {
        /// The names from the query's own object on.
        var names: [String] = []
        /// Where the names that were followed from the scope's object begin.
        var start = 0
        var scope = 0
        /// The places of the to-manys among those.
        var toManys: [Int] = []
        var table: Table
        var attribute: Attribute?

        func names(_ range: Range<Int>) -> [String] { Array(names[range]) }

        /// What the way ends at, as an operand.
        func operand(_ node: ExpressionNode, _ column: Int) -> Operand {
            if let attribute { return Operand(kind: .value(node, attribute.type), column: column) }
            return Operand(kind: .object(node, table), column: column)
        }
    }

    /// What a path means at this place.
    mutating func resolve(_ elements: [PathElement], column: Int) throws(RelataError) -> Operand {
        let place = elements.firstIndex(where: \.isFigure) ?? elements.count
        var way = Way(table: table)
        for element in elements[..<place] { try follow(element, &way) }
        rebase(&way)
        if place < elements.count { return try figure(elements[place], elements[(place + 1)...], &way, column) }
        guard let last = way.toManys.last else {
            return way.operand(.property(scope: way.scope, path: way.names(way.start..<way.names.count)), column)
        }
        let rest = way.names(last + 1..<way.names.count)
        if let scope = try quantify(&way, upTo: last) {
            return way.operand(.property(scope: scope, path: rest), column)
        }
        let set = RelatedSet(scope: way.scope, path: way.names(way.start..<last + 1), innerScope: quantifiers.count + 1)
        return Operand(kind: .set(set, rest: rest, way.attribute?.type, way.table), column: column)
    }

    /// One name on.
    private func follow(_ element: PathElement, _ way: inout Way) throws(RelataError) {
        if let attribute = way.attribute {
            throw failure(
                element.column, "\(way.table.name).\(attribute.name) is an attribute: no path leads on from it")
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
                throw failure(element.column, "\(way.table.name).\(name) leads to no entity of the schema")
            }
            way.table = target
        }
    }

    /// Starts the way at the innermost quantifier's object that lies on it.
    private func rebase(_ way: inout Way) {
        for (index, quantifier) in quantifiers.enumerated().reversed() {
            guard quantifier.set != nil, way.names.starts(with: quantifier.path) else { continue }
            way.scope = index + 1
            way.start = quantifier.path.count
            way.toManys.removeAll { $0 < way.start }
            return
        }
    }

    /// Makes the way up to a to-many that of the quantifier being read, if that has none yet, and returns its scope.
    private mutating func quantify(_ way: inout Way, upTo last: Int) throws(RelataError) -> Int? {
        guard let index = quantifiers.indices.last, quantifiers[index].set == nil else { return nil }
        quantifiers[index].path = way.names(0..<last + 1)
        quantifiers[index].set = RelatedSet(
            scope: way.scope, path: way.names(way.start..<last + 1), innerScope: index + 1)
        quantifiers[index].table = try target(of: way.names(0..<last + 1))
        return index + 1
    }

    private func target(of names: [String]) throws(RelataError) -> Table {
        var way = Way(table: table)
        for name in names {
            guard let target = way.table.entity.relationship(name).flatMap({ schema[$0.target] }) else {
                throw failure(token.column, "\(name) leads to no entity of the schema")
            }
            way.table = target
        }
        return way.table
    }

    // MARK: Figures

    /// `reviews.@count`, `reviews.@avg.stars`, `reviews.stars.@max`.
    private mutating func figure(
        _ element: PathElement, _ after: ArraySlice<PathElement>, _ way: inout Way, _ column: Int
    ) throws(RelataError) -> Operand {
        guard let function = AggregateFunction(rawValue: element.name.lowercased()) else {
            throw failure(element.column, "there is no figure @\(element.name): it is @count, @sum, @min, @max or @avg")
        }
        guard let last = way.toManys.last else {
            throw failure(element.column, "expected a to-many before @\(element.name)")
        }
        // What comes after the last to-many before the figure is part of the set, unless it is what is summed.
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
        guard function == .count || way.attribute != nil else {
            throw failure(
                element.column, "expected an attribute to take @\(element.name) of, such as reviews.@avg.stars")
        }
        // A quantifier takes the to-manys before the last one: ANY albums.tracks.@count > 5.
        if way.toManys.count > 1, let scope = try quantify(&way, upTo: way.toManys[way.toManys.count - 2]) {
            way.scope = scope
            way.start = way.toManys[way.toManys.count - 2] + 1
        }
        let inner = quantifiers.count + 1
        let set = RelatedSet(scope: way.scope, path: way.names(way.start..<end), innerScope: inner)
        let node = ExpressionNode.aggregate(
            function, set, of: value.map { .property(scope: inner, path: $0) }, filter: nil)
        let type: AttributeType? =
            switch function {
            case .count: .integer
            case .average: way.attribute?.type == .decimal ? .decimal : .real
            case .sum, .minimum, .maximum: way.attribute?.type
            }
        return Operand(kind: .value(node, type), column: column)
    }
}
