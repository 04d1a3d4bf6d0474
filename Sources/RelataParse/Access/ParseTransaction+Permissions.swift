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
    ///   - isListed: The condition on the access lists of the objects, if they have any.
    func condition(
        _ permissions: [ClassPermissions.Permission], onObjectsOf className: String, _ isListed: ExpressionNode?
    ) -> ExpressionNode? {
        let all = ([isListed] + permissions.map { condition($0, onObjectsOf: className) }).compactMap(\.self)
        return all.count > 1 ? .and(all) : all.first
    }

    private func condition(
        _ permission: ClassPermissions.Permission, onObjectsOf className: String
    ) -> ExpressionNode? {
        let users = session.map { [KeyValue(.text($0.user))] } ?? []
        // A user always sees its own object, regardless of the permissions of the class.
        let own = className == InternalClasses.user ? [ExpressionNode.keyIn(.property(scope: 0, path: []), users)] : []
        switch permission {
        case .everything: return nil
        case .objects(let fields):
            return .or(fields.map { .keyIn(.property(scope: 0, path: [$0]), users) } + own)
        case .nothing: return own.first ?? .keyIn(.property(scope: 0, path: []), [])
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
            caller.isListed[parseClass.name])
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
            guard fields.contains(name), case .set(let value) = change, let user = caller.session?.user else {
                return false
            }
            return Pointer(value) == Pointer(className: InternalClasses.user, objectID: user)
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
            case let condition = caller.condition([permission], onObjectsOf: parseClass.name, nil),
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
