import Foundation
import Relata
import RelataCore
import RelataEngine

/// Writes objects within a transaction.
final class BatchWriter {
    let transaction: ParseTransaction
    let options: ParseService.Options
    /// Whether the reply reports fields that an app unset.
    private let tellsUnset: Bool
    /// The time of the transaction, as in replies.
    private let now: String
    /// The last written class, with an object and its fields: most objects of a batch have the same class and fields.
    private var lastClass: ParseClass?
    private var lastBody: ObjectBody?
    private var lastFields: [Field?] = []
    /// The webhooks that are called for the writes, besides the app's closures.
    private let hooks: Webhooks

    init(transaction: ParseTransaction, options: ParseService.Options, tellsUnset: Bool = false) {
        self.transaction = transaction
        self.options = options
        self.tellsUnset = tellsUnset
        hooks = options.webhooks == nil ? Webhooks() : transaction.storedClasses.webhooks
        now = DateText.parseText(transaction.now)
    }

    /// Answers one request of several. Its writes are rolled back if it fails: the engine's refusal is the answer.
    ///
    /// - Returns: Its error, if it failed.
    func alone(_ route: ObjectRoute, into json: inout JSONWriter) throws -> ParseError? {
        let connection = transaction.connection
        let (count, notices) = (transaction.agenda.events.count, transaction.agenda.notices.count)
        do {
            try connection.savepoint {
                _ = try run(route, into: &json)
                try transaction.checkCounts()
            }
            return nil
        } catch {
            // After some errors, such as a full disk, SQLite has rolled everything back.
            guard connection.isInTransaction else { throw error }
            transaction.agenda.events.removeSubrange(count...)
            transaction.agenda.notices.removeSubrange(notices...)
            transaction.agenda.counts = CountCheck()
            return ParseError(error)
        }
    }

    /// Answers one request of several.
    ///
    /// - Returns: The id of a new object.
    func run(_ route: ObjectRoute, into json: inout JSONWriter) throws -> String? {
        switch route {
        case .read(let read):
            let classes = transaction.storedClasses
            try read.checkIsFoundAlone(in: classes) { options.asksHooks(toFind: $0, in: classes) }
            json.append(json: try read.run(in: transaction, options).body)
            return nil
        case .write(let write): return try run(write, into: &json)
        }
    }

    /// Answers a single request.
    func run(_ write: ObjectWrite) throws -> WireReply {
        var json = JSONWriter(capacity: 96)
        guard let id = try run(write, into: &json), case .create(let name, _) = write else {
            return WireReply(body: json.bytes)
        }
        return WireReply(
            status: 201, body: json.bytes, location: "\(options.mount)/classes/\(name)/\(Self.segment(id))")
    }

    /// Writes one object.
    ///
    /// - Returns: The id of a new one.
    private func run(_ write: ObjectWrite, into json: inout JSONWriter) throws -> String? {
        switch write {
        case .create(let name, let body): return try create(name, body, into: &json)
        case .update(let name, let id, let body): try update(name, id, body, into: &json)
        case .delete(let name, let id):
            try delete(name, id)
            json.append("{}")
        }
        return nil
    }

    // MARK: Classes and fields

    /// The class of that name.
    private func known(_ name: String) -> ParseClass? {
        if let lastClass, lastClass.name.hasSameBytes(as: name) { return lastClass }
        return transaction.storedClasses[name]
    }

    /// The object's fields, one for each of its changes; `nil` for a field that the class doesn't have.
    private func fields(of body: ObjectBody, in parseClass: ParseClass) -> [Field?] {
        if lastClass !== parseClass || lastBody?.hasFields(of: body) != true {
            (lastClass, lastBody) = (parseClass, body)
            lastFields = body.fields.names.map { parseClass[$0] }
        }
        return lastFields
    }

    // MARK: Objects

    /// Writes new objects of one class with one statement.
    ///
    /// - Returns: Their ids; `nil` if nothing was written, and they must be written one by one. That is the case for a
    ///   single object, or if one of them can't be written, which then fails by itself.
    func createTogether(_ run: BatchOrder.Run) throws -> [String]? {
        guard run.objects.count > 1, let name = run.className, let parseClass = known(name),
            parseClass.insertsTogether, !InternalClasses.contains(name), transaction.models == nil,
            !transaction.schema.hasCounts, !run.objects.contains(where: \.isChangedByHook),
            !mayLinkFiles(parseClass) || !run.objects.contains(where: \.holdsFiles)
        else { return nil }
        do {
            let keys = try transaction.connection.savepoint { () -> [KeyValue]? in
                var writer = ObjectWriter(transaction, parseClass)
                var rows: [ValueBatch.Row] = []
                rows.reserveCapacity(run.objects.count)
                for given in run.objects {
                    try transaction.checkMayCreate(given, in: parseClass)
                    let body = transaction.withDefaultAccess(given, in: parseClass)
                    guard let key = try newKey(parseClass, body) else { return nil }
                    try writer.readNew(body, of: fields(of: body, in: parseClass), key: key)
                    rows.append(writer.newRow(key: key))
                }
                return try transaction.write(
                    rows, of: parseClass.table, insertion: parseClass.insertion, isUndoneByCaller: true)
            }
            for key in keys ?? [] { noteSaved(key, of: parseClass) }
            return keys?.map(parseClass.objectID.text)
        } catch {
            guard transaction.connection.isInTransaction, !Task.isCancelled else { throw error }
            return nil
        }
    }

    /// Whether files in new objects have to be looked at.
    private func mayLinkFiles(_ parseClass: ParseClass) -> Bool {
        parseClass.table.entity.hasFileLinks || !transaction.caller.unprovenFiles.isEmpty
    }

    /// Adds the server's values of a new object to the reply.
    ///
    /// - Parameter times: The times that the request chose.
    func tell(
        _ id: String, _ told: JSONObject = [:], at times: ChosenTimes = ChosenTimes(), into json: inout JSONWriter
    ) {
        json.append("{\"objectId\":")
        json.write(id)
        json.append(",\"createdAt\":")
        json.write(times.createdAt.map { DateText.parseText($0) } ?? now)
        var isFirst = false
        for (field, value) in told where field != "objectId" && field != "createdAt" {
            json.member(field, isFirst: &isFirst)
            json.write(value)
        }
        json.append("}")
    }

    private func create(_ name: String, _ body: ObjectBody, into json: inout JSONWriter) throws -> String {
        guard let parseClass = try known(name) ?? transaction.writable(name) else {
            try transaction.refuse(body, ofMissing: name)
        }
        try transaction.checkMayCreate(body, in: parseClass)
        let given = transaction.withDefaultAccess(body, in: parseClass)
        let body = name == InternalClasses.role ? try transaction.newRole(given) : given
        let key = try newKey(parseClass, body)
        var writer = ObjectWriter(transaction, parseClass)
        let stored = try writer.create(body, of: fields(of: body, in: parseClass), key: key)
        let told = try told(parseClass, stored, writer)
        noteSaved(stored, of: parseClass)
        let id = parseClass.objectID.text(stored)
        tell(id, told, at: writer.times, into: &json)
        return id
    }

    /// An object id as a part of a path.
    private static func segment(_ id: String) -> String {
        let isPlain = id.utf8.allSatisfy { byte in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        }
        return isPlain ? id : id.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? id
    }

    /// The key of a new object; `nil` if the database assigns it, or its parts are fields.
    func newKey(_ parseClass: ParseClass, _ body: ObjectBody) throws -> KeyValue? {
        if let id = body.objectID {
            guard options.allowsCustomObjectIDs || transaction.caller.isMaintenance else {
                throw ParseError(.invalidKeyName, "objectId is an invalid field name.")
            }
            guard let key = parseClass.objectID.key(id) else {
                throw ParseError(
                    .invalidKeyName, "\(id.prefix(64)) can't be the objectId of \(parseClass.name.withArticle)")
            }
            return key
        }
        guard parseClass.table.keyColumns.count == 1 else { return nil }
        let computed = try transaction.connection.computedDefaults(
            of: parseClass.table.keyColumns, in: parseClass.table)
        if let value = computed.values.first, !value.isNull { return KeyValue(value) }
        let type = parseClass.table.columns[parseClass.table.keyColumns[0]].type
        switch type {
        case .text:
            let ids = transaction.objectIDs
            return KeyValue(.text(parseClass.name == InstallationClass.name ? ids.unrelated() : ids.next()))
        case .uuid: return KeyValue(Value.uuid(UUID()).stored(as: type) ?? .null)
        case _ where parseClass.table.entity.isKeyAssigned: return KeyValue(.null)
        default:
            throw ParseError(
                .missingObjectID, "a new \(parseClass.name) needs an objectId, which the client must choose")
        }
    }

    private func update(_ name: String, _ id: String, _ body: ObjectBody, into json: inout JSONWriter) throws {
        let (parseClass, key) = try transaction.object(name, id)
        try transaction.check(.update, on: parseClass)
        if name == InternalClasses.role { try transaction.checkChange(ofRole: body) }
        var writer = ObjectWriter(transaction, parseClass)
        let original = try original(key, of: parseClass)
        try writer.update(key, body, of: fields(of: body, in: parseClass))
        noteSaved(key, of: parseClass, original: original)
        var reply = try told(parseClass, key, writer)
        reply["updatedAt"] = .string(writer.times.updatedAt.map { DateText.parseText($0) } ?? now)
        json.write(.object(reply))
    }

    private func delete(_ name: String, _ id: String) throws {
        let (parseClass, key) = try transaction.object(name, id)
        try transaction.checkMayDelete(key, of: parseClass)
        guard let typed = transaction.typed, let binding = transaction.models?.bindings[name], binding.watchesDeletions
        else {
            let last =
                !isTold(.afterDelete, name)
                ? nil : try transaction.object(key, of: parseClass, options.maximumReply)
            let report = try transaction.delete(key, of: parseClass)
            guard report.deletedCount > 0 else { throw ParseError(.objectNotFound, "Object not found.") }
            if let last { transaction.agenda.notices.append(.deleted(parseClass, last)) }
            return
        }
        guard let object = try binding.object(key, typed) else {
            throw ParseError(.objectNotFound, "Object not found.")
        }
        try delete([(key, object)], .keys([key]), of: parseClass, binding, typed)
    }

    /// Deletes objects of a model, and calls the app's hooks.
    private func delete(
        _ objects: [(key: KeyValue, object: any Model)], _ roots: DeletionRoots, of parseClass: ParseClass,
        _ binding: ModelBinding, _ typed: WriteTransaction
    ) throws {
        for (_, object) in objects { for hook in binding.beforeDelete { try hook(object, typed) } }
        var last = objects.map(\.object)
        if !binding.beforeDelete.isEmpty, !binding.afterDelete.isEmpty {
            // The hooks may have changed them.
            last = try objects.map { key, object in try binding.object(key, typed) ?? object }
        }
        _ = try transaction.delete(parseClass, roots)
        transaction.agenda.events += last.map { .deleted(binding, $0) }
    }

    /// Deletes all objects of a class, and calls the app's hooks for each of them.
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
        let objects = try transaction.connection.values(keys, types: types).compactMap { values in
            try binding.object(KeyValue(values), typed).map { (KeyValue(values), $0) }
        }
        try delete(objects, .query(keys), of: parseClass, binding, typed)
    }

    // MARK: Hooks

    /// Whether closures of the app or a webhook are called.
    private func isTold(_ trigger: Trigger, _ className: String) -> Bool {
        hooks[trigger, className] != nil || options.code.answers(trigger, className)
    }

    /// An object before a change; `nil` if no hook is called with it.
    func original(_ key: KeyValue, of parseClass: ParseClass) throws -> JSONObject? {
        guard isTold(.afterSave, parseClass.name) else { return nil }
        return try transaction.object(key, of: parseClass, options.maximumReply)
    }

    /// Records that hooks must be called for a saved object.
    func noteSaved(_ key: KeyValue, of parseClass: ParseClass, original: JSONObject? = nil) {
        guard isTold(.afterSave, parseClass.name) else { return }
        transaction.agenda.notices.append(.saved(parseClass, key, original: original))
    }

    // MARK: Replies

    /// The server's values of a written object, for the reply.
    private func told(_ parseClass: ParseClass, _ key: KeyValue, _ writer: ObjectWriter) throws -> JSONObject {
        var told = writer.told
        let seesAll = transaction.classes === transaction.storedClasses
        let seen = seesAll ? parseClass : transaction.classes[parseClass.name]
        if !seesAll { for name in told.keys where seen?[name] == nil { told[name] = nil } }
        let partlyHidden = (transaction.caller.partlyHiddenFields[parseClass.name] ?? []).filter { told[$0] != nil }
        for name in partlyHidden { told[name] = nil }
        guard !writer.changedByApp.isEmpty || !writer.untold.isEmpty || !partlyHidden.isEmpty,
            let row = try transaction.connection.row(key, of: parseClass.table, transaction.compiler)
        else { return told }
        for field in parseClass.fields {
            let isChanged = !writer.changedByApp.isDisjoint(with: field.columns)
            guard isChanged || writer.untold.contains(field.name) || partlyHidden.contains(field.name),
                seen?[field.name] != nil
            else { continue }
            let value = parseClass.json(field, of: row, in: transaction.classes)
            told[field.name] = value ?? (isChanged && tellsUnset ? ["__op": "Delete"] : nil)
        }
        return told
    }

    static func missing(_ name: String) -> ParseError {
        ParseError(.operationForbidden, "This user is not allowed to access non-existent class: \(name)")
    }
}

extension ParseTransaction {
    /// Refuses a new object of a class that doesn't exist.
    ///
    /// - Throws: ``ParseError`` of an invalid object, even if no class may be added; 119 for any other.
    func refuse(_ body: ObjectBody, ofMissing className: String) throws -> Never {
        for (field, change) in zip(body.fields.names, body.changes) { try validate(change, forNew: field) }
        let points = try zip(body.fields.names, body.changes).filter { try $1.type(of: $0) == .geoPoint }.map(\.0)
        if mode == .development, points.count > 1 {
            throw SchemaDraft.secondGeoPoint(points[1], beside: points[0])
        }
        throw BatchWriter.missing(className)
    }
}
