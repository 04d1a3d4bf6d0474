import RelataCore
import RelataEngine

extension KnownCaller {
    /// The caller's permission for an operation on objects of a class.
    ///
    /// - Parameter permissions: The permissions of the class; `nil` if every caller may do everything.
    func permission(
        _ operation: ClassPermissions.Operation, on permissions: ClassPermissions?
    ) -> ClassPermissions.Permission {
        guard let permissions, !isMaster else { return .everything }
        return permissions.permission(operation, of: principals, isSignedIn: session != nil)
    }

    /// The permission that limits the visible objects. An operation that is never allowed limits none: it is refused
    /// first.
    func limit(
        _ operation: ClassPermissions.Operation, on permissions: ClassPermissions?
    ) -> ClassPermissions.Permission {
        let permission = permission(operation, on: permissions)
        if case .nothing = permission { return .everything }
        return permission
    }

    /// The condition on the objects of a class that the caller may use; `nil` for all objects.
    ///
    /// - Parameters:
    ///   - permissions: The permissions. All of them must allow an object.
    ///   - parseClass: The class with all of its fields.
    ///   - isListed: The condition on the access lists of the objects, if they have any.
    func condition(
        _ permissions: [ClassPermissions.Permission], onObjectsOf className: String, _ parseClass: ParseClass?,
        _ isListed: ExpressionNode?
    ) -> ExpressionNode? {
        let all = ([isListed] + permissions.map { condition($0, onObjectsOf: className, parseClass) })
            .compactMap(\.self)
        return all.count > 1 ? .and(all) : all.first
    }

    private func condition(
        _ permission: ClassPermissions.Permission, onObjectsOf className: String, _ parseClass: ParseClass?
    ) -> ExpressionNode? {
        let own = isOwnUser(in: className)
        switch permission {
        case .everything: return nil
        case .objects(let fields):
            return .or(fields.map { leadsToCaller($0, of: parseClass) } + own)
        case .nothing: return own.first ?? .keyIn(.property(scope: 0, path: []), [])
        }
    }
}

extension KnownCaller {
    /// The condition that an object is the caller's own user, in the class of users: a user always sees its own object,
    /// regardless of what the class allows.
    func isOwnUser(in className: String) -> [ExpressionNode] {
        guard className == InternalClasses.user else { return [] }
        return [.keyIn(.property(scope: 0, path: []), session.map { [KeyValue(.text($0.user))] } ?? [])]
    }

    /// The condition that a pointer leads to the caller, or one of those in an array.
    func leadsToCaller(_ field: String, of parseClass: ParseClass?) -> ExpressionNode {
        // A subject that is only a role isn't a user.
        let user = session.flatMap {
            $0.user.isEmpty ? nil : Pointer(className: InternalClasses.user, objectID: $0.user)
        }
        guard parseClass?[field]?.type == .array else {
            return .keyIn(.property(scope: 0, path: [field]), user.map { [KeyValue(.text($0.objectID))] } ?? [])
        }
        guard let user else { return ConditionReader.nothing }
        let elements = JSONElements(of: .property(scope: 0, path: [field]), scope: 1)
        return .anyElement(elements, condition: JSONPlace(.element(scope: elements.scope)).equals(user.json))
    }
}

extension FieldChange {
    /// Whether the field of a new object is then this pointer, or an array with it.
    fileprivate func leads(to pointer: Pointer) -> Bool {
        switch self {
        case .set(.array(let elements)), .add(let elements), .addUnique(let elements):
            elements.contains { Pointer($0) == pointer }
        case .set(let value): Pointer(value) == pointer
        default: false
        }
    }
}

extension ParseTransaction {
    /// Checks that the class allows the caller an operation, at least on some objects.
    ///
    /// - Throws: ``ParseError`` 119 if the class doesn't allow the operation; 101 if the class allows it to signed-in
    ///   users and no user is signed in, as in Parse Server.
    func check(_ operation: ClassPermissions.Operation, on parseClass: ParseClass) throws(ParseError) {
        guard case .nothing(let needsSession) = caller.permission(operation, on: parseClass.options.permissions) else {
            return
        }
        if needsSession { throw ParseError(.objectNotFound, "Permission denied, user needs to be authenticated.") }
        throw ParseError.notAllowed(operation, parseClass.name)
    }

    /// The transaction for a request that reads objects of a class. Of this class, it sees only the objects that the
    /// caller may use in the operation.
    ///
    /// - Throws: the errors of ``check(_:on:)``.
    func reading(
        _ parseClass: ParseClass, _ operation: ClassPermissions.Operation
    ) throws -> ParseTransaction {
        guard let permissions = parseClass.options.permissions, !caller.isMaster else { return self }
        try check(operation, on: parseClass)
        let condition = caller.condition(
            [caller.permission(operation, on: permissions)], onObjectsOf: parseClass.name,
            storedClasses[parseClass.name], caller.isListed[parseClass.name])
        var seeing = caller
        seeing.read = try caller.read.guarding(
            parseClass.name, by: condition, in: schema, dialect: connection.dialect)
        return ParseTransaction(self, as: seeing)
    }

    /// Checks that the caller may create an object.
    ///
    /// - Throws: the errors of ``check(_:on:)``; 119 if the object's fields must refer to the caller and don't.
    func checkMayCreate(_ body: ObjectBody, in parseClass: ParseClass) throws(ParseError) {
        try check(.create, on: parseClass)
        guard case .objects(let fields) = caller.permission(.create, on: parseClass.options.permissions) else { return }
        let isOwn = zip(body.fields.names, body.changes).contains { name, change in
            guard fields.contains(name), let user = caller.session?.user else { return false }
            return change.leads(to: Pointer(className: InternalClasses.user, objectID: user))
        }
        guard isOwn else { throw ParseError.notAllowed(.create, parseClass.name) }
    }

    /// Checks that the caller may add fields to a class by writing an object.
    ///
    /// - Parameter objectID: The changed object; `nil` for a new one.
    /// - Throws: the errors of ``check(_:on:)``.
    func checkMayAddFields(to parseClass: ParseClass, by objectID: String?) throws {
        try check(.addField, on: parseClass)
        let permission = caller.permission(.addField, on: parseClass.options.permissions)
        guard case .objects = permission else { return }
        guard let key = try objectID.flatMap({ (id) throws(ParseError) in try key(id, of: parseClass) }),
            case let condition = caller.condition(
                [permission], onObjectsOf: parseClass.name, storedClasses[parseClass.name], nil),
            case let access = try caller.write.guarding(
                parseClass.name, by: condition, in: schema, dialect: connection.dialect),
            try connection.isSeen(key, of: parseClass.table, compiler(under: access))
        else { throw ParseError.notAllowed(.addField, parseClass.name) }
    }

    /// A new object with the default list of its class, unless it has a list.
    func withDefaultAccess(_ body: ObjectBody, in parseClass: ParseClass) -> ObjectBody {
        guard body.access == nil,
            let list = parseClass.options.permissions?.defaultAccess(for: caller.session?.user)
        else { return body }
        return body.with(list.isOpen ? .open : .list(list))
    }
}

extension ParseError {
    /// The error for an operation that the class doesn't allow.
    static func notAllowed(_ operation: ClassPermissions.Operation, _ className: String) -> ParseError {
        ParseError(
            .operationForbidden, "Permission denied for action \(operation.rawValue) on class \(className).")
    }
}
