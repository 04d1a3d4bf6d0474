public import RelataCore
public import RelataEngine

/// A query of a class: its condition, order and includes.
///
/// ```swift
/// let query = RecordQuery("Album", where: "year < %@ AND artist.name BEGINSWITH 'Miles'", 1960, sort: "-year,title")
///     .including("artist", "tracks.genre")
/// ```
///
/// The searched fields of a class are declared with ``ClassesDraft/addSearch(_:in:)``; ``search`` searches them.
///
/// The condition is text in the predicate format; values from outside belong into its arguments, one for each `%@`.
public struct RecordQuery: Hashable, Sendable {
    /// The name of the class.
    public let className: String
    /// The condition, in the predicate format; `nil` for all objects.
    public let condition: String?
    /// The arguments of the condition's placeholders.
    public let arguments: [PredicateArgument]
    /// Paths and aggregates to sort by, separated by commas, with a `-` before descending ones; `nil` for no order.
    public var sort: String?
    /// A full-text search in the searched fields of the class, in the syntax of `SearchText`; `nil` for no search.
    /// Without a ``sort`` the best matches come first.
    public var search: String?
    /// The largest number of objects.
    public var limit: Int?
    /// The number of objects to skip.
    public var offset: Int?
    /// The includes of the objects.
    var includes: [Include] = []
    /// The reason why an argument is invalid in a condition.
    private var argumentProblem: String?

    /// A relationship that is loaded.
    struct Include: Hashable {
        let path: String
        let condition: String?
        let arguments: [PredicateArgument]
        let sort: String?
        let limit: Int?
    }

    /// Describes a query.
    ///
    /// - Parameters:
    ///   - className: The name of the class.
    ///   - condition: The condition, in the predicate format; by default, all objects meet it.
    ///   - arguments: The arguments of the condition's placeholders, in order: values, records, links, or arrays.
    ///   - sort: Paths and aggregates such as `"artist.name,-tracks.@count"`. By default, the order isn't defined.
    ///   - limit: The maximum number of objects; all by default.
    ///   - offset: The number of objects to skip; none by default.
    public init(
        _ className: String, where condition: String? = nil, _ arguments: any PredicateArgumentConvertible...,
        sort: String? = nil, limit: Int? = nil, offset: Int? = nil
    ) {
        self.className = className
        self.condition = condition
        self.sort = sort
        self.limit = limit
        self.offset = offset
        do {
            self.arguments = try arguments.map { try $0.predicateArgument }
        } catch {
            self.arguments = []
            argumentProblem = "\(error)"
        }
    }

    /// The query with includes of the relationships on some paths: `"artist"`, `"tracks.genre"`.
    ///
    /// ```swift
    /// RecordQuery("Album").including("artist").including("tracks", where: "seconds > 300", sort: "number", limit: 3)
    /// ```
    ///
    /// - Parameters:
    ///   - condition: The condition on the related objects, in the predicate format.
    ///   - arguments: The arguments of the condition's placeholders, in order.
    ///   - sort: The order; `nil` for the order of the relationship.
    ///   - limit: The largest number for each object.
    public func including(
        _ paths: String..., where condition: String? = nil, _ arguments: any PredicateArgumentConvertible...,
        sort: String? = nil, limit: Int? = nil
    ) -> RecordQuery {
        var query = self
        var given: [PredicateArgument] = []
        do {
            given = try arguments.map { try $0.predicateArgument }
        } catch {
            query.argumentProblem = "\(error)"
        }
        query.includes += paths.map {
            Include(path: $0, condition: condition, arguments: given, sort: sort, limit: limit)
        }
        return query
    }

    /// The query with includes of the relationships on some paths, which are separated by commas.
    package func including(list: String?) -> RecordQuery {
        Self.list(list).reduce(self) { $0.including($1) }
    }
}

// MARK: Arguments

extension RecordValue: PredicateArgumentConvertible {
    /// Its value in a condition.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for a value that can't be stored.
    public var predicateArgument: PredicateArgument {
        get throws {
            switch self {
            case .link(let link): return try link.predicateArgument
            case .links(let links): return try links.predicateArgument
            default:
                guard let type = attributeType else { return .value(.null) }
                guard let value = stored(as: type) else {
                    throw RelataError.invalidUse("\(self) can't be compared with the stored values: give another value")
                }
                return .value(value)
            }
        }
    }
}

extension RecordLink: PredicateArgumentConvertible {
    /// The object's key, for a condition.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for an object that isn't stored.
    public var predicateArgument: PredicateArgument {
        get throws {
            guard let key else {
                throw RelataError.invalidUse(
                    "an object of \(className) that isn't stored can't be an argument for %@: save it first")
            }
            return .ofEntity(className, .key(key))
        }
    }
}

extension Record: PredicateArgumentConvertible {
    /// The object's key, for a condition.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for an object that isn't stored.
    public var predicateArgument: PredicateArgument { get throws { try RecordLink(self).predicateArgument } }
}

// MARK: Plans

extension RecordQuery {
    /// The query in its executable form, if the class exists.
    package func plan(in classes: RecordClasses) throws(RelataError) -> (plan: QueryPlan, includes: [IncludePlan])? {
        if let argumentProblem { throw .invalidUse(argumentProblem) }
        guard let table = classes.names.entity(className) else { return nil }
        for number in [limit, offset] + self.includes.map(\.limit) {
            if let number, number < 0 {
                throw .invalidUse("a limit or offset of \(number) is negative: give a number of objects")
            }
        }
        var plan = QueryPlan(entity: table.name, limit: limit, offset: offset)
        plan.condition = try Self.condition(condition, arguments, of: table, classes)
        plan.search = search.map { ObjectSearch(SearchText($0)) }
        plan.sort = try Self.sort(sort, of: table, classes)
        var includes: [IncludePlan] = []
        for include in self.includes { includes.append(try Self.plan(include, from: table, classes)) }
        return (plan, try IncludePlan.merged(includes))
    }

    private static func condition(
        _ text: String?, _ arguments: [PredicateArgument], of table: Table, _ classes: RecordClasses
    ) throws(RelataError) -> ExpressionNode? {
        guard let text else {
            guard arguments.isEmpty else {
                throw .invalidUse("arguments were given without a condition: write one with %@")
            }
            return nil
        }
        return try PredicateFormat.parse(
            text, arguments: arguments, entity: table.name, schema: classes.schema,
            resolveName: classes.names.property)
    }

    private static func list(_ text: String?) -> [String] {
        (text ?? "").split(separator: ",").map {
            String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
    }

    private static func sort(
        _ text: String?, of table: Table, _ classes: RecordClasses
    ) throws(RelataError) -> [SortTerm] {
        var terms: [SortTerm] = []
        for word in list(text) {
            let path = String(word.drop { $0 == "-" || $0 == "+" })
            let node: ExpressionNode =
                path.contains("@")
                ? try PredicateFormat.value(
                    path, entity: table, schema: classes.schema, resolveName: classes.names.property)
                : .property(scope: 0, path: try classes.path(path, from: table).names)
            terms.append(SortTerm(node, isAscending: !word.hasPrefix("-")))
        }
        return terms
    }

    /// The relationships on a path, each within the one before; the last with its condition and order.
    private static func plan(
        _ include: Include, from table: Table, _ classes: RecordClasses
    ) throws(RelataError) -> IncludePlan {
        let path = try classes.path(include.path, from: table, isInclude: true)
        var plan = IncludePlan(path.names[path.names.count - 1], limit: include.limit)
        if let target = path.end {
            plan.condition = try condition(include.condition, include.arguments, of: target, classes)
            plan.sort = try sort(include.sort, of: target, classes)
        }
        return path.names.dropLast().reversed().reduce(plan) { IncludePlan($1, children: [$0]) }
    }
}

extension RecordClasses {
    /// The properties that the words of a path mean, and the class that it ends at: `artist.Name` is `artist`, `name`.
    ///
    /// - Parameter isInclude: Whether the path ends at a class if that is possible: at the one to which an attribute
    ///   refers.
    package func path(
        _ text: String, from table: Table, isInclude: Bool = false
    ) throws(RelataError) -> (names: [String], end: Table?) {
        var path: [String] = []
        var current: Table? = table
        let words = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        for (place, word) in words.enumerated() {
            guard let table = current else {
                throw .invalidUse("\(text): \(path.last ?? text) is an attribute: a path ends there")
            }
            guard let property = names.property(word, of: table) else {
                throw .invalidUse(
                    "\(table.name) has no property \(word)"
                        + NameSuggestion.hint(for: word, among: table.entity.properties.map(\.name)))
            }
            var link = table.entity.relationship(property)
            if link == nil, isInclude || place < words.count - 1 { link = table.matched(from: property) }
            path.append(link?.name ?? property)
            current = link.flatMap { schema[$0.target] }
        }
        return (path, current)
    }
}
