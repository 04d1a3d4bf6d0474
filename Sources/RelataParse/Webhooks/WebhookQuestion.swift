import RelataCore
import RelataEngine

/// A question to a webhook about an object, before the object is written.
struct WebhookQuestion: Sendable {
    let write: ObjectWrite
    /// The object as it will be after the write; in a deletion, as it is stored.
    let object: JSONObject
    /// The stored object that the write changes; `nil` for a new object.
    var original: JSONObject?
    /// The values that the stored object must still have when the write happens.
    var seen: SeenObject?

    /// The members that no reply can change.
    private static let fixed: Set = ["objectId", "createdAt", "updatedAt", "className", "__type"]

    /// The write after the webhook's reply.
    ///
    /// An object in the reply has the fields to write. A field with the value from the question is written as the
    /// client sent it, so an increment stays an increment. A change of a field that the reply leaves out isn't made.
    ///
    /// - Parameter success: The value of `success` in the reply.
    func write(after success: JSONValue, _ prohibited: ProhibitedNames) throws(ParseError) -> ObjectWrite {
        guard let members = success.object, members.contains(where: { !Self.fixed.contains($0.key) }) else {
            return write
        }
        return try self.write(with: members, prohibited)
    }

    /// The write after a hook has changed the object.
    func write(with members: JSONObject, _ prohibited: ProhibitedNames) throws(ParseError) -> ObjectWrite {
        guard let body = write.body?.body else { return write }
        var reader = FileURLReader(nil)
        let given = reader.read(members.filter { !Self.fixed.contains($0.key) })
        var changed: JSONObject = [:]
        for (name, value) in given {
            let isKept = object[name].map { Self.isSame(value, $0) } ?? value.isNull
            if !isKept { changed[name] = value }
        }
        var dropped = Set(object.keys).intersection(body.fields.names).subtracting(given.keys)
        // These fields identify an installation. For users, the listed fields have their own columns.
        let unchangeable: Set<String> =
            switch write.className {
            case InstallationClass.name: InstallationClass.identifying
            case InternalClasses.user: InternalClasses.userFields
            default: []
            }
        if let name = changed.keys.first(where: unchangeable.contains) {
            throw ParseError(.scriptFailed, "beforeSave of \(write.className) changed \(name), which it can't")
        }
        dropped.subtract(unchangeable)
        if changed.isEmpty, dropped.isEmpty { return write }
        try prohibited.check(changed)
        let new = body.changed(byHook: try ObjectBody(changed), dropping: dropped)
        return switch write {
        case .create(let name, _): .create(name, new)
        case .update(let name, let id, _): .update(name, id, new)
        case .delete: write
        }
    }

    /// Whether two values are equal for a program that reads every number as a floating-point one.
    private static func isSame(_ left: JSONValue, _ right: JSONValue) -> Bool {
        switch (left, right) {
        case (.integer, .integer), (.integer, .double), (.double, .integer), (.double, .double):
            return left == right || left.number == right.number
        case (.array(let left), .array(let right)):
            return left.count == right.count && zip(left, right).allSatisfy(isSame)
        case (.object(let left), .object(let right)):
            return left.count == right.count
                && left.allSatisfy { name, value in right[name].map { isSame(value, $0) } ?? false }
        default: return left == right
        }
    }
}

extension ObjectWrite {
    /// The trigger before the write.
    var trigger: Trigger { if case .delete = self { .beforeDelete } else { .beforeSave } }
}

extension ParseTransaction {
    /// The question about a write, after checking that the caller may do it.
    ///
    /// - Parameters:
    ///   - fixed: Members of the object besides those that are written.
    ///   - limit: The maximum size of an object, in bytes.
    /// - Throws: ``ParseError`` for a write that is refused without asking.
    func question(about write: ObjectWrite, _ fixed: JSONObject, limit: Int) throws -> WebhookQuestion {
        switch write {
        case .create(let name, let body):
            var object: JSONObject = ["className": .string(name)]
            object.merge(fixed)
            object["objectId"] = body.objectID.map { .string($0) }
            var given = body
            if let parseClass = try classForNew(name, body) {
                given = withDefaultAccess(body, in: parseClass)
                for field in parseClass.fieldsWithDefaults {
                    if let value = field.defaultValue { object[field.name] = value }
                }
            }
            try given.apply(to: &object)
            return WebhookQuestion(write: write, object: object)
        case .update(let name, let id, let body):
            let (parseClass, key) = try self.object(name, id)
            try check(.update, on: parseClass)
            guard try connection.row(key, of: parseClass.table, writeCompiler) != nil,
                let original = try self.object(key, of: parseClass, limit), let seen = try seen(name, key)
            else { throw ParseError(.objectNotFound, "Object not found.") }
            var object = original
            object.merge(fixed)
            try body.apply(to: &object)
            return WebhookQuestion(write: write, object: object, original: original, seen: seen)
        case .delete(let name, let id):
            let (parseClass, key) = try self.object(name, id)
            try checkMayDelete(key, of: parseClass)
            guard let object = try self.object(key, of: parseClass, limit), let seen = try seen(name, key) else {
                throw ParseError(.objectNotFound, "Object not found.")
            }
            return WebhookQuestion(write: write, object: object, seen: seen)
        }
    }

    /// The class of a new object, after checking that the caller may create the object; `nil` for a class that is made
    /// for it.
    ///
    /// - Throws: ``ParseError`` for an object that is refused without asking.
    func classForNew(_ name: String, _ body: ObjectBody) throws -> ParseClass? {
        guard let parseClass = try writable(name) else {
            if mode == .development { return nil }
            try refuse(body, ofMissing: name)
        }
        try checkMayCreate(body, in: parseClass)
        return parseClass
    }

    /// An object with its class and all of its fields, for any caller.
    func object(_ key: KeyValue, of parseClass: ParseClass, _ limit: Int) throws -> JSONObject? {
        let all = ParseTransaction(self, as: .master)
        let plan = QueryPlan(entity: parseClass.name, condition: .keyIn(.property(scope: 0, path: []), [key]))
        let objects = try ObjectFetcher(all, limit: limit).fetch(
            plan, Selection(), of: all.storedClasses[parseClass.name] ?? parseClass, naming: .className)
        return objects.ranges.isEmpty ? nil : try JSONParser.parse(objects.bytes).object
    }

    /// An object as it is stored.
    func seen(_ className: String, _ key: KeyValue) throws -> SeenObject? {
        guard let table = storedClasses[className]?.table,
            let row = try connection.row(
                key, of: table,
                QueryCompiler(schema: storedClasses.schema, access: .everything, dialect: connection.dialect))
        else { return nil }
        var values: [String: Value] = [:]
        for (column, value) in zip(table.columns, row) where !value.isNull { values[column.name] = value }
        return SeenObject(className: className, key: key, values: values)
    }

    /// The notices to webhooks, with the objects as they are at the end of the transaction.
    func notices(limit: Int) throws -> [ObjectNotice] {
        try agenda.notices.compactMap { notice in
            switch notice {
            case .saved(let parseClass, let key, let original):
                guard let object = try self.object(key, of: parseClass, limit) else { return nil }
                return ObjectNotice(
                    trigger: .afterSave, className: parseClass.name, object: object, original: original)
            case .deleted(let parseClass, let object):
                return ObjectNotice(trigger: .afterDelete, className: parseClass.name, object: object, original: nil)
            }
        }
    }
}

extension ObjectBody {
    /// Applies the changes to an object in the form for clients.
    fileprivate func apply(to object: inout JSONObject) throws(ParseError) {
        for (name, change) in zip(fields.names, changes) {
            switch change {
            case .addRelation, .removeRelation, .placeRelation:
                guard case .relation(let target)? = try change.type(of: name) else { continue }
                object[name] = ["__type": "Relation", "className": .string(target)]
            default:
                var value = object[name] ?? .null
                try change.apply(to: &value, of: name)
                object[name] = value.isNull ? nil : value
            }
        }
        switch access {
        case .list(let list)?: object["ACL"] = list.json
        case .open?: object["ACL"] = nil
        case nil: break
        }
    }
}
