/// Reading JSON values that a column holds as text.
extension ExpressionWriter {
    /// The part of a JSON value at a path.
    mutating func json(_ source: Term, _ kind: JSONKind, _ path: [JSONStep]) throws(RelataError) -> Term {
        try require(source.type == .json || source.type == .text, source, "only JSON has members and elements to read")
        let place = try bind(place: path)
        let json = dialect.jsonSource(source.sql, of: source.type)
        return Term(
            sql: dialect.json(json, at: place, as: kind), type: kind.type, isNullable: true,
            name: "\(describe(source)) at \(path.description)", isJSON: dialect.keepsJSON(kind))
    }

    /// Binds a place in a JSON value.
    mutating func bind(place path: [JSONStep]) throws(RelataError) -> String {
        dialect.jsonPlace(bind(.text(try dialect.jsonPath(path)), as: .text))
    }

    /// The JSON element of a scope.
    func element(_ scope: Int, _ kind: JSONKind) throws(RelataError) -> Term {
        guard let known = elements.last(where: { $0.number == scope }) else {
            throw .invalidUse("scope \(scope) isn't an element of a JSON array here")
        }
        return Term(
            sql: dialect.jsonElement(known.alias, as: kind), type: kind.type, isNullable: true, name: "the element",
            isJSON: dialect.keepsJSON(kind))
    }

    /// Appends whether any element of a JSON array meets a condition.
    mutating func anyElement(of set: JSONElements, _ condition: ExpressionNode) throws(RelataError) {
        let source = try term(set.json)
        try require(source.type == .json || source.type == .text, source, "only JSON has elements")
        let place = try bind(place: set.path)
        let json = dialect.jsonSource(source.sql, of: source.type)
        let alias = newAlias()
        elements.append((set.scope, alias))
        defer { elements.removeLast() }
        let text = try written { (writer) throws(RelataError) in try writer.condition(condition, isInside: true) }
        sql.append(
            "EXISTS (SELECT 1 FROM \(dialect.jsonElements(of: json, at: place)) AS \(alias) WHERE \(text))")
    }
}

extension JSONKind {
    /// The type of the SQL value.
    fileprivate var type: AttributeType? {
        switch self {
        case .number: .real
        case .text, .compound, .json: .text
        case .boolean: .boolean
        case .any: nil
        }
    }
}

extension [JSONStep] {
    fileprivate var description: String {
        map { step in
            switch step {
            case .member(let name): name
            case .index(let index): String(index)
            }
        }.joined(separator: ".")
    }
}
