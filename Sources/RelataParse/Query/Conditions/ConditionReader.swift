import Foundation
import RelataCore

/// Reads the conditions of a query, Parse's `where`, as an expression. Only values and the names of fields come from
/// the request.
///
/// Comparison follows Parse: an unset field differs from every value, an array field is compared by its elements, and
/// values beyond relations and arrays meet a condition if any of them does. A negated operator holds if the operator
/// doesn't.
struct ConditionReader {
    let transaction: ParseTransaction
    /// Whether dates may be given as their text alone, as in a pipeline.
    var readsTextAsDates = false
    /// The default order of a query near a place: by distance.
    private(set) var nearest: [SortTerm] = []
    /// The number of found words of the query's text search; `nil` without one.
    private(set) var score: ExpressionNode?
    /// The object whose relation is queried, if that is the whole query and not a part of a choice.
    private(set) var owner: RelatedOwner?
    /// The classes of queries inside this one, and of owners of relations, whether they exist or not.
    private(set) var named: Set<String> = []
    private var lastScope = 0
    private var count = 0

    /// The number of operators one query may have.
    static let limit = 1000

    init(_ transaction: ParseTransaction, readsTextAsDates: Bool = false) {
        self.transaction = transaction
        self.readsTextAsDates = readsTextAsDates
    }

    var classes: ClassSet { transaction.classes }
    /// The time that `$relativeTime` counts from.
    var now: Date { transaction.now }

    /// A condition that no object meets.
    static let nothing = ExpressionNode.or([])
    /// A condition that every object meets.
    static let everything = ExpressionNode.and([])

    /// Takes note of a class that the conditions name.
    mutating func note(_ className: String) { named.insert(className) }

    // MARK: Objects

    /// The conditions of a query over a class.
    ///
    /// - Throws: ``ParseError`` 107 for unknown operators and invalid operands, 102 for invalid queries, 105 for
    ///   invalid names of fields.
    mutating func condition(_ json: JSONValue, of parseClass: ParseClass) throws(ParseError) -> ExpressionNode {
        try condition(json, of: Subject(parseClass: parseClass, scope: 0, path: []), isTopmost: true)
    }

    private mutating func condition(
        _ json: JSONValue, of subject: Subject, isTopmost: Bool
    ) throws(ParseError) -> ExpressionNode {
        guard let members = json.object else { throw ParseError(.invalidQuery, "where must be a JSON object") }
        var conditions: [ExpressionNode] = []
        // Sorted by name, so that equal queries are the same statement.
        for (key, value) in members.sorted {
            switch key {
            case "$and":
                for part in try parts(value, of: key) {
                    conditions.append(try condition(part, of: subject, isTopmost: isTopmost))
                }
            case "$or": conditions.append(.or(try choices(value, of: key, subject)))
            case "$nor":
                guard value.array != [] else {
                    throw ParseError(.invalidQuery, "Bad $nor format - use an array of at least 1 value.")
                }
                conditions.append(.not(.or(try choices(value, of: key, subject))))
            case "$relatedTo":
                let related = try related(value, to: subject)
                // The relation's order applies only to a query of the relation alone.
                if isTopmost, owner == nil, let related {
                    owner = related
                } else {
                    conditions.append(related.map { Self.isMember(subject, of: $0) } ?? Self.nothing)
                }
            case "ACL": throw ParseError(.invalidQuery, "Cannot query on ACL.")
            case _ where key.hasPrefix("$"): throw ParseError(.invalidKeyName, "Invalid key name: \(key.prefix(64))")
            default:
                conditions.append(try constraints(value, of: key, subject, isTopmost: isTopmost))
            }
        }
        return .and(conditions)
    }

    private func parts(_ value: JSONValue, of key: String) throws(ParseError) -> [JSONValue] {
        guard let parts = value.array else {
            throw ParseError(.invalidQuery, "Bad \(key) format - use an array value.")
        }
        return parts
    }

    private mutating func choices(
        _ value: JSONValue, of key: String, _ subject: Subject
    ) throws(ParseError) -> [ExpressionNode] {
        var choices: [ExpressionNode] = []
        for part in try parts(value, of: key) {
            try countOperator()
            choices.append(try condition(part, of: subject, isTopmost: false))
        }
        return choices
    }

    // MARK: Fields

    /// The conditions on one field.
    private mutating func constraints(
        _ value: JSONValue, of key: String, _ subject: Subject, isTopmost: Bool
    ) throws(ParseError) -> ExpressionNode {
        var target = try target(key, of: subject)
        if case .column(.property(_, let path), .text, _) = target.source, let field = path.last,
            target.ways.isEmpty, path == subject.path + [field],
            subject.parseClass.table.entity.search?.contains(field) == true,
            // The index has the words of all objects.
            transaction.caller.partlyHiddenFields[subject.parseClass.name]?.contains(field) != true
        {
            target.searched = ObjectSearch(
                SearchText(""), scope: subject.scope, path: subject.path, properties: [field])
        }
        guard let members = value.object, members.keys.contains(where: { $0.hasPrefix("$") }) else {
            try countOperator(target.places)
            return try equals(value, target)
        }
        var conditions = try operators(members, on: target, isTopmost: isTopmost)
        let plain = members.filter { !$0.key.hasPrefix("$") }
        if !plain.isEmpty { conditions.append(try equals(.object(plain), target)) }
        return .and(conditions)
    }

    mutating func operators(
        _ members: JSONObject, on target: Target, isTopmost: Bool = false
    ) throws(ParseError) -> [ExpressionNode] {
        var conditions: [ExpressionNode] = []
        for (name, operand) in members.sorted where name.hasPrefix("$") {
            try countOperator(target.places)
            let operation = Operation(name: name, operand: operand, field: target.name)
            conditions.append(try condition(operation, members, target, isTopmost: isTopmost))
        }
        return conditions
    }

    private mutating func condition(
        _ operation: Operation, _ siblings: JSONObject, _ target: Target, isTopmost: Bool
    ) throws(ParseError) -> ExpressionNode {
        let operand = operation.operand
        switch operation.name {
        case "$eq": return try equals(operand, target)
        case "$ne": return .not(try equals(operand, target))
        case "$lt": return try compares(.less, operation, target)
        case "$lte": return try compares(.lessOrEqual, operation, target)
        case "$gt": return try compares(.greater, operation, target)
        case "$gte": return try compares(.greaterOrEqual, operation, target)
        case "$in": return try isOne(of: try operation.list(), target, operation)
        case "$nin": return .not(try isOne(of: try operation.list(), target, operation))
        case "$all": return try hasAll(operation, target)
        case "$containedBy": return try isContained(by: operation, target)
        case "$exists":
            guard let exists = operand.bool else { throw operation.wrong("must be true or false") }
            return exists ? target.isSet : .not(target.isSet)
        case "$regex":
            let pattern = try Pattern(operation, options: siblings["$options"])
            return target.any { pattern.condition(on: $0) }
        case "$options":
            guard siblings["$regex"] != nil else { throw operation.wrong("needs a $regex") }
            return Self.everything
        case "$text":
            let search = try searches(operation, target)
            if let count = search.score {
                let known = ExpressionNode.function(.coalesce, [count, .value(.integer(0))])
                score = score.map { .arithmetic(.add, $0, known) } ?? known
            }
            return search.condition
        case "$not":
            guard let members = operand.object, members.keys.allSatisfy({ $0.hasPrefix("$") }) else {
                throw operation.wrong("must be an object of constraints")
            }
            return .not(.and(try operators(members, on: target)))
        case "$inQuery": return try isInQuery(operation, target)
        case "$notInQuery": return .not(try isInQuery(operation, target))
        case "$select": return try isSelected(operation, target)
        case "$dontSelect": return .not(try isSelected(operation, target))
        case "$nearSphere":
            let near = try near(operation, siblings, target)
            if isTopmost, nearest.isEmpty, let order = near.order { nearest = [order] }
            return near.condition
        case "$maxDistance", "$maxDistanceInRadians", "$maxDistanceInMiles", "$maxDistanceInKilometers":
            guard siblings["$nearSphere"] != nil else { throw operation.wrong("needs a $nearSphere") }
            return Self.everything
        case "$within": return try isInBox(operation, target)
        case "$geoWithin": return try isInArea(operation, target)
        case "$geoIntersects": return try holdsPoint(operation, target)
        default: throw operation.malformed("bad constraint: \(operation.name.prefix(64))")
        }
    }

    // MARK: Bounds

    /// - Parameter places: The number of places where the compared values may be.
    mutating func countOperator(_ places: Int = 1) throws(ParseError) {
        count += places
        guard count <= Self.limit else {
            throw ParseError(
                .invalidQuery, "the query has more than \(Self.limit) conditions: use $in for lists of values")
        }
    }

    /// The number of a scope that nothing else uses.
    mutating func newScope() -> Int {
        lastScope += 1
        return lastScope
    }

    /// Reads the conditions of an inner query, with its own scopes.
    mutating func nested(_ json: JSONValue, of parseClass: ParseClass) throws(ParseError) -> QueryPlan {
        let (outerOwner, outerNearest, outerScore) = (owner, nearest, score)
        (owner, nearest) = (nil, [])
        defer { (owner, nearest, score) = (outerOwner, outerNearest, outerScore) }
        let condition = try condition(json, of: parseClass)
        return QueryPlan(entity: parseClass.name, condition: condition, sort: nearest, relatedTo: owner)
    }
}

/// An operator of a query, with its operand.
struct Operation {
    let name: String
    let operand: JSONValue
    /// The field as the request names it.
    let field: String

    /// The error for an operand that the operator doesn't take. As in Parse's own server, it is 102 only for operators
    /// that take a query.
    func wrong(_ message: String) -> ParseError {
        let takesQuery = ["$inQuery", "$notInQuery", "$select", "$dontSelect"].contains(name)
        return error(takesQuery ? .invalidQuery : .invalidJSON, message)
    }

    /// The error for a query inside a query that isn't described as one.
    func misused(_ message: String) -> ParseError {
        ParseError(.invalidQuery, "improper usage of \(name): \(field) \(message)")
    }

    /// The error for an operand that the operator doesn't take, with the text of Parse's own server, by which clients
    /// recognise it.
    func malformed(_ message: String) -> ParseError { ParseError(.invalidJSON, message) }

    /// The error for an operand that can't be worked with.
    func refused(_ message: String) -> ParseError { error(.invalidQuery, message) }

    private func error(_ code: ParseError.Code, _ message: String) -> ParseError {
        ParseError(code, "\(field): \(name.prefix(64)) \(message)")
    }

    func list() throws(ParseError) -> [JSONValue] {
        guard let list = operand.array else { throw malformed("bad \(name) value") }
        return list
    }
}
