import Foundation
import RelataCore
import RelataEngine
import RelataRecords

/// Reads the data of live queries from one state of the store.
struct LiveReader {
    let transaction: ParseTransaction
    /// A moment before the read: it covers all that was committed by then.
    let start: Date
    let options: ParseService.Options
    /// The addresses of files; `nil` if there are no files.
    let fileURLs: FileURLs?

    /// The group of a query, with the objects that meet the conditions.
    struct Found: Sendable {
        let key: LiveGroup.Key
        let plan: QueryPlan?
        /// The other classes whose objects affect the conditions.
        var others: Set<String> = []
        let classes: ClassSet
        /// Whether all callers who see an object see the same fields and pointers.
        var sharesContent = false
        /// A text that an object must contain; `nil` if there is none by which to find objects.
        var term: LiveIndex.Term?
        var matched: [KeyValue: LiveGroup.Seen] = [:]
    }

    /// The classes with all of their fields.
    var classes: ClassSet { transaction.storedClasses }

    // MARK: Callers

    private var lookup: CallerLookup {
        CallerLookup(
            connection: transaction.connection, classes: classes, now: transaction.now, secrets: transaction.secrets)
    }

    /// The identity of a caller: its session and its roles.
    ///
    /// - Throws: ``ParseError`` 209 for a session that is unknown or has ended.
    func identity(_ caller: Caller) throws -> KnownCaller {
        let session = try lookup.session(of: caller)
        // The store itself may be limited by the app that opened it.
        if transaction.caller.read.isLimited { return KnownCaller(isMaster: true, session: session) }
        if caller.isMaster { return KnownCaller(isMaster: true, session: session) }
        return KnownCaller(session: session, principals: try lookup.principals(of: session))
    }

    /// A caller with its access.
    func seeing(_ identity: KnownCaller) throws -> KnownCaller {
        transaction.caller.read.isLimited ? transaction.caller : try lookup.seeing(identity)
    }

    /// The mask of a query's caller for hooks of its class's events; `nil` if there are none.
    func mask(of query: LiveQuery, as identity: KnownCaller) -> LiveMask? {
        guard options.asksHooks(.afterEvent, query.className, in: classes) else { return nil }
        return LiveMask(lookup.hiding(identity), query)
    }

    /// The users and roles that these access lists allow to read.
    func readers(of lists: Set<KeyValue>) throws -> [KeyValue: Set<String>] {
        if lists.isEmpty { return [:] }
        let plan = QueryPlan(
            entity: InternalClasses.accessEntry,
            condition: .and([
                .keyIn(.property(scope: 0, path: ["list"]), Array(lists)),
                .comparison(.equal, .property(scope: 0, path: ["canRead"]), .value(.integer(1)), []),
            ]))
        let query = try transaction.unlimitedCompiler.select(
            plan, columns: .expressions(["list", "principal"].map { .property(scope: 0, path: [$0]) }))
        var readers = Dictionary(uniqueKeysWithValues: lists.map { ($0, Set<String>()) })
        for row in try transaction.connection.values(query.statement, types: query.columnTypes) {
            guard case .text(let principal) = row[1] else { continue }
            readers[KeyValue(row[0])]?.insert(principal)
        }
        return readers
    }

    /// Runs a part of the read. If it fails, the other parts can still be read.
    func apart<Result>(_ body: () throws -> Result) throws -> Result {
        // If an error would end the transaction, a savepoint keeps it usable.
        guard !transaction.connection.driver.capabilities.survivesErrors else { return try body() }
        return try transaction.connection.savepoint(body)
    }

    // MARK: Conditions

    /// The group of a query, without the objects that meet the conditions.
    ///
    /// - Throws: ``ParseError`` for invalid conditions, and for classes that the caller may not read.
    func group(of className: String, _ condition: String, as known: KnownCaller) throws -> Found {
        let own = ParseTransaction(transaction, as: known)
        let json = try JSONParser.parse(condition)
        guard let parseClass = try own.readable(className, isMaster: known.isMaster) else {
            // Malformed conditions are refused even if the class doesn't exist yet.
            var reader = ConditionReader(own)
            _ = try reader.condition(json, of: try .unknown(own.classes.dialect))
            return Found(
                key: LiveGroup.Key(className: className, condition: condition, rights: nil), plan: nil, classes: classes
            )
        }
        let reading = try own.reading(parseClass, .find)
        var reader = ConditionReader(reading)
        var plan = QueryPlan(entity: parseClass.name)
        plan.condition = try reader.condition(json, of: parseClass)
        plan.relatedTo = reader.owner
        let others = reader.named
        let limited = classes.limitedPointers(of: parseClass.table.entity)
        let isShared =
            others.isEmpty && plan.relatedTo == nil && plan.condition?.readsOneObject(besides: limited) != false
            && !InternalClasses.contains(parseClass.name) && !transaction.caller.read.isLimited
            && known.fieldsHidden(inSomeOf: parseClass.name).isEmpty
            && known.permission(.find, on: parseClass.options.permissions) == .everything
        let key = LiveGroup.Key(
            className: parseClass.name, condition: condition, rights: isShared ? nil : LiveRights(known))
        return Found(
            key: key, plan: plan, others: others, classes: classes, sharesContent: isShared && limited.isEmpty)
    }

    /// The properties that a query watches; `nil` for all.
    ///
    /// - Throws: ``ParseError`` 102 for fields that don't exist, and, in the same words, for those that are hidden from
    ///   the caller in all or some objects: their changes aren't reported.
    func watched(by query: LiveQuery, as known: KnownCaller) throws(ParseError) -> Set<String>? {
        // While the class doesn't exist, its fields are unknown.
        guard let watch = query.watch, let parseClass = classes[query.className] else { return query.watch }
        let hidden = known.fieldsHidden(inSomeOf: query.className)
        // Objects get the link to an access list when a class first needs it.
        for name in watch.sorted()
        where parseClass[name] == nil && ClassDescription.givenFields[name] == nil || hidden.contains(name) {
            throw ParseError(
                .invalidQuery,
                "a live query can't watch \(name.prefix(128)): \(parseClass.name) has no such field, or not all of its objects show it"
            )
        }
        return Set(watch.map { $0 == "updatedAt" ? parseClass.table.entity.updatedAt ?? $0 : $0 })
    }

    /// A query's group with the objects that meet the conditions.
    ///
    /// - Returns: `nil` if there are more than `limit`.
    func filled(_ group: Found, as known: KnownCaller, limit: Int) throws -> Found? {
        guard let plan = group.plan else { return group }
        var found = group
        found.term = try requiredText(plan)
        let log = AccessLog()
        found.matched = try transaction.connection.logging(log) {
            try matching(plan, of: found.key, as: known, limit: limit)
        }
        if found.matched.count > limit { return nil }
        if plan.relatedTo != nil || plan.condition?.readsOneObject() == false {
            let isAlsoElsewhere = plan.relatedTo != nil || plan.condition?.mayLead(to: plan.entity) == true
            var others = classes.entities(in: log.reads)
            if !isAlsoElsewhere { others.remove(plan.entity) }
            found.others.formUnion(others)
        }
        return found
    }

    /// The objects that meet a group's conditions.
    ///
    /// - Parameters:
    ///   - keys: The objects to look at; `nil` for all.
    ///   - statement: The group's statement for some objects. It is for one schema, and for groups that all callers
    ///     share.
    ///   - limit: The number of objects that isn't too many. At most one more is read.
    func matching(
        _ plan: QueryPlan, of group: LiveGroup.Key, as known: KnownCaller, among keys: [KeyValue]? = nil,
        _ statement: LiveStatement? = nil, limit: Int? = nil
    ) throws -> [KeyValue: LiveGroup.Seen] {
        let own = ParseTransaction(transaction, as: group.rights == nil ? .master : known)
        guard let parseClass = own.classes[plan.entity] else { return [:] }
        let reading = try own.reading(parseClass, .find)
        let (table, width) = (parseClass.table, parseClass.table.keyColumns.count)
        var nodes = [ExpressionNode.property(scope: 0, path: [])]
        let stamp = table.entity.updatedAt
        if let stamp { nodes.append(.property(scope: 0, path: [stamp])) }
        if group.rights == nil, table.entity.isGuarded {
            nodes.append(.property(scope: 0, path: [InternalClasses.link]))
        }
        func compiled(_ keys: [KeyValue]?) throws -> CompiledQuery {
            var plan = plan
            if let keys {
                let isAsked = ExpressionNode.keyIn(.property(scope: 0, path: []), keys)
                plan.condition = .and([plan.condition, isAsked].compactMap(\.self))
            }
            plan.limit = limit.map { max($0, 0) + 1 }
            return try reading.compiler.select(plan, columns: .expressions(nodes))
        }
        let query: CompiledQuery
        if let keys, let statement, group.rights == nil {
            query = try statement.query(among: keys, compiled)
        } else {
            query = try compiled(keys)
        }
        let rows = try transaction.connection.values(query.statement, types: query.columnTypes)
        var matched: [KeyValue: LiveGroup.Seen] = [:]
        matched.reserveCapacity(rows.count)
        for row in rows {
            var rest = row.dropFirst(width)
            let time = stamp == nil ? nil : rest.popFirst()
            let list = rest.popFirst().flatMap { $0.isNull ? nil : KeyValue($0) }
            matched[KeyValue(Array(row.prefix(width)))] = LiveGroup.Seen(
                stamp: time.map(\.stampNumber) ?? 0, list: list)
        }
        return matched
    }

    /// The objects that exist among these.
    func existing(_ keys: [KeyValue], of className: String) throws -> Set<KeyValue> {
        if keys.isEmpty || transaction.schema[className] == nil { return [] }
        return try self.keys(transaction.unlimitedCompiler.keys(of: className, among: keys))
    }

    private func keys(_ query: CompiledQuery) throws -> Set<KeyValue> {
        Set(try transaction.connection.values(query.statement, types: query.columnTypes).map { KeyValue($0) })
    }

    /// A text that an object must contain before it can meet a query's condition; `nil` if there is none, or if the
    /// database takes more texts for equal than ``LiveIndex`` does, by another program's collation.
    private func requiredText(_ plan: QueryPlan) throws -> LiveIndex.Term? {
        guard let term = plan.condition?.requiredText, let table = transaction.schema[plan.entity] else { return nil }
        var columns = table.columnIndexes(of: term.property).map { (table.sqlName, table.columns[$0].name) }
        // The key of the object that a pointer leads to may be compared instead.
        if let target = table.entity.relationship(term.property).flatMap({ transaction.schema[$0.target] }) {
            columns += target.keyColumnNames.map { (target.sqlName, $0) }
        }
        let (connection, driver) = (transaction.connection, transaction.connection.driver)
        let isPlain = try columns.allSatisfy { try driver.comparesPlainly($0.1, of: $0.0, connection) }
        return isPlain ? term : nil
    }

    /// The texts that some objects have in a property; `nil` if it isn't text.
    func texts(of property: String, _ keys: [KeyValue], of className: String) throws -> [(key: KeyValue, text: String)]?
    {
        guard let table = transaction.schema[className] else { return [] }
        let query = try transaction.unlimitedCompiler.select(
            QueryPlan(entity: className, condition: .keyIn(.property(scope: 0, path: []), keys)),
            columns: .expressions([.property(scope: 0, path: []), .property(scope: 0, path: [property])]))
        let width = table.keyColumns.count
        guard query.columnTypes.count == width + 1, query.columnTypes[width] == .text else { return nil }
        var texts: [(key: KeyValue, text: String)] = []
        for row in try transaction.connection.values(query.statement, types: query.columnTypes) {
            switch row[width] {
            case .text(let text): texts.append((KeyValue(Array(row.prefix(width))), text))
            case .null: break
            // SQLite takes any value for any column.
            default: return nil
            }
        }
        return texts
    }

    /// The objects among these that were created after a moment.
    func created(_ keys: [KeyValue], of className: String, after moment: Date) throws -> Set<KeyValue> {
        guard !keys.isEmpty, let table = transaction.schema[className], let stamp = table.entity.createdAt,
            let type = table.entity.attribute(stamp)?.type
        else { return [] }
        let isLater = ExpressionNode.comparison(
            .greater, .property(scope: 0, path: [stamp]), .value(type.stamp(moment)), [])
        return try self.keys(
            transaction.unlimitedCompiler.keys(
                QueryPlan(entity: className, condition: .and([.keyIn(.property(scope: 0, path: []), keys), isLater])),
                isOrdered: false))
    }

    // MARK: Objects

    /// The parts of a query that decide what its events show of an object.
    struct Content: Hashable, Sendable {
        let className: String
        let selection: Selection
        /// The rights with which objects are read; `nil` if everyone who sees an object sees the same content.
        let rights: LiveRights?

        /// - Parameter isShared: Whether one reading may serve all callers who see the object.
        init(_ group: LiveGroup, _ audience: LiveGroup.Audience, isShared: Bool) {
            className = group.key.className
            selection = audience.selection
            let isShared = isShared && group.sharesContent && selection.included.isEmpty && !selection.includesAll
            rights = isShared ? nil : audience.rights
        }
    }

    /// Objects as JSON. Those that the caller doesn't see are left out.
    ///
    /// - Parameter known: One of the callers that get the objects.
    func objects(
        _ keys: [KeyValue], _ content: Content, as known: KnownCaller
    ) throws -> [KeyValue: String] {
        let own = ParseTransaction(transaction, as: known)
        guard let parseClass = own.classes[content.className] else { return [:] }
        let reading = try own.reading(parseClass, .find)
        var byID: [SameBytes: KeyValue] = [:]
        for key in keys { byID[SameBytes(parseClass.objectID.text(key))] = key }
        var objects: [KeyValue: String] = [:]
        for start in stride(from: 0, to: keys.count, by: Self.objectsAtOnce) {
            let some = Array(keys[start..<min(start + Self.objectsAtOnce, keys.count)])
            let plan = QueryPlan(entity: parseClass.name, condition: .keyIn(.property(scope: 0, path: []), some))
            let fetched = try ObjectFetcher(reading, limit: options.maximumReply).fetch(
                plan, content.selection, of: parseClass, naming: .className)
            for (id, range) in zip(fetched.ids, fetched.ranges) {
                guard let key = byID[SameBytes(id)] else { continue }
                let bytes = Array(fetched.bytes[range])
                objects[key] = String(decoding: fileURLs?.adding(to: bytes) ?? bytes, as: UTF8.self)
            }
        }
        return objects
    }

    private static let objectsAtOnce = 500

    /// The JSON of an object that the caller no longer sees: its class and id.
    func name(_ key: KeyValue, of className: String) -> String {
        let id = transaction.classes[className]?.objectID.text(key) ?? key.description
        return JSONWriter.text(["className": .string(className), "objectId": .string(id)])
    }
}

extension Value {
    /// A number that differs for different times.
    fileprivate var stampNumber: Int {
        if case .integer(let number) = self { return Int(number) }
        return hashValue
    }
}

extension ExpressionNode {
    /// Whether the expression reads only values of the query's own object.
    ///
    /// - Parameter names: Properties that don't look the same to all callers.
    func readsOneObject(besides names: Set<String> = []) -> Bool {
        switch self {
        case .property(let scope, let path):
            scope == 0 && path.count < 2 && path.first.map(names.contains) != true
        case .found(let search): search.scope == 0 && search.path.isEmpty
        case .quantified, .aggregate, .groupAggregate, .inQuery, .sql, .relevance: false
        default: parts.allSatisfy { $0.readsOneObject(besides: names) }
        }
    }

    /// Whether the expression may read other objects of the query's own class.
    fileprivate func mayLead(to className: String) -> Bool {
        switch self {
        case .property(_, let path): path.count > 1
        case .inQuery(let node, let plan, let selected):
            plan.entity == className || plan.relatedTo != nil || !plan.sort.isEmpty
                || [node, plan.condition, selected].contains { $0?.mayLead(to: className) == true }
        case .found, .quantified, .aggregate, .groupAggregate, .sql, .relevance: true
        default: parts.contains { $0.mayLead(to: className) }
        }
    }
}
