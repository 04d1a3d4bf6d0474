/// Literals, arguments, functions and arithmetic.
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
        case .keyword("SELF", _), .variable: return try path()
        case .placeholder("K"): return try path()
        case .placeholder(let letter):
            let entity = arguments.first?.entity
            var operand = literal(.argument(try argument(letter)))
            operand.entity = entity
            return operand
        case .symbol("{"): return try list()
        case .name(let name):
            if index + 1 < tokens.count, tokens[index + 1].kind == .symbol("(") {
                return name.uppercased() == "SUBQUERY" ? try subquery() : try call(name)
            }
            return try path()
        case .keyword, .figure, .symbol, .end: throw unexpected("a property, a value or (")
        }
    }

    private mutating func literal(_ literal: PredicateLiteral) -> Operand { constant(.literal(literal)) }

    /// The operand that the current token alone is.
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
            elements.append(try nested { (parser) throws(RelataError) in try parser.coalesced() })
        }
        return Operand(kind: .list(elements), column: column)
    }

    mutating func argument(_ letter: Character) throws(RelataError) -> PredicateArgument {
        guard let argument = arguments.popFirst()?.bare else {
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

    private static let offsets: [String: @Sendable (Int) -> DateOffset] = [
        "minutes": { .minutes($0) }, "hours": { .hours($0) }, "days": { .days($0) }, "weeks": { .weeks($0) },
        "months": { .months($0) }, "years": { .years($0) },
    ]

    private mutating func call(_ name: String) throws(RelataError) -> Operand {
        let column = token.column
        if name.lowercased() == "now" {
            index += 2
            try require(")", ")")
            return Operand(kind: .literal(.argument(.value(.integer(now)))), column: column)
        }
        if name.lowercased() == "seconds" || Self.offsets[name.lowercased()] != nil { return try offset(name) }
        guard let known = Self.functions[name.lowercased()] else {
            throw failure(
                column,
                "there is no function \(name)"
                    + NameSuggestion.hint(
                        for: name, among: (Array(Self.functions.keys) + Array(Self.offsets.keys)).sorted()))
        }
        index += 2
        let argument = try nested { (parser) throws(RelataError) in try parser.coalesced() }
        try require(")", ")")
        let (node, type) = try value(argument, for: "\(name)()")
        return Operand(kind: .value(.function(known.function, [node]), known.result ?? type), column: column)
    }

    /// `days(3)`: a length of time.
    private mutating func offset(_ name: String) throws(RelataError) -> Operand {
        let column = token.column
        index += 2
        let place = token.column
        let argument = try nested { (parser) throws(RelataError) in try parser.sum() }
        try require(")", ")")
        guard case .literal(let literal) = argument.kind, let count = literal.plainValue else {
            throw failure(place, "expected a number for \(name)()")
        }
        switch (count, Self.offsets[name.lowercased()]) {
        case (.integer(let count), let make?): return Operand(kind: .offset(make(Int(count))), column: column)
        case (.integer(let count), nil): return Operand(kind: .offset(.seconds(Double(count))), column: column)
        case (.real(let count), nil): return Operand(kind: .offset(.seconds(count)), column: column)
        default: throw failure(place, "expected \(name == "seconds" ? "a number" : "an integer") for \(name)()")
        }
    }

    /// `a ?? b`: the first set value.
    func coalesce(_ first: Operand, _ other: Operand) throws(RelataError) -> Operand {
        guard case .value(let node, let type) = first.kind else {
            throw failure(first.column, "expected a property or another value before ??")
        }
        let (replacement, otherType) = try value(other, for: "the value after ??", as: type)
        return Operand(
            kind: .value(.function(.coalesce, [node, replacement]), type ?? otherType), column: first.column)
    }

    func arithmetic(
        _ operation: ArithmeticOperator, _ left: Operand, _ right: Operand
    ) throws(RelataError) -> Operand {
        if let dates = try dateArithmetic(operation, left, right) { return dates }
        let types = [type(of: left), type(of: right)]
        let isDecimal = types.contains(.decimal)
        let (first, _) = try value(left, for: operation.rawValue, as: isDecimal ? .decimal : nil)
        let (second, _) = try value(right, for: operation.rawValue, as: isDecimal ? .decimal : nil)
        let joins = operation == .add && types.contains(.text) && types.allSatisfy { $0 == .text || $0 == nil }
        let type: AttributeType =
            joins ? .text : isDecimal ? .decimal : types.contains(.real) ? .real : .integer
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
        case .condition, .list, .object, .set, .offset: nil
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
        case .offset: throw failure(operand.column, "a duration can only be added to a date, or subtracted from one")
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
}
