import RelataCore

/// Queries inside queries: `$inQuery`, `$select` and `$relatedTo`. They become parts of the same statement.
extension ConditionReader {
    /// Whether a pointer leads to one of the objects of a query.
    mutating func isInQuery(_ operation: Operation, _ target: Target) throws(ParseError) -> ExpressionNode {
        guard let members = operation.operand.object, let className = members["className"]?.string,
            let condition = members["where"]
        else { throw operation.misused("needs a where and a className") }
        guard let found = try query(className, condition, members, operation) else { return Self.nothing }
        return target.any { source in
            switch source {
            case .object(let node, let parseClass, true) where parseClass.name == className:
                .inQuery(node, found.plan, selecting: nil)
            case .json(let place) where found.parseClass.objectID.isText || found.parseClass.objectID.isInteger:
                .and([
                    place.isPointer(to: found.parseClass),
                    .inQuery(place["objectId"].read(.any), found.plan, selecting: nil),
                ])
            default: Self.nothing
            }
        }
    }

    /// Whether a value equals a query's result in one of its fields.
    mutating func isSelected(_ operation: Operation, _ target: Target) throws(ParseError) -> ExpressionNode {
        guard let key = operation.operand["key"]?.string, let members = operation.operand["query"]?.object,
            let className = members["className"]?.string
        else { throw operation.misused("needs a key and a query with a className") }
        guard let found = try query(className, members["where"] ?? [:], members, operation) else {
            _ = try self.target(key, of: Subject(parseClass: try .unknown(classes.dialect), scope: 0, path: []))
            return Self.nothing
        }
        let selected = try self.target(key, of: Subject(parseClass: found.parseClass, scope: 0, path: []))
        guard selected.ways.isEmpty else {
            throw operation.wrong("can't select \(key.prefix(64)), which holds several values")
        }
        return target.any { $0.isSelected(selected, from: found.plan) }
    }

    /// The plan of an inner query; `nil` for a class that doesn't exist.
    private mutating func query(
        _ className: String, _ condition: JSONValue, _ members: JSONObject, _ operation: Operation
    ) throws(ParseError) -> (plan: QueryPlan, parseClass: ParseClass)? {
        try Self.check(operation.operand)
        try Self.check(.object(members))
        if members["redirectClassNameForKey"] != nil { throw operation.wrong("can't redirect to another class") }
        note(className)
        let known = classes[className]
        if let known { try transaction.check(.find, on: known) }
        // A malformed query is refused even if the class doesn't exist yet.
        let parseClass = if let known { known } else { try ParseClass.unknown(classes.dialect) }
        var plan = try nested(condition, of: parseClass)
        plan.limit = try count("limit", members, operation)
        plan.offset = try count("skip", members, operation)
        if let order = members["order"] {
            let names =
                order.string.map { $0.split(separator: ",").map(\.trimmingSpaces) } ?? order.array?.compactMap(\.string)
            guard let names else { throw operation.wrong("has an order that isn't a list of names") }
            plan.sort = try self.order(names, of: parseClass)
        }
        return known == nil ? nil : (plan, parseClass)
    }

    private func count(
        _ name: String, _ members: JSONObject, _ operation: Operation
    ) throws(ParseError) -> Int? {
        guard let value = members[name], !value.isNull else { return nil }
        guard let number = value.integer, number >= 0 else {
            throw operation.wrong("has a \(name) that isn't a whole number, at least 0")
        }
        return Int(number)
    }

    // MARK: Relations

    /// The relation of an object: `{"object": …, "key": "authors"}`; `nil` if it contains nothing of the class.
    mutating func related(_ value: JSONValue, to subject: Subject) throws(ParseError) -> RelatedOwner? {
        guard let object = value["object"].flatMap({ Pointer($0) }), let key = value["key"]?.string else {
            throw ParseError(.invalidQuery, "$relatedTo needs an object, which is a pointer, and a key")
        }
        try Self.check(value)
        note(object.className)
        guard let parseClass = classes[object.className], let field = parseClass[key], case .relation = field.storage,
            field.type.targetClass == subject.parseClass.name,
            let id = try transaction.key(object.objectID, of: parseClass)
        else { return nil }
        return RelatedOwner(entity: parseClass.name, relationship: key, key: id)
    }

    /// Whether an object is in a relation.
    static func isMember(_ subject: Subject, of owner: RelatedOwner) -> ExpressionNode {
        .inQuery(
            subject.property(), QueryPlan(entity: subject.parseClass.name, relatedTo: owner), selecting: nil)
    }
}

extension Source {
    /// Whether a value equals a result of a query over another class, if both are of one kind. An array counts as its
    /// elements.
    fileprivate func isSelected(_ other: Target, from plan: QueryPlan) -> ExpressionNode {
        let whole = other.isArray ? ConditionReader.nothing : isSelected(other.source, from: plan)
        guard let elements = other.elements else { return whole }
        let among = isElement(of: elements, from: plan)
        return whole == ConditionReader.nothing ? among : .or([whole, among])
    }

    /// Whether a value is an element of an array that objects of a query have.
    private func isElement(of set: JSONElements, from plan: QueryPlan) -> ExpressionNode {
        var plan = plan
        plan.elements = SelectedElements(set)
        let element = JSONPlace(.element(scope: set.scope))
        switch self {
        case .missing: return ConditionReader.nothing
        case .object(let node, let parseClass, true):
            guard parseClass.objectID.isText || parseClass.objectID.isInteger else { return ConditionReader.nothing }
            plan.elements?.condition = element.isPointer(to: parseClass)
            return .inQuery(node, plan, selecting: element["objectId"].read(.any))
        case .object(let node, let parseClass, false):
            return parseClass.objectID.isText
                ? .inQuery(node, plan, selecting: element.read(.text)) : ConditionReader.nothing
        case .column(let node, let type, _):
            return type.kind.map { .inQuery(node, plan, selecting: element.read($0)) } ?? ConditionReader.nothing
        case .json(let place):
            return .or(JSONKind.compared.map { .inQuery(place.read($0), plan, selecting: element.read($0)) })
        }
    }

    private func isSelected(_ other: Source, from plan: QueryPlan) -> ExpressionNode {
        switch (self, other) {
        case (.object(let node, let parseClass, let isPointer), .object(let selected, let target, let isOther)):
            guard isPointer == isOther, !isPointer || parseClass.name == target.name, parseClass.hasKeys(like: target)
            else {
                return ConditionReader.nothing
            }
            return .inQuery(node, plan, selecting: selected)
        case (.object(let node, let parseClass, false), .column(let selected, .text, _)):
            return parseClass.objectID.isText ? .inQuery(node, plan, selecting: selected) : ConditionReader.nothing
        case (.column(let node, .text, _), .object(let selected, let parseClass, false)):
            return parseClass.objectID.isText ? .inQuery(node, plan, selecting: selected) : ConditionReader.nothing
        case (.column(let node, let type, _), .column(let selected, let other, _)):
            return FieldType(type) == FieldType(other) && (type == .text) == (other == .text)
                ? .inQuery(node, plan, selecting: selected) : ConditionReader.nothing
        case (.json(let place), .object(let selected, let parseClass, true)):
            guard parseClass.objectID.isText || parseClass.objectID.isInteger else { return ConditionReader.nothing }
            return .and([
                place.isPointer(to: parseClass), .inQuery(place["objectId"].read(.any), plan, selecting: selected),
            ])
        case (.json(let place), .object(let selected, let parseClass, false)):
            return parseClass.objectID.isText
                ? .inQuery(place.read(.text), plan, selecting: selected) : ConditionReader.nothing
        case (.json(let place), .column(let selected, let type, _)):
            return type.kind.map { .inQuery(place.read($0), plan, selecting: selected) } ?? ConditionReader.nothing
        case (.column(let node, let type, _), .json(let selected)):
            return type.kind.map { .inQuery(node, plan, selecting: selected.read($0)) } ?? ConditionReader.nothing
        case (.json(let place), .json(let selected)):
            return .or(JSONKind.compared.map { .inQuery(place.read($0), plan, selecting: selected.read($0)) })
        default: return ConditionReader.nothing
        }
    }
}

extension JSONPlace {
    /// Whether the value is a pointer to an object of a class.
    fileprivate func isPointer(to parseClass: ParseClass) -> ExpressionNode {
        .and([
            .comparison(.equal, self["__type"].read(.text), .value("Pointer"), []),
            .comparison(.equal, self["className"].read(.text), .value(.text(parseClass.name)), []),
        ])
    }
}

extension JSONKind {
    /// The kinds in which two JSON values may be equal.
    fileprivate static let compared: [JSONKind] = [.number, .text, .boolean, .compound]
}

extension AttributeType {
    /// The kind of JSON value that it compares with.
    fileprivate var kind: JSONKind? {
        switch self {
        case .integer, .real: .number
        case .text: .text
        case .boolean: .boolean
        case .decimal, .date, .data, .uuid, .json: nil
        }
    }
}

extension ParseClass {
    fileprivate func hasKeys(like other: ParseClass) -> Bool {
        table.keyColumns.map { table.columns[$0].type } == other.table.keyColumns.map { other.table.columns[$0].type }
    }
}
