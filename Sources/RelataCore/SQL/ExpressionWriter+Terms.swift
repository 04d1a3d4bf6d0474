/// Values: attributes, arithmetic and functions.
extension ExpressionWriter {
    /// An expression, before the other operand is known.
    mutating func operand(_ node: ExpressionNode) throws(RelataError) -> Operand {
        if case .direct = groups, !grouped.isEmpty, let operand = try grouped(node) { return operand }
        switch node {
        case .value(let value): return .constant(value)
        case .property(let scope, let path): return try resolve(scope: scope, path: path)
        default: return .term(try term(node))
        }
    }

    /// An operand's values in SQL: one for each part of a key. A constant is bound unchanged.
    mutating func terms(_ operand: Operand) -> [Term] {
        switch operand {
        case .constant(let value): [Term(sql: bind(value), type: value.type, isNullable: value.isNull)]
        case .term(let term): [term]
        case .key(let terms, _): terms
        }
    }

    /// An operand as one value; refused for a key of several parts.
    mutating func single(_ operand: Operand) throws(RelataError) -> Term {
        let terms = terms(operand)
        if case .key(_, let entity) = operand, terms.count != 1 {
            throw .invalidUse(
                "the key of \(schema.tables[entity].name) has \(terms.count) parts: compare it with a key, or its parts"
            )
        }
        return terms[0]
    }

    /// Refuses a value of a known, unsuitable type.
    func require(_ serves: Bool, _ term: Term, _ use: String) throws(RelataError) {
        guard serves || term.type == nil else {
            throw .invalidUse("\(describe(term)) is \(term.type?.spelled ?? ""): \(use)")
        }
    }

    /// One value in SQL.
    mutating func term(_ node: ExpressionNode) throws(RelataError) -> Term {
        try nested(node) { (writer) throws(RelataError) in try writer.write(node) }
    }

    private mutating func write(_ node: ExpressionNode) throws(RelataError) -> Term {
        switch node {
        case .value, .property: return try single(try operand(node))
        case .arithmetic(let operation, let left, let right): return try arithmetic(operation, left, right)
        case .negated(let inner): return try negated(inner)
        case .function(let function, let arguments): return try call(function, arguments)
        case .aggregate(let function, let set, let value, let filter): return try figure(function, set, value, filter)
        case .groupAggregate(let function, let value, let isDistinct):
            return try groupFigure(function, value, isDistinct: isDistinct)
        case .sql(let parts): return Term(sql: "(" + (try raw(parts)) + ")", type: nil, isNullable: true)
        case .invalid(let message): throw .invalidUse(message)
        case .element(let scope, let kind): return try element(scope, kind)
        case .relevance:
            guard let found else {
                throw .invalidUse("relevance needs a search: begin the query with search(…)")
            }
            return found.relevance
        case .comparison, .keyIn, .valueIn, .inQuery, .between, .isNull, .text, .and, .or, .not, .quantified,
            .anyElement, .found:
            let text = try written { (writer) throws(RelataError) in try writer.condition(node) }
            return Term(
                sql: "((\(text)) IS \(dialect.always))", type: .boolean, isNullable: false, name: "the condition")
        }
    }

    /// A value of a known type; a constant takes that type's form.
    mutating func term(_ node: ExpressionNode, like model: Term) throws(RelataError) -> Term {
        guard case .value(let value) = node else { return try term(node) }
        let stored = try stored(value, like: model)
        return Term(
            sql: bind(stored, as: model.boundType), type: model.type, isNullable: value.isNull,
            keepsIntegers: model.keepsIntegers, isJSON: model.isJSON)
    }

    /// SQL that a developer wrote, with columns and parameters in the places of its nodes.
    mutating func raw(_ parts: [SQLPart]) throws(RelataError) -> String {
        try access.requireEverything(for: "SQL of your own")
        var text = ""
        for part in parts {
            switch part {
            case .text(let sql): text.append(sql)
            case .node(let node):
                let terms = terms(try operand(node))
                text.append(tuple(terms.map(\.sql)))
            }
        }
        return text
    }

    // MARK: Numbers

    private mutating func arithmetic(
        _ operation: ArithmeticOperator, _ left: ExpressionNode, _ right: ExpressionNode
    ) throws(RelataError) -> Term {
        let name = "the \(operation.rawValue) expression"
        let isLeftConstant = left.isConstant
        var first = isLeftConstant ? Term(sql: "", type: nil, isNullable: true) : try number(left, for: operation)
        let second =
            right.isConstant && !isLeftConstant ? try number(right, like: first) : try number(right, for: operation)
        if isLeftConstant { first = try number(left, like: second) }
        if first.type == .text || second.type == .text { return try joined(first, second) }
        let isNullable = first.isNullable || second.isNullable || operation == .divide || operation == .remainder
        guard first.type == .decimal || second.type == .decimal else {
            if operation == .remainder, first.type == .real || second.type == .real {
                throw .invalidUse("% is only for integers: use / for fractions")
            }
            let type: AttributeType? = first.type == .real || second.type == .real ? .real : .integer
            let isKnown = first.type != nil && second.type != nil
            return Term(
                sql: dialect.calculation(first.sql, operation, second.sql, isDecimal: false),
                type: isKnown ? type : nil, isNullable: isNullable, name: name)
        }
        guard operation != .remainder else { throw .invalidUse("% is only for integers: use / for fractions") }
        let sql = dialect.calculation(asDecimal(first).sql, operation, asDecimal(second).sql, isDecimal: true)
        return Term(sql: sql, type: .decimal, isNullable: isNullable, name: name)
    }

    private mutating func number(
        _ node: ExpressionNode, for operation: ArithmeticOperator
    ) throws(RelataError) -> Term {
        let term = try term(node)
        let joins = operation == .add && term.type == .text
        try require(
            joins || term.type?.isNumber == true, term,
            "\(operation.rawValue) is for numbers" + (operation == .add ? ", or joins text to text" : ""))
        return term
    }

    /// A text after another.
    func joined(_ first: Term, _ second: Term) throws(RelataError) -> Term {
        for term in [first, second] { try require(term.type == .text, term, "+ is for numbers, or joins text to text") }
        return Term(
            sql: "(\(first.sql) || \(second.sql))", type: .text, isNullable: first.isNullable || second.isNullable,
            name: "the joined text")
    }

    /// A constant beside a number: a decimal if the number is one.
    private mutating func number(_ node: ExpressionNode, like other: Term) throws(RelataError) -> Term {
        guard case .value(let value) = node else { return try term(node) }
        if other.type == .decimal { return try term(node, like: other) }
        guard value.type?.isNumber ?? true || value.type == .text && other.type == .text else {
            throw .invalidUse("\"\(value)\" isn't a number: it can't be added")
        }
        return try term(node)
    }

    private mutating func negated(_ node: ExpressionNode) throws(RelataError) -> Term {
        var term = try number(node, for: .subtract)
        term.sql = dialect.negated(term.sql, isDecimal: term.type == .decimal)
        term.column = nil
        term.name = "the negated expression"
        return term
    }

    private func asDecimal(_ term: Term) -> Term {
        guard term.type != .decimal, term.type != .text else { return term }
        var term = term
        term.sql = dialect.decimal(converting: term.sql)
        return term
    }

    /// Two terms in one form, so that they can be compared.
    func alike(_ left: Term, _ right: Term) throws(RelataError) -> (Term, Term) {
        if left.isJSON != right.isJSON { return (asJSON(left), asJSON(right)) }
        guard let first = left.type, let second = right.type, first != second else { return (left, right) }
        var (left, right) = (left, right)
        switch (first, second) {
        case (.integer, .real), (.real, .integer): break
        case (.boolean, .integer): left.sql = dialect.integer(converting: left.sql)
        case (.integer, .boolean): right.sql = dialect.integer(converting: right.sql)
        case (.decimal, .integer), (.decimal, .real): right = asDecimal(right).typed(.decimal)
        case (.integer, .decimal), (.real, .decimal): left = asDecimal(left).typed(.decimal)
        case (.date(let one), .date(let other)):
            left.sql = dialect.instant(left.sql, one)
            right.sql = dialect.instant(right.sql, other)
        case (.uuid(let encoding), .uuid):
            left.sql = hexadecimal(left.sql, encoding)
            right.sql = hexadecimal(right.sql, encoding == .blob ? .text : .blob)
        default:
            throw .invalidUse(
                "\(describe(left)) is \(first.spelled) and \(describe(right)) is \(second.spelled): "
                    + "they can't be compared")
        }
        return (left, right)
    }

    private func hexadecimal(_ sql: String, _ encoding: UUIDEncoding) -> String {
        switch encoding {
        case .blob: dialect.hexadecimal(uuid: sql)
        case .text: "lower(replace(\(sql), '-', ''))"
        }
    }

    /// The term as a JSON value, so that it can be compared with another.
    private func asJSON(_ term: Term) -> Term {
        guard !term.isJSON else { return term }
        var term = term
        let value = term.type == .boolean ? dialect.integer(converting: term.sql) : term.sql
        term.sql = term.type == .json ? term.sql : "to_jsonb(\(value))"
        term.isJSON = true
        return term
    }

    // MARK: Groups

    /// Grouped expressions are written as in the grouping. Other values that are equal within a group are taken from
    /// any of its rows.
    private mutating func grouped(_ node: ExpressionNode) throws(RelataError) -> Operand? {
        if let known = grouped.first(where: { $0.node == node }) { return known.operand }
        guard case .property(let scope, let path) = node else { return nil }
        let common = { (dialect: Dialect, term: Term) in
            var term = term
            term.sql = dialect.common(term.sql)
            return term
        }
        switch try resolve(scope: scope, path: path) {
        case .constant(let value): return .constant(value)
        case .term(let term): return .term(common(dialect, term))
        case .key(let terms, let entity): return .key(terms.map { common(dialect, $0) }, entity: entity)
        }
    }
}

extension ExpressionWriter.Term {
    func typed(_ type: AttributeType) -> Self {
        var term = self
        term.type = type
        return term
    }
}

extension ExpressionNode {
    var isConstant: Bool { if case .value = self { true } else { false } }
}
