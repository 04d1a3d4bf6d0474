import RelataCore

/// Conditions on documents that aren't objects of a class any more: groups, and results of other stages.
struct DocumentMatch {
    fileprivate indirect enum Condition {
        case all([Condition])
        case any([Condition])
        case not(Condition)
        case field([String], Test)
    }

    fileprivate enum Test {
        case isOne(Set<JSONValue>)
        case isSet
        case isNull
        case compares(ComparisonOperator, JSONValue)
        case finds(TextSearch)
    }

    private let condition: Condition

    /// Reads conditions.
    ///
    /// - Throws: ``ParseError`` 102 for operators that work only on objects of a class.
    init(_ json: JSONValue) throws(ParseError) { condition = try Self.condition(json) }

    private static func condition(_ json: JSONValue) throws(ParseError) -> Condition {
        guard let members = json.object else {
            throw ParseError(.invalidQuery, "$match must be an object of conditions")
        }
        var conditions: [Condition] = []
        for (name, value) in members {
            if name.hasPrefix("$") {
                guard ["$and", "$or", "$nor"].contains(name), let parts = value.array else {
                    throw ParseError(.invalidQuery, "$match: bad constraint: \(name.prefix(64))")
                }
                var inner: [Condition] = []
                for part in parts { inner.append(try condition(part)) }
                conditions.append(name == "$and" ? .all(inner) : name == "$or" ? .any(inner) : .not(.any(inner)))
                continue
            }
            guard let path = DocumentExpression.path(name) else {
                throw ParseError(.invalidKeyName, "Invalid key name: \(name.prefix(64))")
            }
            guard let operators = value.object, operators.keys.contains(where: { $0.hasPrefix("$") }) else {
                conditions.append(equals(path, value))
                continue
            }
            if let options = operators["$options"], operators["$regex"] == nil {
                throw Operation(name: "$options", operand: options, field: String(name.prefix(64)))
                    .wrong("needs a $regex")
            }
            for (operation, operand) in operators where operation != "$options" {
                conditions.append(
                    try self.condition(
                        path, Operation(name: operation, operand: operand, field: String(name.prefix(64))),
                        options: operators["$options"]))
            }
        }
        return .all(conditions)
    }

    private static func equals(_ path: [String], _ value: JSONValue) -> Condition {
        .field(path, value.isNull ? .isNull : .isOne([value]))
    }

    private static func condition(
        _ path: [String], _ operation: Operation, options: JSONValue?
    ) throws(ParseError) -> Condition {
        let operand = operation.operand
        switch operation.name {
        case "$eq": return equals(path, operand)
        case "$ne": return .not(equals(path, operand))
        case "$lt": return .field(path, .compares(.less, operand))
        case "$lte": return .field(path, .compares(.lessOrEqual, operand))
        case "$gt": return .field(path, .compares(.greater, operand))
        case "$gte": return .field(path, .compares(.greaterOrEqual, operand))
        case "$in": return .any(try operation.list().map { equals(path, $0) })
        case "$nin": return .not(.any(try operation.list().map { equals(path, $0) }))
        case "$exists":
            guard let exists = operand.bool else { throw operation.wrong("must be true or false") }
            return exists ? .field(path, .isSet) : .not(.field(path, .isSet))
        case "$regex":
            let pattern = try ConditionReader.Pattern(operation, options: options)
            guard let search = try? TextSearch(pattern.text) else {
                throw operation.refused("isn't a regular expression")
            }
            return .field(path, .finds(search))
        default: throw operation.refused("isn't supported after the first stages of a pipeline")
        }
    }

    /// The documents that meet them.
    ///
    /// - Throws: ``ParseError`` 102 if regular expressions take too long.
    func filter(_ documents: [JSONValue]) throws(ParseError) -> [JSONValue] {
        var timeLeft = TextSearch.limit
        var met: [JSONValue] = []
        for document in documents where try Self.holds(condition, document, &timeLeft) { met.append(document) }
        return met
    }

    private static func holds(
        _ condition: Condition, _ document: JSONValue, _ timeLeft: inout Duration
    ) throws(ParseError) -> Bool {
        switch condition {
        case .all(let conditions):
            for condition in conditions where try !holds(condition, document, &timeLeft) { return false }
            return true
        case .any(let conditions):
            for condition in conditions where try holds(condition, document, &timeLeft) { return true }
            return false
        case .not(let condition): return try !holds(condition, document, &timeLeft)
        case .field(let path, let test):
            let value = document.value(at: path[...])
            for value in [value] + (value.array ?? []) where try test.holds(for: value, &timeLeft) { return true }
            return false
        }
    }

    // MARK: Names

    /// Conditions with Parse's names instead of those of Parse's own database.
    static func renamed(_ json: JSONValue) -> JSONValue {
        guard let members = json.object else { return json }
        var renamed: JSONObject = [:]
        for (name, value) in members {
            if let parts = value.array, name.hasPrefix("$") {
                renamed[name] = .array(parts.map(Self.renamed))
            } else {
                renamed[DocumentExpression.path(name)?.joined(separator: ".") ?? name] = value
            }
        }
        return .object(renamed)
    }

    /// The fields that conditions ask of.
    static func fields(_ json: JSONValue) -> [[String]] {
        (json.object ?? [:]).flatMap { name, value in
            name.hasPrefix("$") ? (value.array ?? []).flatMap(fields) : [DocumentExpression.path(name) ?? []]
        }
    }
}

extension DocumentMatch.Test {
    fileprivate func holds(for value: JSONValue, _ timeLeft: inout Duration) throws(ParseError) -> Bool {
        switch self {
        case .isSet: return !value.isNull
        case .isNull: return value.isNull
        case .isOne(let values): return values.contains(value)
        case .compares(let comparison, let other):
            // Only values of one kind are compared.
            guard value.isAlike(other) else { return false }
            switch comparison {
            case .less: return value.precedes(other)
            case .lessOrEqual: return !other.precedes(value)
            case .greater: return other.precedes(value)
            case .greaterOrEqual: return !value.precedes(other)
            case .equal: return value == other
            case .notEqual: return value != other
            }
        case .finds(let search):
            guard let text = value.string else { return false }
            do {
                return try search.isFound(in: text, timeLeft: &timeLeft)
            } catch {
                throw ParseError(error)
            }
        }
    }
}

extension JSONValue {
    /// Whether two values are of one kind, so that one can be less than the other.
    fileprivate func isAlike(_ other: JSONValue) -> Bool {
        switch (self, other) {
        case (.string, .string), (.bool, .bool): true
        case (.object, .object): self["__type"] == "Date" && other["__type"] == "Date"
        default: number != nil && other.number != nil
        }
    }
}
