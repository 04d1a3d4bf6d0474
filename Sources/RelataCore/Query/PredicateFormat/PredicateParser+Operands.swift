/// Literals, arguments, functions and paths.
extension PredicateParser {
    mutating func primary() throws(RelataError) -> Operand {
        let token = token
        switch token.kind {
        case .text(let text): return literal(.text(text))
        case .number(let number): return literal(.number(number))
        case .keyword("TRUE", _), .keyword("YES", _): return literal(.boolean(true))
        case .keyword("FALSE", _), .keyword("NO", _): return literal(.boolean(false))
        case .keyword("NIL", _), .keyword("NULL", _): return literal(.null)
        case .keyword("TRUEPREDICATE", _): return constant(.condition(.and([])))
        case .keyword("FALSEPREDICATE", _): return constant(.condition(.or([])))
        case .keyword("SELF", _): return try path()
        case .placeholder("K"): return try path()
        case .placeholder(let letter): return literal(.argument(try argument(letter)))
        case .symbol("{"): return try list()
        case .name(let name):
            if index + 1 < tokens.count, tokens[index + 1].kind == .symbol("(") { return try call(name) }
            return try path()
        case .keyword, .figure, .symbol, .end: throw unexpected("a property, a value or (")
        }
    }

    private mutating func literal(_ literal: PredicateLiteral) -> Operand { constant(.literal(literal)) }

    /// What the current token alone says.
    private mutating func constant(_ kind: Operand.Kind) -> Operand {
        defer { index += 1 }
        return Operand(kind: kind, column: token.column)
    }

    /// `{1, 2, 3}`.
    private mutating func list() throws(RelataError) -> Operand {
        let column = token.column
        index += 1
        var elements: [Operand] = []
        while !take("}") {
            if !elements.isEmpty { try require(",", ", or }") }
            elements.append(try sum())
        }
        return Operand(kind: .list(elements), column: column)
    }

    private mutating func argument(_ letter: Character) throws(RelataError) -> PredicateArgument {
        guard let argument = arguments.popFirst() else {
            throw failure(token.column, "expected an argument for \(token.spelled)")
        }
        switch (letter, argument) {
        case ("@", _), ("d", .value(.integer)), ("i", .value(.integer)), ("f", .value(.real)), ("f", .value(.integer)):
            return argument
        case ("K", .value(.text)): return argument
        default:
            let wanted = letter == "K" ? "the name of a property" : letter == "f" ? "a number" : "an integer"
            throw failure(token.column, "expected \(wanted) as the argument for \(token.spelled)")
        }
    }

    // MARK: Functions and arithmetic

    private static let functions: [String: (function: Function, result: AttributeType?)] = [
        "lowercase": (.lowercased, .text), "uppercase": (.uppercased, .text), "trim": (.trimmed, .text),
        "length": (.length, .integer), "abs": (.absolute, nil), "year": (.datePart(.year), .integer),
        "month": (.datePart(.month), .integer), "day": (.datePart(.day), .integer),
        "hour": (.datePart(.hour), .integer),
        "minute": (.datePart(.minute), .integer), "second": (.datePart(.second), .integer),
        "weekday": (.datePart(.weekday), .integer),
    ]

    private mutating func call(_ name: String) throws(RelataError) -> Operand {
        let column = token.column
        guard let known = Self.functions[name.lowercased()] else {
            throw failure(
                column,
                "there is no function \(name)" + NameSuggestion.hint(for: name, among: Self.functions.keys.sorted()))
        }
        index += 2
        let argument = try nested { (parser) throws(RelataError) in try parser.sum() }
        try require(")", ")")
        let (node, type) = try value(argument, for: "\(name)()")
        return Operand(kind: .value(.function(known.function, [node]), known.result ?? type), column: column)
    }

    func arithmetic(
        _ operation: ArithmeticOperator, _ left: Operand, _ right: Operand
    ) throws(RelataError) -> Operand {
        let types = [type(of: left), type(of: right)]
        let isDecimal = types.contains(.decimal)
        let (first, _) = try value(left, for: operation.rawValue, as: isDecimal ? .decimal : nil)
        let (second, _) = try value(right, for: operation.rawValue, as: isDecimal ? .decimal : nil)
        let type: AttributeType = isDecimal ? .decimal : types.contains(.real) ? .real : .integer
        return Operand(kind: .value(.arithmetic(operation, first, second), type), column: left.column)
    }

    func negated(_ operand: Operand, column: Int) throws(RelataError) -> Operand {
        if case .literal(.number(let number)) = operand.kind {
            let opposite = number.hasPrefix("-") ? String(number.dropFirst()) : "-" + number
            return Operand(kind: .literal(.number(opposite)), column: column)
        }
        let (node, type) = try value(operand, for: "-")
        return Operand(kind: .value(.negated(node), type), column: column)
    }

    private func type(of operand: Operand) -> AttributeType? {
        switch operand.kind {
        case .value(_, let type): type
        case .literal(let literal): literal.plainValue?.type
        case .condition, .list, .object, .set: nil
        }
    }

    /// An operand of arithmetic or of a function.
    private func value(
        _ operand: Operand, for name: String, as wanted: AttributeType? = nil
    ) throws(RelataError) -> (ExpressionNode, AttributeType?) {
        switch operand.kind {
        case .value(let node, let type): return (node, type)
        case .literal(let literal):
            let value = try fit(literal, as: wanted, name, operand.column)
            return (.value(value), value.type)
        case .condition(let node): return (node, .boolean)
        case .list, .object: throw failure(operand.column, "expected a value for \(name)")
        case .set(let set, _, _, _): throw needsQuantifier(set, operand.column)
        }
    }

    /// A literal in the form of an attribute's type.
    func fit(
        _ literal: PredicateLiteral, as type: AttributeType?, _ name: String, _ column: Int
    ) throws(RelataError) -> Value {
        do {
            return try literal.value(as: type, name)
        } catch {
            throw failure(column, "expected \(error.expected)")
        }
    }

    func needsQuantifier(_ set: RelatedSet, _ column: Int) -> RelataError {
        let path = set.path.joined(separator: ".")
        return failure(column, "\(path) is a to-many: expected ANY, ALL or NONE before it, or .@count after it")
    }

    // MARK: Paths

    /// `genre.name`, `reviews.@avg.stars`, `SELF`.
    private mutating func path() throws(RelataError) -> Operand {
        let column = token.column
        var elements: [PathElement] = []
        if take(keyword: "SELF") {
            if token.kind != .symbol(".") {
                return Operand(kind: .object(.property(scope: 0, path: []), table), column: column)
            }
        } else {
            elements += try self.elements()
        }
        while take(".") { elements += try self.elements() }
        return try resolve(elements, column: column)
    }

    /// The element at the current token; several where an argument names a path.
    private mutating func elements() throws(RelataError) -> [PathElement] {
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
}
