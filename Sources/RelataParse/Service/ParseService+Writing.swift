import Foundation
import Relata
import RelataCore
import RelataEngine

extension ParseService {
    /// Answers a request that writes, in one transaction. A repeated request gets the same reply.
    ///
    /// - Parameters:
    ///   - asked: The webhooks' answers about the objects.
    ///   - sharing: Whether waiting requests may be written in the same transaction.
    ///   - named: The new objects of the request that pointers may lead to.
    func writing(
        _ writes: [ObjectWrite], _ call: ParseCall, _ asked: AskedWrites, isAtomic: Bool = true, sharing: Bool = false,
        named: Set<Pointer> = [],
        _ body: @escaping @Sendable (BatchWriter) throws -> WireReply
    ) async throws -> WireReply {
        // Other processes may remove classes and fields at any time, also those that were just created for this
        // request.
        try await Self.retrying(ClassesChanged.self, "other requests are changing the classes of this one") {
            let known = store.currentClasses
            let (reply, prepared) = try await prepare(writes, call, isAtomic: isAtomic, named)
            if let reply { return reply }
            return try await write(writes, call, asked, sharing: sharing, preparedIn: prepared ?? known, body)
        }
    }

    /// The maximum number of times that something is tried for one request.
    static let attempts = 5

    /// Tries something again if other requests have overtaken it.
    ///
    /// - Parameters:
    ///   - overtaken: The error that says so.
    ///   - reason: A description of what the other requests are doing, for the client.
    /// - Throws: ``ParseError`` 155 if it is overtaken each time; other errors of `body`.
    static func retrying<Overtaken: Error, Result>(
        _ overtaken: Overtaken.Type, _ reason: String, _ body: () async throws -> Result
    ) async throws -> Result {
        for _ in 0..<attempts {
            do {
                return try await body()
            } catch is Overtaken {
                continue
            }
        }
        throw ParseError(.requestLimitExceeded, "\(reason): try again", status: 503)
    }

    /// Other processes removed a class or field that the request needs.
    private struct ClassesChanged: Error {}

    /// - Parameter prepared: The classes with all fields that the objects need and that can be created.
    private func write(
        _ writes: [ObjectWrite], _ call: ParseCall, _ asked: AskedWrites, sharing: Bool, preparedIn prepared: ClassSet,
        _ body: @escaping @Sendable (BatchWriter) throws -> WireReply
    ) async throws -> WireReply {
        let options = options
        let isMade = store.mode == .development && store.models == nil
        let (reply, actions, notices) = try await store.write(as: call.caller, sharing: sharing) { transaction in
            let reply = try Self.once(call, in: transaction, options) {
                if isMade, transaction.storedClasses !== prepared {
                    let isLost = writes.contains { write in
                        guard let (name, body) = write.body else { return false }
                        return SchemaDemand.isMet(by: prepared, name, body)
                            && !SchemaDemand.isMet(by: transaction.storedClasses, name, body)
                    }
                    if isLost { throw ClassesChanged() }
                }
                if options.asksHooksToWrite { try asked.check(in: transaction) }
                let writer = BatchWriter(
                    transaction: transaction, options: options, tellsUnset: call.tellsUnset)
                let reply = try body(writer)
                try transaction.checkCounts()
                return reply
            }
            return (reply, try transaction.actions(), try transaction.notices(limit: options.maximumReply))
        }
        for action in actions { await action() }
        for notice in notices {
            if let hooks = options.code.hooks(notice.trigger, notice.className), let cloud = asked.cloud {
                await tell(notice, hooks, cloud)
            } else {
                tell(notice, asked.caller)
            }
        }
        return reply
    }

    /// The earlier reply of a request, or the new one, which is stored.
    static func once(
        _ call: ParseCall, in transaction: ParseTransaction, _ options: Options, _ body: () throws -> WireReply
    ) throws -> WireReply {
        if let known = try RequestLog.reply(to: call, on: transaction.connection, now: transaction.now) { return known }
        let reply = try body()
        // Before the commit: a refused request writes nothing.
        guard reply.body.count <= options.maximumReply else { throw ParseError.replyTooLarge(options.maximumReply) }
        return try RequestLog.remembering(reply, to: call, options, in: transaction)
    }

    /// Creates missing classes and fields of the objects, if that is allowed.
    ///
    /// - Parameter isAtomic: Whether all of them are written or none, so that one error ends the request.
    /// - Returns: The earlier reply of a repeated request, for which nothing was done. Otherwise the classes, if any
    ///   were created.
    private func prepare(
        _ writes: [ObjectWrite], _ call: ParseCall, isAtomic: Bool, _ named: Set<Pointer>
    ) async throws -> (reply: WireReply?, classes: ClassSet?) {
        guard store.models == nil else { return (nil, nil) }
        // In production, use creates no class or field; but access lists are always stored.
        let makesFields = store.mode == .development
        if !makesFields,
            !writes.contains(where: { $0.body.map { $0.body.hasAccessList || $0.body.holdsFiles } ?? false })
        {
            return (nil, nil)
        }
        let known = store.currentClasses
        @Sendable func isMet(_ className: String, _ body: ObjectBody) -> Bool {
            if makesFields { return SchemaDemand.isMet(by: known, className, body) }
            return SchemaDemand.isAccessMet(by: known, className, body)
                || known.schema[className]?.entity.isOfClients != true
        }
        // Most requests contain nothing new.
        var last: (className: String, body: ObjectBody)?
        let areMet = writes.allSatisfy { write in
            guard let next = write.body else { return true }
            // Most objects of a batch have the same class and fields.
            if let last, last.className.hasSameBytes(as: next.className), last.body.hasFields(of: next.body),
                !next.body.holdsLargeIntegers, !next.body.hasAccessList, !next.body.holdsFiles
            {
                return true
            }
            last = next
            return isMet(next.className, next.body)
        }
        if areMet { return (nil, nil) }
        if call.requestID != nil,
            let known = try await store.read(
                as: call.caller, { try RequestLog.reply(to: call, on: $0.connection, now: $0.now) })
        {
            return (known, nil)
        }
        var all: [SchemaDemand] = []
        for write in writes {
            guard let (name, body) = write.body else { continue }
            do throws(ParseError) {
                all.append(try SchemaDemand(name, write.objectID, body))
            } catch {
                // The error of one object is reported when it is written: the others of a batch don't depend on it.
                if isAtomic { throw error }
            }
        }
        @Sendable func isMet(_ demand: SchemaDemand) -> Bool { isMet(demand.className, demand.body) }
        guard !all.allSatisfy(isMet) else { return (nil, nil) }
        let checked = isAtomic ? all : all.filter { !isMet($0) }
        let created = named.union(
            writes.compactMap { write -> Pointer? in
                guard case .create(let name, let body) = write, let id = body.objectID else { return nil }
                return Pointer(className: name, objectID: id)
            })
        // A request that is certain to be refused doesn't change classes.
        let demands = try await store.read(as: call.caller) { transaction in
            try checked.filter { demand in
                do throws(ParseError) {
                    try demand.validate(in: transaction, created)
                } catch {
                    if isAtomic { throw error }
                    return false
                }
                return !isMet(demand)
            }
        }
        guard !demands.isEmpty else { return (nil, nil) }
        try Self.checkCount(ofNew: Set(demands.lazy.map(\.className).filter { known[$0] == nil }))
        let severalGeoPoints = options.allowsSeveralGeoPoints
        let converted = demands.flatMap { demand in
            demand.convertedFields(of: known).map { ConvertedField(className: demand.className, field: $0) }
        }.uniqued()
        let (made, conversions) = try await NumberConversion.naming(converted) {
            try await store.alter { draft, connection in
                if !converted.isEmpty { try NumberConversion.waitBriefly(connection) }
                let types = try converted.map { try $0.columnType(of: draft.entity($0.className), connection) }
                for demand in demands {
                    // Others that write wait for it.
                    try Task.checkCancellation()
                    do throws(ParseError) {
                        try draft.attempt(changing: demand.className) { (draft) throws(ParseError) in
                            guard makesFields else { return demand.addAccess(to: &draft) }
                            let points = draft.geoPoints(of: demand.className)
                            try demand.add(to: &draft)
                            if !severalGeoPoints { try draft.checkGeoPoints(of: demand.className, since: points) }
                        }
                    } catch {
                        if isAtomic { throw error }
                    }
                }
                return types
            } finish: { types, transaction in
                let classes = transaction.storedClasses
                let conversions = try zip(converted, types).compactMap { field, old -> FieldConversion? in
                    let entity = classes.schema[field.className]?.entity
                    guard let old, let new = try field.columnType(of: entity, transaction.connection), new != old
                    else { return nil }
                    return FieldConversion(className: field.className, field: field.field, oldType: old, newType: new)
                }
                return (classes, conversions)
            }
        }
        for conversion in conversions { options.didConvert?(conversion) }
        return (nil, made)
    }

    /// - Throws: ``ParseError`` 155 for more new classes than one request may create: each is a table, and other
    ///   writers wait.
    static func checkCount(ofNew classes: Set<String>) throws(ParseError) {
        let count = classes.count
        guard count > ParseNames.maximumNewClasses else { return }
        throw ParseError(
            .requestLimitExceeded,
            "a request creates at most \(ParseNames.maximumNewClasses) classes, and this one has objects of \(count) new ones: send fewer at once",
            status: 400)
    }
}

extension ParseTransaction {
    /// Deletes an object that the caller may change, by the delete rules. Blockers are named if the caller sees them.
    func delete(_ key: KeyValue, of parseClass: ParseClass) throws -> DeletionReport {
        let isSeen =
            try !access.guards(parseClass.table) || connection.isSeen(key, of: parseClass.table, compiler)
        return try delete(parseClass, .keys([key]), under: isSeen ? caller.read : caller.delete)
    }

    /// Deletes objects of a class by the delete rules.
    ///
    /// - Parameter access: The objects that can be named in the report.
    func delete(
        _ parseClass: ParseClass, _ roots: DeletionRoots, under access: Access? = nil
    ) throws -> DeletionReport {
        try connection.delete(
            entity: parseClass.table.index, roots: roots, schema: schema, access: access ?? caller.delete, now: now,
            isUndoneByCaller: true)
    }

    /// The class and key of an object that is named.
    ///
    /// - Throws: ``ParseError`` 101 if it can't exist.
    func object(_ name: String, _ id: String) throws(ParseError) -> (ParseClass, KeyValue) {
        guard let parseClass = try writable(name), let key = try key(id, of: parseClass) else {
            throw ParseError(.objectNotFound, "Object not found.")
        }
        return (parseClass, key)
    }

    /// The class of that name with all of its fields: hidden ones can be written.
    ///
    /// - Throws: the errors of ``existing(_:)``.
    func writable(_ name: String) throws(ParseError) -> ParseClass? {
        try existing(name).flatMap { storedClasses[$0.name] }
    }

    /// - Throws: ``ParseError`` 101 for an object that the caller may not delete, as for a missing one; 119 if its
    ///   class doesn't allow it.
    func checkMayDelete(_ key: KeyValue, of parseClass: ParseClass) throws {
        try check(.delete, on: parseClass)
        guard caller.delete.guards(parseClass.table) else { return }
        guard try connection.isSeen(key, of: parseClass.table, compiler(under: caller.delete)) else {
            throw ParseError(.objectNotFound, "Object not found.")
        }
    }

    /// A query for the keys of all objects of a class.
    func keys(of parseClass: ParseClass) throws(RelataError) -> SQLStatement {
        try compiler.keys(QueryPlan(entity: parseClass.name)).statement
    }

    /// The plan of deleting an object.
    ///
    /// - Throws: ``ParseError`` 119 if links are hidden from the caller: the plan contains their targets.
    func deletionPlan(_ name: String, _ id: String) throws -> WireReply {
        let (parseClass, key) = try object(name, id)
        guard
            !storedClasses.schema.tables.contains(where: { table in
                caller.fieldsHidden(inSomeOf: table.name).contains { table.entity.relationship($0) != nil }
            })
        else {
            throw ParseError(
                .operationForbidden,
                "A deletion can't be previewed by a caller from whom pointers or relations are hidden."
            )
        }
        try checkMayDelete(key, of: parseClass)
        let report = try deletionPlan(of: parseClass, .keys([key]))
        guard report.deletedCount > 0 || report.isDenied else { throw ParseError(.objectNotFound, "Object not found.") }
        return WireReply(DeletionReportJSON(classes: classes).json(report))
    }

    /// The plans of deleting objects of a class, in order.
    func deletionPlan(of parseClass: ParseClass, _ roots: DeletionRoots) throws -> DeletionReport {
        try connection.deletionPlan(of: parseClass.table.index, roots: roots, schema: schema, access: access).sorted()
    }
}
