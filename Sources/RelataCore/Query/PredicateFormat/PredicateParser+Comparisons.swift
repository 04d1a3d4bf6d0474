/// Operators between two operands.
extension PredicateParser {
    /// An operator with its options.
    struct Comparison {
        enum Kind: Equatable {
            case compare(ComparisonOperator)
            case text(TextOperator)
            case isIn, between
        }

        let kind: Kind
        let options: TextOptions
        let spelled: String
        let column: Int
    }

    private static let symbols: [String: ComparisonOperator] = [
        "=": .equal, "==": .equal, "!=": .notEqual, "<>": .notEqual, "<": .less, "<=": .lessOrEqual, "=<": .lessOrEqual,
        ">": .greater, ">=": .greaterOrEqual, "=>": .greaterOrEqual,
    ]
    private static let words: [String: Comparison.Kind] = [
        "IN": .isIn, "BETWEEN": .between, "CONTAINS": .text(.contains), "BEGINSWITH": .text(.beginsWith),
        "ENDSWITH": .text(.endsWith), "LIKE": .text(.like), "MATCHES": .text(.matches),
    ]

    /// The operator at the current token, if there is one.
    mutating func comparisonOperator() throws(RelataError) -> Comparison? {
        let kind: Comparison.Kind
        let (column, spelled) = (token.column, token.spelled)
        switch token.kind {
        case .symbol(let symbol):
            guard let known = Self.symbols[symbol] else { return nil }
            kind = .compare(known)
        case .keyword(let word, _):
            guard let known = Self.words[word] else { return nil }
            kind = known
        default: return nil
        }
        index += 1
        return Comparison(kind: kind, options: try options(), spelled: spelled, column: column)
    }

    /// `[cd]`.
    private mutating func options() throws(RelataError) -> TextOptions {
        guard take("[") else { return [] }
        guard case .name(let letters) = token.kind, letters.lowercased().allSatisfy({ "cd".contains($0) }) else {
            throw unexpected("c, d or cd")
        }
        index += 1
        try require("]", "]")
        var options: TextOptions = []
        if letters.lowercased().contains("c") { options.insert(.caseInsensitive) }
        if letters.lowercased().contains("d") { options.insert(.diacriticInsensitive) }
        return options
    }

    /// The condition that two operands and an operator make.
    func compare(_ left: Operand, _ comparison: Comparison, _ right: Operand) throws(RelataError) -> ExpressionNode {
        let node: ExpressionNode =
            switch comparison.kind {
            case .compare(let compared): try compare(left, compared, right, comparison)
            case .text(let search): try find(search, left, right, comparison)
            case .isIn: try isIn(left, right, comparison)
            case .between: try between(left, right, comparison)
            }
        return try checked(node, left.column)
    }

    // MARK: == != < <= > >=

    private func compare(
        _ left: Operand, _ compared: ComparisonOperator, _ right: Operand, _ comparison: Comparison
    ) throws(RelataError) -> ExpressionNode {
        switch (left.kind, right.kind) {
        case (.literal(let literal), .literal(let other)):
            let value = try fit(literal, as: nil, comparison.spelled, left.column)
            return .comparison(
                compared, .value(value), .value(try fit(other, as: nil, comparison.spelled, right.column)),
                comparison.options)
        case (.list, .list), (.list, .literal), (.literal, .list):
            throw failure(left.column, "expected a property on one side of \(comparison.spelled)")
        case (.literal, _), (.list, _): return try compare(right, compared.flipped, left, comparison)
        case (_, .list), (_, .literal(.argument(.values))), (_, .literal(.argument(.keys))):
            guard compared == .equal || compared == .notEqual else {
                throw failure(right.column, "expected one value after \(comparison.spelled), not a list")
            }
            if case .value(let array, .json?) = left.kind {
                throw failure(
                    right.column,
                    "\(spelled(array)) can't be compared with a list: write \(spelled(array)) CONTAINS 'x' for an "
                        + "element of it, or compare it in Swift")
            }
            let node = try isIn(left, right, comparison)
            return compared == .equal ? node : .not(node)
        case (_, .literal(.null)), (_, .literal(.argument(.value(.null)))):
            guard compared == .equal || compared == .notEqual else {
                throw failure(right.column, "expected a value after \(comparison.spelled): nil has no order")
            }
            let node = ExpressionNode.isNull(try self.node(left, comparison))
            return compared == .equal ? node : .not(node)
        case (.object(let node, let table), .literal(let literal)):
            guard compared == .equal || compared == .notEqual else {
                throw failure(left.column, "objects of \(table.name) have no order: compare one of their attributes")
            }
            let isSame = ExpressionNode.keyIn(node, try keys(literal, of: table, right))
            return compared == .equal ? isSame : .not(isSame)
        case (.value(let node, let type), .literal(let literal)):
            try checkEntity(right, keyedBy: left.attribute)
            if left.attribute?.holdsOtherTypes == true, let readings = literal.readings {
                if compared != .equal && compared != .notEqual {
                    return .comparison(compared, node, .value(readings[0]), comparison.options)
                }
                let isSame = ExpressionNode.valueIn(node, readings, comparison.options)
                return compared == .equal ? isSame : .not(isSame)
            }
            let value = try fit(literal, as: type, spelled(node), right.column)
            if compared == .equal || compared == .notEqual { try checkCase(value, of: left.attribute, right.column) }
            return .comparison(compared, node, .value(value), comparison.options)
        default:
            return .comparison(
                compared, try node(left, comparison), try node(right, comparison), comparison.options)
        }
    }

    /// An invalid value of an enum equals no value of a model: the comparison is a mistake.
    private func checkCase(_ value: Value, of attribute: Attribute?, _ column: Int) throws(RelataError) {
        guard let attribute, let isCase = attribute.valueType.isCase, !value.isNull, !isCase(value) else { return }
        let type = attribute.valueType.wrapped.map { "\($0)" } ?? attribute.name
        let hint = NameSuggestion.hint(for: "\(value)", among: (attribute.allowedValues ?? []).map(\.description))
        throw failure(column, "\(attribute.name) has no value \(value): \(type) has no such case\(hint)")
    }

    /// An operand that isn't a literal.
    private func node(_ operand: Operand, _ comparison: Comparison) throws(RelataError) -> ExpressionNode {
        switch operand.kind {
        case .value(let node, _), .object(let node, _), .condition(let node): return node
        case .literal(let literal): return .value(try fit(literal, as: nil, comparison.spelled, operand.column))
        case .list: throw failure(operand.column, "expected one value beside \(comparison.spelled), not a list")
        case .offset: throw failure(operand.column, "a duration can only be added to a date, or subtracted from one")
        case .set(let set, _, _, _): throw needsQuantifier(set, operand.column)
        }
    }

    /// The keys of the object that a literal names, by a key or by the value of a key of one part: one, unless keys of
    /// other types may be stored.
    private func keys(
        _ literal: PredicateLiteral, of table: Table, _ operand: Operand
    ) throws(RelataError) -> [KeyValue] {
        let column = operand.column
        try check(operand, isOf: table.name)
        let types = table.keyColumns.map { table.columns[$0].type }
        if case .argument(.key(let key)) = literal {
            guard key.values.count == types.count else {
                throw failure(column, "expected a key of \(types.count) parts for \(table.name), not \(key)")
            }
            return [key]
        }
        guard types.count == 1 else {
            throw failure(column, "expected an argument with a key of \(types.count) parts for \(table.name)")
        }
        if table.holdsOtherKeys, let readings = literal.readings { return readings.map { KeyValue($0) } }
        return [KeyValue(try fit(literal, as: types[0], "the key of \(table.name)", column))]
    }

    /// An object of another entity may have the same key as one of this entity, and the comparison would find the wrong
    /// object.
    private func check(_ operand: Operand, isOf entity: String) throws(RelataError) {
        guard let other = operand.entity, other != entity else { return }
        throw failure(operand.column, "expected an object of \(entity) or its key, not one of \(other)")
    }

    /// The check for an attribute with keys of an entity.
    private func checkEntity(_ operand: Operand, keyedBy attribute: Attribute?) throws(RelataError) {
        guard let type = attribute?.valueType.wrapped as? any EntityKey.Type, let entity = type.keyedEntity else {
            return
        }
        try check(operand, isOf: entity)
    }

    private func spelled(_ node: ExpressionNode) -> String {
        if case .property(_, let path) = node { path.joined(separator: ".") } else { "the expression" }
    }

    // MARK: Text

    private func find(
        _ search: TextOperator, _ left: Operand, _ right: Operand, _ comparison: Comparison
    ) throws(RelataError) -> ExpressionNode {
        if search == .contains {
            switch left.kind {
            case .set, .value(_, .json?): return try isIn(right, left, comparison)
            default: break
            }
        }
        let pattern: ExpressionNode
        if case .literal(let literal) = right.kind {
            switch literal.plainValue {
            case .text(let text)?:
                if search == .matches {
                    do { try TextPattern.check(text) } catch {
                        throw failure(right.column, "\"\(text)\" isn't a regular expression")
                    }
                }
                pattern = .value(.text(text))
            case .null?: pattern = .value(.null)
            default: throw failure(right.column, "expected text after \(comparison.spelled)")
            }
        } else {
            pattern = try node(right, comparison)
        }
        return .text(search, try node(left, comparison), pattern, comparison.options)
    }

    // MARK: Lists

    private func isIn(
        _ left: Operand, _ right: Operand, _ comparison: Comparison
    ) throws(RelataError) -> ExpressionNode {
        if let elements = elements(of: right) { return try isIn(left, elements, comparison) }
        switch right.kind {
        case .set(let set, let rest, let type, let table):
            // Membership: one of the related objects, or a value of one, is the given one.
            let member = ExpressionNode.property(scope: set.innerScope, path: rest)
            let element = Operand(
                kind: type == nil ? .object(member, table) : .value(member, type), column: right.column,
                attribute: right.attribute)
            let inner = try compare(element, .equal, left, comparison)
            return .quantified(.any, set, condition: inner)
        case .value(let array, .json?):
            guard case .literal(let literal) = left.kind, let value = literal.plainValue else {
                throw failure(left.column, "expected one value to look for in the array")
            }
            return .hasElement(array, value)
        case .value(_, .text), .literal(.text), .literal(.argument(.value(.text))):
            return try find(.contains, right, left, comparison)  // 'part' IN title
        default:
            throw failure(right.column, "expected a list such as {1, 2}, a list argument, or a to-many after IN")
        }
    }

    /// The contents of a list, literal or argument.
    private func elements(of operand: Operand) -> [Operand]? {
        let arguments: [PredicateArgument]
        switch operand.kind {
        case .list(let elements): return elements
        case .literal(.argument(.values(let values))): arguments = values.map { .value($0) }
        case .literal(.argument(.keys(let keys))): arguments = keys.map { .key($0) }
        case .literal(.argument(.key(let key))): arguments = [.key(key)]
        default: return nil
        }
        return arguments.map {
            Operand(kind: .literal(.argument($0)), column: operand.column, entity: operand.entity)
        }
    }

    private func isIn(
        _ left: Operand, _ elements: [Operand], _ comparison: Comparison
    ) throws(RelataError) -> ExpressionNode {
        let column = elements.first?.column ?? comparison.column
        let literals = elements.compactMap { if case .literal(let literal) = $0.kind { literal } else { nil } }
        guard literals.count == elements.count else {
            // Not all are constants: one comparison each.
            var nodes: [ExpressionNode] = []
            for element in elements { nodes.append(try compare(left, .equal, element, comparison)) }
            return .or(nodes)
        }
        if case .object(let node, let table) = left.kind {
            var keys: [KeyValue] = []
            var hasNull = false
            for (element, literal) in zip(elements, literals) {
                if literal.plainValue == .null {
                    hasNull = true
                } else {
                    keys += try self.keys(literal, of: table, element)
                }
            }
            return hasNull ? .or([.keyIn(node, keys), .isNull(node)]) : .keyIn(node, keys)
        }
        var values: [Value] = []
        var type: AttributeType?
        if case .value(_, let known) = left.kind { type = known }
        let node = try node(left, comparison)
        for (element, literal) in zip(elements, literals) {
            try checkEntity(element, keyedBy: left.attribute)
            if left.attribute?.holdsOtherTypes == true, let readings = literal.readings {
                values += readings
                continue
            }
            values.append(try fit(literal, as: type, spelled(node), column))
            try checkCase(values[values.count - 1], of: left.attribute, column)
        }
        return .valueIn(node, values, comparison.options)
    }

    private func between(
        _ left: Operand, _ right: Operand, _ comparison: Comparison
    ) throws(RelataError) -> ExpressionNode {
        guard let bounds = elements(of: right), bounds.count == 2 else {
            throw failure(right.column, "expected {lower, upper} after BETWEEN")
        }
        return .and([
            try compare(left, .greaterOrEqual, bounds[0], comparison),
            try compare(left, .lessOrEqual, bounds[1], comparison),
        ])
    }
}
