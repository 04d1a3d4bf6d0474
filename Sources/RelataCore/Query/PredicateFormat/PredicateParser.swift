/// Reads the tokens of a predicate: a grammar of operators that bind more or less tightly.
struct PredicateParser {
    let text: String
    let tokens: [PredicateToken]
    let schema: Schema
    let table: Table
    let resolveName: PredicateFormat.NameResolver
    var arguments: ArraySlice<PredicateArgument>
    var index = 0
    /// The quantifiers around the current position, outermost first. The number of an inner scope is its position here,
    /// counted from 1.
    var quantifiers: [QuantifierContext] = []
    private var depth = 0

    init(
        text: String, tokens: [PredicateToken], arguments: [PredicateArgument], schema: Schema, table: Table,
        resolveName: @escaping PredicateFormat.NameResolver
    ) {
        self.text = text
        self.tokens = tokens
        self.arguments = arguments[...]
        self.schema = schema
        self.table = table
        self.resolveName = resolveName
    }

    /// A quantifier whose comparison is being read, or a subquery whose condition is.
    struct QuantifierContext {
        /// The scope in which the path begins: the query's own object, or the object of a subquery's variable.
        var base = 0
        /// The path to the related objects from there; empty until a path through a to-many was read.
        var path: [String] = []
        /// The name of a subquery's variable, which alone refers to its objects.
        var variable: String?
        var set: RelatedSet?
        var table: Table
        /// The path to an attribute with an array, which was read instead of one through a to-many.
        var array: String?
    }

    /// The part of a comparison that was read: a condition, or a value that will be compared.
    struct Operand {
        enum Kind {
            case condition(ExpressionNode)
            case literal(PredicateLiteral)
            case list([Operand])
            /// A length of time.
            case offset(DateOffset)
            /// A value with its type, or an object of an entity.
            case value(ExpressionNode, AttributeType?)
            case object(ExpressionNode, Table)
            /// A path through a to-many without a quantifier.
            case set(RelatedSet, rest: [String], AttributeType?, Table)
        }

        var kind: Kind
        let column: Int
        /// The attribute of the value, if it is an attribute itself.
        var attribute: Attribute? = nil
        /// The entity of the objects of an argument, if it is known.
        var entity: String? = nil
    }

    // MARK: Tokens

    var token: PredicateToken { tokens[index] }

    func failure(_ column: Int, _ message: String) -> RelataError {
        .predicateFormat(text: text, column: column, message)
    }

    func unexpected(_ wanted: String) -> RelataError {
        failure(token.column, "expected \(wanted), not \(token.spelled)")
    }

    mutating func take(_ symbol: String) -> Bool {
        guard token.kind == .symbol(symbol) else { return false }
        index += 1
        return true
    }

    mutating func take(keyword: String) -> Bool {
        guard case .keyword(keyword, _) = token.kind else { return false }
        index += 1
        return true
    }

    mutating func require(_ symbol: String, _ wanted: String) throws(RelataError) {
        guard take(symbol) else { throw unexpected(wanted) }
    }

    // MARK: Grammar

    /// The whole text.
    mutating func predicate() throws(RelataError) -> ExpressionNode {
        let node = try condition { (parser) throws(RelataError) in try parser.disjunction() }
        guard token.kind == .end else { throw unexpected("AND, OR or the end") }
        if !arguments.isEmpty {
            throw failure(
                token.column,
                "expected \(arguments.count) more placeholder\(arguments.count == 1 ? "" : "s") for the arguments")
        }
        // Comparisons were checked one by one; the nesting remains to be checked.
        return try checked(node, 1)
    }

    /// The whole text as a value.
    mutating func wholeValue() throws(RelataError) -> ExpressionNode {
        let operand = try coalesced()
        guard token.kind == .end else { throw unexpected("the end") }
        switch operand.kind {
        case .value(let node, _), .object(let node, _): return node
        case .set(let set, _, _, _): throw needsQuantifier(set, operand.column)
        case .condition, .literal, .list, .offset: throw failure(operand.column, "expected a property or an aggregate")
        }
    }

    /// `a OR b`.
    mutating func disjunction() throws(RelataError) -> Operand {
        try chain("OR", "||", ExpressionNode.or) { (parser) throws(RelataError) in
            try parser.chain("AND", "&&", ExpressionNode.and) { (parser) throws(RelataError) in try parser.negation() }
        }
    }

    private mutating func chain(
        _ keyword: String, _ symbol: String, _ combine: ([ExpressionNode]) -> ExpressionNode,
        _ part: (inout Self) throws(RelataError) -> Operand
    ) throws(RelataError) -> Operand {
        let first = try part(&self)
        guard token.kind == .symbol(symbol) || isKeyword(keyword) else { return first }
        var nodes = [try condition(of: first)]
        while take(symbol) || take(keyword: keyword) { nodes.append(try condition(part)) }
        return Operand(kind: .condition(combine(nodes)), column: first.column)
    }

    private func isKeyword(_ keyword: String) -> Bool {
        if case .keyword(keyword, _) = token.kind { true } else { false }
    }

    /// `NOT a`.
    private mutating func negation() throws(RelataError) -> Operand {
        let column = token.column
        guard take("!") || take(keyword: "NOT") else { return try quantified() }
        let node = try nested { (parser) throws(RelataError) in
            try parser.condition { (parser) throws(RelataError) in try parser.negation() }
        }
        return Operand(kind: .condition(.not(node)), column: column)
    }

    private static let quantifierWords: [String: Quantifier] = ["ANY": .any, "SOME": .any, "ALL": .all, "NONE": .none]

    /// `ANY a.b == c`.
    private mutating func quantified() throws(RelataError) -> Operand {
        let (column, word) = (token.column, token.spelled)
        guard case .keyword(let keyword, _) = token.kind, let quantifier = Self.quantifierWords[keyword] else {
            return try comparison()
        }
        index += 1
        quantifiers.append(QuantifierContext(table: table))
        let depth = quantifiers.count
        let condition: ExpressionNode
        do {
            condition = try nested { (parser) throws(RelataError) in
                try parser.condition { (parser) throws(RelataError) in try parser.quantified() }
            }
        } catch {
            guard quantifiers.count == depth, let context = quantifiers.last, context.set == nil,
                let array = context.array
            else { throw error }
            throw noToMany(array, word, column)
        }
        let context = quantifiers.removeLast()
        guard let set = context.set else {
            if let array = context.array { throw noToMany(array, word, column) }
            throw failure(column, "expected a path through a to-many after \(word): remove \(word) for a single value")
        }
        return Operand(kind: .condition(.quantified(quantifier, set, condition: condition)), column: column)
    }

    /// The error of a quantifier before an array that an attribute holds.
    private func noToMany(_ array: String, _ word: String, _ column: Int) -> RelataError {
        failure(
            column,
            "expected a path through a to-many after \(word), and \(array) is an attribute: write \(array) CONTAINS 'x' "
                + "for an element of the array")
    }

    /// `a == b`, or `a` alone.
    private mutating func comparison() throws(RelataError) -> Operand {
        let left = try coalesced()
        guard let comparison = try comparisonOperator() else { return left }
        let column = token.column
        let right: Operand
        if comparison.kind == .between, token.kind != .symbol("{"), !isPlaceholder {
            let lower = try coalesced()
            guard take(keyword: "AND") else { throw unexpected("AND and the upper bound, or {lower, upper}") }
            right = Operand(kind: .list([lower, try coalesced()]), column: column)
        } else {
            right = try coalesced()
        }
        let node = try compare(left, comparison, right)
        return Operand(kind: .condition(node), column: left.column)
    }

    private var isPlaceholder: Bool { if case .placeholder = token.kind { true } else { false } }

    /// `a ?? b`.
    mutating func coalesced() throws(RelataError) -> Operand {
        let first = try sum()
        guard take("??") else { return first }
        let other = try nested { (parser) throws(RelataError) in try parser.coalesced() }
        return try coalesce(first, other)
    }

    mutating func sum() throws(RelataError) -> Operand {
        try chain([.add, .subtract]) { (parser) throws(RelataError) in try parser.product() }
    }

    private mutating func product() throws(RelataError) -> Operand {
        try chain([.multiply, .divide]) { (parser) throws(RelataError) in try parser.factor() }
    }

    /// Each operator is a level of the resulting tree, and recursion over it is as deep.
    private mutating func chain(
        _ operators: [ArithmeticOperator], _ part: (inout Self) throws(RelataError) -> Operand
    ) throws(RelataError) -> Operand {
        var (left, count) = (try part(&self), 0)
        while let operation = take(operators) {
            count += 1
            guard count <= 100 else {
                throw failure(token.column, "the predicate calculates with too many parts at once")
            }
            left = try arithmetic(operation, left, part(&self))
        }
        return left
    }

    private mutating func take(_ operations: [ArithmeticOperator]) -> ArithmeticOperator? {
        for operation in operations where take(operation.rawValue) { return operation }
        return nil
    }

    private mutating func factor() throws(RelataError) -> Operand {
        let column = token.column
        if take("-") {
            let operand = try nested { (parser) throws(RelataError) in try parser.factor() }
            return try negated(operand, column: column)
        }
        if take("(") {
            let inner = try nested { (parser) throws(RelataError) in try parser.disjunction() }
            try require(")", "an operator or )")
            return Operand(kind: inner.kind, column: column, entity: inner.entity)
        }
        return try primary()
    }

    /// Reads something one level deeper, unless that is too deep to be meant.
    mutating func nested<Result>(
        _ body: (inout Self) throws(RelataError) -> Result
    ) throws(RelataError) -> Result {
        guard depth < 50 else { throw failure(token.column, "the predicate is nested too deeply: at most 50 levels") }
        depth += 1
        defer { depth -= 1 }
        return try body(&self)
    }

    // MARK: Conditions

    /// Reads an operand that must be a condition.
    private mutating func condition(
        _ read: (inout Self) throws(RelataError) -> Operand
    ) throws(RelataError) -> ExpressionNode {
        let operand = try read(&self)
        return try condition(of: operand)
    }

    /// The operand as a condition: a comparison, or a boolean attribute alone.
    func condition(of operand: Operand) throws(RelataError) -> ExpressionNode {
        switch operand.kind {
        case .condition(let node): return node
        case .literal(.boolean(let isTrue)): return .value(.integer(isTrue ? 1 : 0))
        case .value(let node, .boolean): return node
        case .literal, .list, .value, .object, .set, .offset:
            throw unexpected("a comparison such as == or IN")
        }
    }

    /// Checks a finished comparison as compiling it will, so that the error has the position.
    func checked(_ node: ExpressionNode, _ column: Int) throws(RelataError) -> ExpressionNode {
        let inner = quantifiers.enumerated().filter { $1.set != nil }.map { (number: $0 + 1, table: $1.table) }
        do {
            // Nothing is read: an access makes no difference.
            try QueryCompiler(schema: schema, access: .everything).check(node, scopes: [(0, table)] + inner)
        } catch .invalidUse(let message) {
            throw failure(column, message)
        }
        return node
    }
}
