import Foundation
import Relata
import RelataCore
import RelataSQLite

extension ParseService {
    /// Answers a request that writes, in one transaction. One that was answered before gets the same reply.
    func writing(
        _ writes: [ObjectWrite], _ call: ParseCall, isAtomic: Bool = true,
        _ body: @escaping @Sendable (BatchWriter) throws -> WireReply
    ) async throws -> WireReply {
        try await prepare(writes, isAtomic: isAtomic)
        let options = options
        let (reply, actions) = try await store.write(
            isShared: writes.count == 1 && writes[0].body != nil
        ) { transaction -> (WireReply, [ParseTransaction.Action]) in
            let reply = try Self.once(call, in: transaction, options) {
                let writer = BatchWriter(
                    transaction: transaction, options: options, tellsUnset: call.tellsUnset,
                    isBatch: call.path.first == "batch")
                let reply = try body(writer)
                try transaction.checkCounts()
                return reply
            }
            return (reply, transaction.agenda.actions)
        }
        for action in actions { await action() }
        return reply
    }

    /// What a request did before, or does now and is remembered by.
    static func once(
        _ call: ParseCall, in transaction: ParseTransaction, _ options: Options, _ body: () throws -> WireReply
    ) throws -> WireReply {
        if let known = try RequestLog.reply(to: call, on: transaction.connection, now: transaction.now) { return known }
        let reply = try body()
        // Before the commit: what is refused isn't done.
        guard reply.body.count <= options.maximumReply else { throw ParseError.replyTooLarge(options.maximumReply) }
        return try RequestLog.remembering(reply, to: call, options, in: transaction)
    }

    /// Makes the classes and fields that the objects bring along, where that is allowed.
    ///
    /// - Parameter isAtomic: Whether all of them are written or none, so that what is wrong with one ends the request.
    private func prepare(_ writes: [ObjectWrite], isAtomic: Bool) async throws {
        guard store.mode == .development, store.models == nil else { return }
        let known = store.currentClasses
        // Most requests bring nothing new.
        let isMet = writes.allSatisfy { write in
            write.body.map { SchemaDemand.isMet(by: known, $0.className, $0.body) } ?? true
        }
        if isMet { return }
        var all: [SchemaDemand] = []
        for write in writes {
            guard let (name, body) = write.body else { continue }
            do throws(ParseError) {
                all.append(try SchemaDemand(name, write.objectID, body))
            } catch {
                // What is wrong with one object is said when it is written: the others of a batch don't wait for it.
                if isAtomic { throw error }
            }
        }
        guard all.contains(where: { !$0.isMet(by: known) }) else { return }
        let checked = isAtomic ? all : all.filter { !$0.isMet(by: known) }
        let created = Set(
            writes.compactMap { write -> Pointer? in
                guard case .create(let name, let body) = write, let id = body.objectID else { return nil }
                return Pointer(className: name, objectID: id)
            })
        // What will be refused whatever the classes are leaves no trace in them.
        let demands = try await store.read { transaction in
            try checked.filter { demand in
                do throws(ParseError) {
                    try demand.validate(in: transaction, created)
                } catch {
                    if isAtomic { throw error }
                    return false
                }
                return !demand.isMet(by: known)
            }
        }
        guard !demands.isEmpty else { return }
        try await store.alter { draft, _ in
            for demand in demands {
                var trial = draft
                do {
                    try demand.add(to: &trial)
                    draft = trial
                } catch {
                    if isAtomic { throw error }
                }
            }
        }
    }
}

/// Writes objects within a transaction.
struct BatchWriter {
    let transaction: ParseTransaction
    let options: ParseService.Options
    /// Whether the client is told that an app unset a field.
    private let tellsUnset: Bool
    /// Whether a reply is a part of another, which has no header.
    private let isBatch: Bool
    /// The time of the transaction, as clients are told.
    private let now: String

    init(
        transaction: ParseTransaction, options: ParseService.Options, tellsUnset: Bool = false, isBatch: Bool = false
    ) {
        self.transaction = transaction
        self.options = options
        self.tellsUnset = tellsUnset
        self.isBatch = isBatch
        now = DateText.parseText(transaction.now)
    }

    /// Answers one request of several. What it wrote is taken back if it fails.
    func alone(_ route: ObjectRoute, _ body: () throws -> WireReply) throws -> Result<WireReply, ParseError> {
        let (connection, agenda) = (transaction.connection, transaction.agenda)
        if isOneStatement(route) {
            do {
                return .success(try body())
            } catch {
                guard connection.isInTransaction else { throw error }
                return .failure(ParseError(error))
            }
        }
        let actions = agenda.actions
        do {
            return .success(
                try connection.savepoint {
                    let reply = try body()
                    try transaction.checkCounts()
                    return reply
                })
        } catch {
            // After some errors, such as a full disk, SQLite has rolled everything back.
            guard connection.isInTransaction else { throw error }
            (agenda.actions, agenda.counts) = (actions, CountCheck())
            return .failure(ParseError(error))
        }
    }

    /// Whether a request writes with one statement at most, which SQLite takes back by itself where it fails, and does
    /// nothing afterwards that could.
    private func isOneStatement(_ route: ObjectRoute) -> Bool {
        guard case .write(.create(let name, let body)) = route, let parseClass = transaction.classes[name],
            parseClass.fieldsWithDefaults.isEmpty, parseClass.revision == nil
        else { return false }
        return transaction.models == nil && !transaction.classes.hasCounts
            && body.changes.allSatisfy { _, change in
                switch change {
                case .addRelation, .removeRelation: false
                default: true
                }
            }
    }

    /// Writes one object.
    func run(_ write: ObjectWrite) throws -> WireReply {
        switch write {
        case .create(let name, let body): try create(name, body)
        case .update(let name, let id, let body): try update(name, id, body)
        case .delete(let name, let id): try delete(name, id)
        }
    }

    // MARK: Objects

    private func create(_ name: String, _ body: ObjectBody) throws -> WireReply {
        guard let parseClass = try transaction.existing(name) else {
            // What is wrong in itself says so, whoever may add classes.
            for (field, change) in body.changes { try transaction.validate(change, forNew: field) }
            throw Self.missing(name)
        }
        let key = try newKey(parseClass, body)
        var writer = ObjectWriter(transaction, parseClass)
        let stored = try writer.create(body, key: key)
        let told = try finishSaving(parseClass, stored, writer, original: nil)
        let id = parseClass.objectID.text(stored)
        var json = JSONWriter(capacity: 96)
        json.append("{\"objectId\":")
        json.write(id)
        json.append(",\"createdAt\":")
        json.write(now)
        var isFirst = false
        for (field, value) in told where field != "objectId" && field != "createdAt" {
            json.member(field, isFirst: &isFirst)
            json.write(value)
        }
        json.append("}")
        let location = isBatch ? nil : "\(options.mount)/classes/\(name)/\(Self.segment(id))"
        return WireReply(status: 201, body: json.bytes, location: location)
    }

    /// An object id as a part of a path.
    private static func segment(_ id: String) -> String {
        let isPlain = id.utf8.allSatisfy { byte in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        }
        return isPlain ? id : id.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? id
    }

    /// The key of a new object; `nil` for one that the database gives, or whose parts are fields.
    private func newKey(_ parseClass: ParseClass, _ body: ObjectBody) throws(ParseError) -> KeyValue? {
        let entity = parseClass.table.entity
        if let id = body.objectID {
            guard options.allowsCustomObjectIDs else {
                throw ParseError(.invalidKeyName, "objectId is an invalid field name.")
            }
            guard let key = parseClass.objectID.key(id) else {
                throw ParseError(.invalidKeyName, "\(id.prefix(64)) can't be the objectId of a \(parseClass.name)")
            }
            return key
        }
        guard entity.key.count == 1 else { return nil }
        let column = parseClass.table.columns[parseClass.table.keyColumns[0]]
        switch column.type {
        case .text: return KeyValue(.text(transaction.agenda.objectIDs.next()))
        case .uuid: return KeyValue(Value.uuid(UUID()).stored(as: column.type) ?? .null)
        case _ where entity.isKeyAssigned: return KeyValue(.null)
        default:
            throw ParseError(
                .missingObjectID, "a new \(parseClass.name) needs an objectId, which the client must choose")
        }
    }

    private func update(_ name: String, _ id: String, _ body: ObjectBody) throws -> WireReply {
        let (parseClass, key) = try transaction.object(name, id)
        let original = try transaction.original(parseClass, key)
        var writer = ObjectWriter(transaction, parseClass)
        try writer.update(key, body)
        var reply = try finishSaving(parseClass, key, writer, original: original)
        reply["updatedAt"] = .string(now)
        return WireReply(.object(reply))
    }

    private func delete(_ name: String, _ id: String) throws -> WireReply {
        let (parseClass, key) = try transaction.object(name, id)
        guard let typed = transaction.typed, let binding = transaction.models?.bindings[name], binding.watchesDeletions
        else {
            let report = try transaction.delete(parseClass, .keys([key]))
            guard report.deletedCount > 0 else { throw ParseError(.objectNotFound, "Object not found.") }
            return WireReply([:])
        }
        guard let object = try binding.object(key, typed) else {
            throw ParseError(.objectNotFound, "Object not found.")
        }
        try delete([object], .keys([key]), of: parseClass, binding, typed)
        return WireReply([:])
    }

    /// Deletes objects of a model, with what an app does before and after.
    private func delete(
        _ objects: [any Model], _ roots: DeletionRoots, of parseClass: ParseClass, _ binding: ModelBinding,
        _ typed: WriteTransaction
    ) throws {
        for object in objects { for hook in binding.beforeDelete { try hook(object, typed) } }
        _ = try transaction.delete(parseClass, roots)
        for object in objects {
            for hook in binding.afterDelete { transaction.agenda.actions.append { await hook(object) } }
        }
    }

    /// Deletes all objects of a class. What an app does before and after deletions is done for each of them.
    func purge(_ parseClass: ParseClass) throws {
        let table = parseClass.table
        let keys = try transaction.keys(of: parseClass)
        guard let typed = transaction.typed, let binding = transaction.models?.bindings[parseClass.name],
            binding.watchesDeletions
        else {
            _ = try transaction.delete(parseClass, .query(keys))
            return
        }
        let types = table.keyColumns.map { table.columns[$0].type as AttributeType? }
        let objects = try transaction.connection.values(keys, types: types).compactMap {
            try binding.object(KeyValue($0), typed)
        }
        try delete(objects, .query(keys), of: parseClass, binding, typed)
    }

    // MARK: Models

    /// Checks an object that was written by its model's rules, and lets the app change it.
    ///
    /// - Returns: The object as it was written, where the app changed it.
    private func applyHooks(_ parseClass: ParseClass, _ key: KeyValue, original: (any Model)?) throws -> JSONValue? {
        guard let typed = transaction.typed, let binding = transaction.models?.bindings[parseClass.name],
            let (object, isChanged) = try binding.checked(key, original: original, in: typed)
        else { return nil }
        var written: JSONValue?
        if isChanged {
            written = try json(parseClass, key)
            try typed.update([object])
        }
        for hook in binding.afterSave { transaction.agenda.actions.append { await hook(object) } }
        return written
    }

    /// Ends the writing of an object: checks it and those whose pointers were set from its side.
    ///
    /// - Returns: What the client is told of the object, as it couldn't know it.
    private func finishSaving(
        _ parseClass: ParseClass, _ key: KeyValue, _ writer: ObjectWriter, original: (any Model)?
    ) throws -> JSONObject {
        var told = writer.told
        let written = try applyHooks(parseClass, key, original: original)
        for member in writer.changedMembers {
            _ = try applyHooks(member.parseClass, member.key, original: member.original)
        }
        guard written != nil || !writer.untold.isEmpty else { return told }
        let stored = try json(parseClass, key)
        for name in writer.untold { told[name] = stored[name] }
        for field in parseClass.fields where written.map({ $0[field.name] != stored[field.name] }) ?? false {
            told[field.name] = stored[field.name] ?? (tellsUnset ? ["__op": "Delete"] : nil)
        }
        return told
    }

    /// An object as clients get it.
    private func json(_ parseClass: ParseClass, _ key: KeyValue) throws -> JSONValue {
        let plan = QueryPlan(entity: parseClass.name, condition: .keyIn(.property(scope: 0, path: []), [key]))
        let objects = try ObjectFetcher(transaction, limit: options.maximumReply).fetch(
            plan, Selection(), of: parseClass)
        return try JSONParser.parse(objects.bytes)
    }

    static func missing(_ name: String) -> ParseError {
        ParseError(.operationForbidden, "This user is not allowed to access non-existent class: \(name)")
    }
}

extension ParseTransaction {
    /// The transaction as an app's models see it.
    var typed: WriteTransaction? { models?.store.transaction(on: connection, now: now) }

    /// The object as it is, where an app wants to know.
    func original(_ parseClass: ParseClass, _ key: KeyValue) throws -> (any Model)? {
        guard let typed, let binding = models?.bindings[parseClass.name], binding.needsOriginal else { return nil }
        return try binding.object(key, typed)
    }

    /// Deletes objects of a class by the delete rules.
    func delete(_ parseClass: ParseClass, _ roots: DeletionRoots) throws -> DeletionReport {
        let report = try connection.delete(
            entity: parseClass.table.index, roots: roots, schema: schema, now: now, isUndoneByCaller: true)
        connection.recorder?.record(report)
        return report
    }

    /// The class and key of an object that is named.
    ///
    /// - Throws: ``ParseError`` 101 where there can't be one.
    func object(_ name: String, _ id: String) throws(ParseError) -> (ParseClass, KeyValue) {
        guard let parseClass = try existing(name), let key = parseClass.objectID.key(id) else {
            throw ParseError(.objectNotFound, "Object not found.")
        }
        return (parseClass, key)
    }

    /// A query for the keys of all objects of a class.
    func keys(of parseClass: ParseClass) throws(RelataError) -> SQLStatement {
        try QueryCompiler(schema: schema).keys(QueryPlan(entity: parseClass.name)).statement
    }

    /// What deleting an object would do.
    func deletionPlan(_ name: String, _ id: String) throws -> WireReply {
        let (parseClass, key) = try object(name, id)
        let report = try deletionPlan(of: parseClass, .keys([key]))
        guard report.deletedCount > 0 || report.isDenied else { throw ParseError(.objectNotFound, "Object not found.") }
        return WireReply(DeletionReportJSON(classes: classes).json(report))
    }

    /// What deleting objects of a class would do, in order.
    func deletionPlan(of parseClass: ParseClass, _ roots: DeletionRoots) throws -> DeletionReport {
        try connection.deletionPlan(of: parseClass.table.index, roots: roots, schema: schema).sorted()
    }
}
