import RelataCore
import RelataEngine

/// The classes and fields that an object needs.
struct SchemaDemand: Sendable {
    let className: String
    let fields: [(name: String, type: FieldType)]
    /// The fields for integers that no floating-point number can represent.
    private let largeIntegers: Set<String>
    /// The fields whose members or elements alone are changed: they may be objects or arrays.
    private let inner: Set<String>
    /// The object that is changed; `nil` for a new one.
    private let objectID: String?
    let body: ObjectBody

    /// - Throws: ``ParseError`` for values that are of no type.
    init(_ className: String, _ objectID: String?, _ body: ObjectBody) throws(ParseError) {
        self.className = className
        self.objectID = objectID
        self.body = body
        var fields: [(String, FieldType)] = []
        var inner: Set<String> = []
        var plain: Set<String> = []
        for (name, change) in zip(body.fields.names, body.changes) {
            guard let type = try change.type(of: name) else { continue }
            if case .member = change { inner.insert(name) } else { plain.insert(name) }
            guard let last = fields.last, last.0 == name else {
                fields.append((name, type))
                continue
            }
            guard type == last.1 || !plain.contains(name) else {
                throw SchemaDraft.mismatch(className, name, last.1, type)
            }
        }
        self.inner = inner.subtracting(plain)
        largeIntegers = Set(zip(body.fields.names, body.changes).filter { $0.1.isLargeInteger }.map(\.0))
        self.fields = fields.sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }
    }

    /// Makes the checks that don't depend on the fields of the class.
    ///
    /// - Parameter created: New objects of the same request.
    /// - Throws: ``ParseError`` 101 for a missing object or target, 111 for values that no field can hold.
    func validate(in transaction: ParseTransaction, _ created: Set<Pointer>) throws(ParseError) {
        do { try checkIsAllowed(in: transaction) } catch { throw ParseError(error) }
        if let objectID, !created.contains(Pointer(className: className, objectID: objectID)) {
            guard try transaction.exists(Pointer(className: className, objectID: objectID)) else {
                throw ParseError(.objectNotFound, "Object not found.")
            }
        }
        if body.hasAccessList, transaction.secrets == nil { throw .accessIsOff }
        let known = transaction.storedClasses[className]
        var values: [String: JSONValue] = [:]
        for (name, change) in zip(body.fields.names, body.changes) where known?[name] == nil {
            try transaction.validate(change, forNew: name, created)
            guard case .member = change else { continue }
            let isArray = try change.type(of: name) == .array
            try change.apply(to: &values[name, default: isArray ? .array([]) : .null], of: name)
        }
    }

    /// - Throws: ``ParseError`` 119 if the class doesn't allow the caller to write the object, or to add its fields.
    private func checkIsAllowed(in transaction: ParseTransaction) throws {
        guard let known = transaction.storedClasses[className] else { return }
        if objectID == nil {
            try transaction.checkMayCreate(body, in: known)
        } else {
            try transaction.check(.update, on: known)
        }
        if fields.contains(where: { known[$0.name] == nil }) {
            try transaction.checkMayAddFields(to: known, by: objectID)
        }
    }

    /// Whether a class has all fields that an object contains.
    static func isMet(by classes: ClassSet, _ className: String, _ body: ObjectBody) -> Bool {
        guard isAccessMet(by: classes, className, body), isMet(classes, className, body.fields.names) else {
            return false
        }
        guard body.holdsLargeIntegers, let known = classes[className] else { return true }
        return zip(body.fields.names, body.changes).allSatisfy { name, change in
            !change.isLargeInteger || known[name]?.canKeepIntegers != true
        }
    }

    /// Whether the class can store the object's access list and its references to files.
    static func isAccessMet(by classes: ClassSet, _ className: String, _ body: ObjectBody) -> Bool {
        let entity = classes.schema[className]?.entity
        if body.hasAccessList, entity?.isGuarded != true { return false }
        guard classes.hasFiles, let entity, entity.isOfClients, !entity.hasFileLinks else { return true }
        return !body.holdsFiles
    }

    /// The fields whose columns must be converted, because they would round the numbers.
    func convertedFields(of classes: ClassSet) -> [String] {
        largeIntegers.filter { classes[className]?[$0]?.canKeepIntegers == true }.sorted()
    }

    private static func isMet(_ classes: ClassSet, _ className: String, _ fields: some Sequence<String>) -> Bool {
        guard let known = classes[className], known.options.isImplied != true else { return false }
        return fields.allSatisfy { known[$0] != nil }
    }

    /// Lets objects of the class have access lists and references to files, if this one needs them.
    func addAccess(to draft: inout SchemaDraft) {
        if body.hasAccessList { draft.guardClass(className) }
        if body.holdsFiles { draft.linkFiles(of: className) }
    }

    /// Adds missing classes and fields.
    func add(to draft: inout SchemaDraft) throws(ParseError) {
        try draft.addClass(className)
        for (name, type) in fields {
            if inner.contains(name), let known = draft.entity(className)?.property(name),
                [.object, .array].contains(draft.type(of: known, in: className))
            {
                continue
            }
            try draft.addField(name, type, to: className)
        }
        addAccess(to: &draft)
        for name in largeIntegers { draft.keepIntegers(of: name, in: className) }
    }
}

extension ParseTransaction {
    /// Whether there is an object.
    func exists(_ pointer: Pointer) throws(ParseError) -> Bool {
        guard let parseClass = classes[pointer.className], let key = try key(pointer.objectID, of: parseClass) else {
            return false
        }
        do {
            return try connection.isSeen(key, of: parseClass.table, compiler)
        } catch {
            throw ParseError(error)
        }
    }

    /// Checks a change of a field that the class doesn't have yet.
    ///
    /// - Parameter created: New objects of the same request.
    /// - Throws: ``ParseError`` 111 for values that no field can hold, 101 for a missing target.
    func validate(_ change: FieldChange, forNew field: String, _ created: Set<Pointer> = []) throws(ParseError) {
        guard field != "id" else { throw ParseError(.invalidKeyName, "id is an invalid field name.") }
        let type = try change.type(of: field)
        switch change {
        case .set(let value):
            if let type { try FieldDecoder.validate(value, as: type, in: field) }
            try checkTargets(Pointer(value).map { [$0] } ?? [], created)
        case .addRelation, .placeRelation: try checkTargets(change.neededMembers, created)
        case .unset, .increment, .add, .addUnique, .remove, .removeRelation, .member: break
        }
    }

    /// - Throws: ``ParseError`` 101 for a missing object.
    func checkTargets(_ pointers: [Pointer], _ created: Set<Pointer> = []) throws(ParseError) {
        for pointer in pointers where !created.contains(pointer) {
            if let error = DisabledFeature.error(forClass: pointer.className) { throw error }
            if secrets == nil, InternalClasses.ofClients.contains(pointer.className) { throw .usersAreOff }
            guard try exists(pointer) else {
                throw ParseError(
                    .objectNotFound, "\(pointer.className.prefix(128)) has no object \(pointer.objectID.prefix(64))",
                    status: 400)
            }
        }
    }
}
