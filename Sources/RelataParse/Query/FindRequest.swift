import RelataCore
import RelataEngine

/// A request for the objects of a class that meet some conditions: `GET /classes/Book?where={"title":"Kindred"}`.
struct FindRequest: Sendable {
    private let className: String
    private let condition: JSONValue?
    /// An additional condition, in the predicate format.
    private let predicate: String?
    /// A full-text search of the class, which orders the objects if nothing else does.
    private let search: SearchText?
    private let order: [String]
    private let selection: Selection
    private let limit: Int?
    private let skip: Int?
    private let counts: Bool
    /// The pointer field whose class is queried instead.
    private let redirectKey: String?
    private let isMaster: Bool
    private let advice: QueryAdvice
    private let hookedClass: String?

    /// Reads the parameters of a request.
    ///
    /// - Throws: ``ParseError`` 102 for unknown parameters and invalid values.
    init(_ className: String, _ call: ParseCall) throws(ParseError) {
        try call.check(
            parameters: [
                "where", "order", "limit", "skip", "count", "readPreference", "includeReadPreference",
                "subqueryReadPreference", "redirectClassNameForKey", "predicate", "search",
            ] + QueryAdvice.parameters + Selection.parameters)
        self.className = className
        condition = try call.json("where")
        if let condition, condition.object == nil {
            throw ParseError(.invalidQuery, "where must be a JSON object")
        }
        predicate = try Self.masterText("predicate", of: call)
        search = try Self.masterText("search", of: call).map { SearchText($0) }
        order = try call.names("order") ?? []
        selection = try Selection(call)
        limit = try call.count("limit")
        skip = try call.count("skip")
        counts = try call.flag("count")
        isMaster = call.isMaster
        advice = try QueryAdvice(call)
        hookedClass = call.hookedClass
        let key = call.body["redirectClassNameForKey"]
        guard key == nil || key?.isNull == true || key?.string != nil else {
            throw ParseError(.invalidQuery, "redirectClassNameForKey must be the name of a field")
        }
        redirectKey = key?.string
    }

    /// As many bytes as an address may have: for lists of values, use `where`.
    private static let maximumText = 64 * 1024

    /// A text that asks for more than clients may: a condition in the format of predicates, or a search of an index,
    /// which has the words of all objects.
    private static func masterText(_ name: String, of call: ParseCall) throws(ParseError) -> String? {
        switch call.body[name] {
        case nil, .null?, ""?: return nil
        case .string(let text)?:
            guard call.isMaster else {
                throw ParseError(.invalidQuery, "Using the \(name) query parameter requires the master key")
            }
            guard text.utf8.count <= maximumText else {
                throw ParseError(.invalidQuery, "\(name) may have at most \(maximumText) bytes")
            }
            return text
        default: throw ParseError(.invalidQuery, "\(name) must be text")
        }
    }

    /// Answers it.
    func run(in transaction: ParseTransaction, _ options: ParseService.Options) throws -> WireReply {
        var reply = JSONWriter(capacity: 4096)
        reply.append("{\"results\":[")
        var count: Int64 = 0
        if let parseClass = try parseClass(in: transaction) {
            if redirectKey != nil, parseClass.name != hookedClass,
                options.asksHooks(toFind: parseClass.name, in: transaction.storedClasses)
            {
                throw ParseError.needsOwnRequest(parseClass.name)
            }
            let transaction = try transaction.reading(parseClass, limit == 0 && counts ? .count : .find)
            let query = try query(of: parseClass, in: transaction)
            var plan = query.plan
            plan.index = try advice.index(of: parseClass, in: transaction)
            if counts, !advice.isExplained { count = try transaction.reading(parseClass, .count).count(plan) }
            plan.limit = min(limit ?? options.defaultLimit, options.maximumLimit ?? .max)
            // Skipped objects cost nothing if there are none.
            plan.offset = skip == 0 ? nil : skip
            if advice.isExplained {
                let statement = try ObjectFetcher(transaction, limit: options.maximumReply).statement(
                    plan, selection, of: parseClass, score: query.score)
                return WireReply(["results": [try QueryAdvice.explanation(of: statement, in: transaction)]])
            }
            if plan.limit != 0 {
                let objects = try ObjectFetcher(transaction, limit: options.maximumReply).fetch(
                    plan, selection, of: parseClass, naming: redirectKey == nil ? .nothing : .className,
                    score: query.score)
                reply.append(json: objects.bytes)
            }
        } else {
            // A malformed request is refused even if the class doesn't exist yet.
            _ = try query(of: try .unknown(transaction.classes.dialect), in: transaction)
        }
        reply.append("]")
        if counts {
            reply.append(",\"count\":")
            reply.write(count)
        }
        reply.append("}")
        return WireReply(body: reply.bytes)
    }

    /// The queried class, and the class that its pointer field redirects to.
    func found(in classes: ClassSet) -> [String] {
        [className] + [redirectKey.flatMap { classes.target(of: $0, in: className) }].compactMap(\.self)
    }

    /// The class that is asked: of a relation's objects, clients know only the class that has the relation.
    private func parseClass(in transaction: ParseTransaction) throws(ParseError) -> ParseClass? {
        let parseClass = try transaction.readable(className, isMaster: isMaster)
        guard let redirectKey, let target = parseClass?[redirectKey]?.type.targetClass else { return parseClass }
        return transaction.classes[target]
    }

    /// The query, and the score of its objects if it is shown.
    private func query(
        of parseClass: ParseClass, in transaction: ParseTransaction
    ) throws(ParseError) -> (plan: QueryPlan, score: ExpressionNode?) {
        var reader = ConditionReader(transaction)
        var plan = QueryPlan(entity: parseClass.name)
        let conditions = [
            try condition.map { (condition) throws(ParseError) in try reader.condition(condition, of: parseClass) },
            try predicate.map { (text) throws(ParseError) in try Self.condition(text, of: parseClass, in: transaction)
            },
        ].compactMap(\.self)
        if conditions.count > 1 {
            plan.condition = .and(conditions)
        } else {
            plan.condition = conditions.first
        }
        plan.relatedTo = reader.owner
        if let search {
            guard parseClass.table.entity.search != nil else {
                throw ParseError(
                    .invalidQuery,
                    "search: \(parseClass.name) has no text index: add one, such as {\"title\": \"text\"}")
            }
            plan.search = ObjectSearch(search)
        }
        let score = search == nil ? reader.score : .relevance
        plan.sort = try reader.order(order, of: parseClass, score: score)
        if plan.sort.isEmpty { plan.sort = reader.nearest }
        guard selection.showsScore else { return (plan, nil) }
        guard let score else {
            throw ParseError(.invalidQuery, "keys: $score needs a $text in the query")
        }
        return (plan, score)
    }

    /// - Throws: ``ParseError`` 102 with the column of the error.
    private static func condition(
        _ predicate: String, of parseClass: ParseClass, in transaction: ParseTransaction
    ) throws(ParseError) -> ExpressionNode {
        do throws(RelataError) {
            // For a class that doesn't exist yet, a predicate has only the fields of every object.
            let schema =
                transaction.schema[parseClass.name] == nil ? try Schema([parseClass.stored]) : transaction.schema
            return try PredicateFormat.parse(predicate, entity: parseClass.name, schema: schema) { name, table in
                // Clients know every key by one name.
                let key = name == "objectId" && table.entity.key.count == 1 ? table.entity.key.first : nil
                return PredicateFormat.property(name, of: table) ?? key
            }
        } catch {
            throw ParseError(error)
        }
    }
}

/// A request for one object: `GET /classes/Book/x7Yz`.
struct GetRequest: Sendable {
    let className: String
    private let objectID: String
    private let selection: Selection
    private let isMaster: Bool
    /// A further condition on the object.
    private var condition: JSONObject = [:]

    /// Reads the parameters of a request.
    ///
    /// - Throws: ``ParseError`` 102 for unknown parameters.
    init(_ className: String, _ objectID: String, _ call: ParseCall) throws(ParseError) {
        try call.check(parameters: ["deletionPlan", "readPreference", "includeReadPreference"] + Selection.parameters)
        self.className = className
        self.objectID = objectID
        isMaster = call.isMaster
        selection = try Selection(call)
    }

    /// The same for an object that exists only if it meets conditions.
    func limited(to condition: JSONObject) -> GetRequest {
        var request = self
        request.condition = condition
        return request
    }

    /// Answers it.
    ///
    /// - Throws: ``ParseError`` 101 if the object doesn't exist.
    func run(in transaction: ParseTransaction, _ options: ParseService.Options) throws -> WireReply {
        guard let parseClass = try transaction.readable(className, isMaster: isMaster),
            let key = try transaction.key(objectID, of: parseClass)
        else {
            throw ParseError(.objectNotFound, "Object not found.")
        }
        let transaction = try transaction.reading(parseClass, .get)
        var plan = QueryPlan(entity: parseClass.name, condition: .keyIn(.property(scope: 0, path: []), [key]))
        if !condition.isEmpty {
            var reader = ConditionReader(transaction)
            let own = try reader.condition(.object(condition), of: parseClass)
            plan.condition = plan.condition.map { .and([$0, own]) } ?? own
            plan.relatedTo = reader.owner
        }
        let objects = try ObjectFetcher(transaction, limit: options.maximumReply).fetch(plan, selection, of: parseClass)
        guard !objects.ranges.isEmpty else { throw ParseError(.objectNotFound, "Object not found.") }
        return WireReply(body: objects.bytes)
    }
}

extension ParseTransaction {
    /// The number of a query's objects, without its limit and skip.
    func count(_ plan: QueryPlan) throws -> Int64 {
        let statement = try compiler.count(plan)
        guard case .integer(let count)? = try connection.value(statement) else { return 0 }
        return count
    }
}

extension ParseCall {
    /// Whether a deletion is only a preview.
    ///
    /// - Throws: ``ParseError`` 102 for any other parameter: it may be a misspelt one.
    func isDryRun() throws(ParseError) -> Bool {
        for name in (Array(parameters.keys) + body.keys).sorted() where name != "dryRun" {
            throw ParseError(.invalidQuery, "Invalid parameter for a deletion: \(name.prefix(64))")
        }
        guard body["dryRun"] == nil || parameters["dryRun"] == nil else {
            throw ParseError(.invalidQuery, "dryRun is both in the URL and in the body: give it once")
        }
        return try flag("dryRun")
    }

    /// - Throws: ``ParseError`` 102 for a parameter that isn't one of these.
    func check(parameters known: [String]) throws(ParseError) {
        for name in body.keys.sorted() where !known.contains(name) {
            throw ParseError(.invalidQuery, "Invalid parameter for query: \(name.prefix(64))")
        }
    }
}

extension ParseError {
    /// The error for objects whose hooks in the app's code can't be called here.
    static func needsOwnRequest(_ className: String) -> ParseError {
        ParseError(
            .operationForbidden, "objects of \(className) can only be queried by a separate request, not in a batch")
    }
}
