import Foundation
import RelataCore
import RelataEngine

/// The sender of a request, as the request describes it.
struct Caller: Hashable, Sendable {
    /// The holder of the master key.
    static let master = Caller(isMaster: true)

    var isMaster = false
    /// The token of a user's session.
    var sessionToken: String?
    /// The subject whose rights are used instead of a session's; `nil` for none.
    var subject: AccessSubject?
    /// The files in the request without an address that this server signed.
    var unprovenFiles: Set<String> = []
    /// Whether it came with the master key that only reads.
    var isReadOnly = false
    /// Whether it came with the maintenance key.
    var isMaintenance = false
    /// Whether it is an import: it writes installations as other objects, and the objects that it changes keep the times of
    /// their last changes.
    var isImport = false

    /// Sets the rights that a request's keys give.
    mutating func take(_ rights: ParseKeys.Rights) {
        isMaster = rights.isMaster
        isReadOnly = rights == .privileged(.readOnlyMaster)
        isMaintenance = rights == .privileged(.maintenance)
    }
}

/// The sender of a request, identified by the store, and its rights.
struct KnownCaller: Sendable {
    /// The holder of the master key.
    static let master = KnownCaller(isMaster: true)

    var isMaster = false
    /// The session's and the user's ids; `nil` if no user is signed in.
    var session: SignedIn?
    /// `*`, the user's id, and its roles.
    var principals: Set<String> = ["*"]
    /// The objects that the caller sees.
    var read = Access.everything
    /// The objects that the caller may change.
    var write = Access.everything
    /// The objects that the caller may delete.
    var delete = Access.everything
    /// The conditions on the access lists of visible objects, for each class with access lists.
    var isListed: [String: ExpressionNode] = [:]
    /// The fields that are hidden from the caller, by class.
    var hiddenFields: [String: Set<String>] = [:]
    /// The fields that only some objects show to the caller, by class.
    var partlyHiddenFields: [String: Set<String>] = [:]
    /// The files in the request without an address that this server signed. A change may keep such a file in an object,
    /// but not add it.
    var unprovenFiles: Set<String> = []
    /// Whether the request may set the times of objects.
    var isMaintenance = false
    /// Whether objects that it changes keep the times of their last changes.
    var keepsUpdatedAt = false
    /// About how much memory its access takes.
    var size = 8

    /// The fields that all objects of a class, or some of them, hide from the caller.
    func fieldsHidden(inSomeOf className: String) -> Set<String> {
        (hiddenFields[className] ?? []).union(partlyHiddenFields[className] ?? [])
    }

    /// A signed-in user.
    struct SignedIn: Hashable, Sendable {
        let id: String
        let user: String
        /// The end of the session; `nil` for never.
        let end: Date?
    }
}

/// Identifies the sender of a request, in the transaction that answers it.
struct CallerLookup {
    let connection: Connection
    let classes: ClassSet
    let now: Date
    let secrets: (any SecretHashing)?

    private var compiler: QueryCompiler {
        QueryCompiler(schema: classes.schema, access: .everything, dialect: connection.dialect)
    }

    /// The caller.
    ///
    /// - Throws: ``ParseError`` 209 for a session that doesn't exist, or has ended; 101 for a subject that doesn't
    ///   exist.
    func known(_ caller: Caller) throws -> KnownCaller {
        guard let recent = connection.keptForState({ RecentCallers() }), let key = RecentCallers.Key(caller, secrets)
        else { return try read(caller) }
        if let known = recent.caller(key, in: classes) {
            if let end = known.session?.end, end <= now { throw ParseError.sessionIsOver }
            return known
        }
        let known = try read(caller)
        recent.add(known, for: key)
        return known
    }

    private func read(_ caller: Caller) throws -> KnownCaller {
        if let subject = caller.subject { return try seeing(identity(of: subject)) }
        var known = KnownCaller(isMaster: caller.isMaster, session: try session(of: caller))
        if caller.isMaster || classes.guarded.isEmpty && classes.permissions.isEmpty { return known }
        known.principals = try principals(of: known.session)
        return try seeing(known)
    }

    /// The session of a caller.
    ///
    /// - Throws: ``ParseError`` 209 for a session that doesn't exist, or has ended.
    func session(of caller: Caller) throws -> KnownCaller.SignedIn? {
        try caller.sessionToken.map(session)
    }

    /// `*`, the user's id, and its roles.
    func principals(of session: KnownCaller.SignedIn?) throws -> Set<String> {
        guard let user = session?.user else { return ["*"] }
        return Set(["*", user] + (try roles(of: user).map { "role:" + $0 }))
    }

    /// A caller with its access.
    func seeing(_ caller: KnownCaller) throws -> KnownCaller {
        if caller.isMaster { return caller }
        let lists = try classes.guarded.isEmpty ? [] : self.lists(of: caller.principals.sorted())
        let key = PreparedCallers.RightsKey(
            principals: caller.principals, user: caller.session?.user,
            readable: lists.filter(\.canRead).map(\.key), writable: lists.filter(\.canWrite).map(\.key))
        var known = try classes.preparedCallers.rights(key) { try rights(of: caller, key) }
        known.session = caller.session
        return known
    }

    /// The rights of a caller by its roles and access lists, for all of its sessions.
    private func rights(of caller: KnownCaller, _ key: PreparedCallers.RightsKey) throws -> KnownCaller {
        var known = KnownCaller(session: caller.session, principals: caller.principals)
        known.size = key.size
        known.isListed = isListed(key.readable, user: key.user)
        let mayChange = isListed(key.writable, user: key.user)
        let masks = hideFields(from: &known)
        known.read = try access(known.isListed, known, masks: masks) {
            [$0.permission(.get, on: $1), $0.limit(.find, on: $1)]
        }
        known.write = try access(mayChange, known) { [$0.permission(.update, on: $1)] }
        known.delete =
            classes.permissions.isEmpty
            ? known.write : try access(mayChange, known) { [$0.permission(.delete, on: $1)] }
        return known
    }

    /// A caller with the fields that are hidden from it, without its access to objects.
    func hiding(_ caller: KnownCaller) -> KnownCaller {
        var known = caller
        if !caller.isMaster { _ = hideFields(from: &known) }
        return known
    }

    /// Sets the fields that are hidden from a caller. The inverse of a hidden pointer is hidden too, because it would
    /// reveal the pointer.
    ///
    /// - Returns: The conditions of objects that show a field which others hide, by class and field.
    private func hideFields(from known: inout KnownCaller) -> [String: [String: ExpressionNode]] {
        var masks: [String: [String: ExpressionNode]] = [:]
        if !classes.guarded.isEmpty { known.hiddenFields[InternalClasses.user] = InternalClasses.privateFields }
        for (name, permissions) in classes.permissions where permissions.hidesFields {
            var hidden: Set<String> = []
            for (field, pointers) in permissions.hiddenFields(
                of: known.principals, isSignedIn: known.session != nil)
            {
                // All objects hide a field without a column: a relation.
                guard !pointers.isEmpty, classes.schema[name]?.canMask(field) == true else {
                    hidden.insert(field)
                    continue
                }
                let leading = pointers.sorted().map { known.leadsToCaller($0, of: classes[name]) }
                masks[name, default: [:]][field] = .or(leading + known.isOwnUser(in: name))
            }
            if hidden.isEmpty { continue }
            known.hiddenFields[name, default: []].formUnion(hidden)
            for side in classes.otherSides(of: hidden, in: name) {
                known.hiddenFields[side.className, default: []].insert(side.field)
            }
        }
        known.partlyHiddenFields = masks.mapValues { Set($0.keys) }
        return masks
    }

    // MARK: Sessions

    private func session(_ token: String) throws -> KnownCaller.SignedIn {
        guard let secrets, classes.hasUsers, let table = classes.schema[InternalClasses.session], table.entity.isSession
        else { throw ParseError.invalidSession }
        let hash = Value.text(secrets.digestText(of: token))
        let row = try rows(
            .session, [hash], of: table.name, ["objectId", "user", "expiresAt"],
            where: .comparison(.equal, .property(scope: 0, path: ["_token"]), .value(hash), [])
        ).first
        guard let row, case .text(let id) = row[0], case .text(let user) = row[1] else {
            throw ParseError.invalidSession
        }
        let end = row[2].wholeNumber.map { Date(timeIntervalSince1970: Double($0) / 1_000_000) }
        if let end, end <= now { throw ParseError.sessionIsOver }
        return KnownCaller.SignedIn(id: id, user: user, end: end)
    }

    /// Whether there is a user with an id.
    func isUser(_ id: String) throws -> Bool {
        guard classes.hasUsers, let users = classes.schema[InternalClasses.user] else { return false }
        return try connection.isStored(KeyValue(.text(id)), in: users)
    }

    // MARK: Roles

    /// The names of a user's roles, including those inherited from other roles.
    private func roles(of user: String) throws -> [String] {
        guard classes.hasRoles else { return [] }
        return try roles(from: [KeyValue(.text(user))], by: .rolesOfUser, known: [:])
    }

    /// The names of a role and of the roles that it is a member of; `nil` if the role doesn't exist.
    func roles(including name: String) throws -> [String]? {
        guard classes.hasRoles else { return nil }
        let row = try rows(
            .roleByName, [.text(name)], of: InternalClasses.role, ["objectId"],
            where: .comparison(.equal, .property(scope: 0, path: ["name"]), .value(.text(name)), [])
        ).first
        guard let row else { return nil }
        let key = KeyValue(row[0])
        return try roles(from: [key], by: .rolesOfRoles, known: [key: name])
    }

    private func roles(
        from keys: [KeyValue], by lookup: PreparedCallers.Lookup, known: [KeyValue: String]
    ) throws -> [String] {
        var (names, keys, lookup) = (known, keys, lookup)
        // Each turn finds new roles, so the loop ends even if roles form a circle.
        while !keys.isEmpty {
            let relation = lookup == .rolesOfUser ? "users" : "roles"
            let found = try rows(
                lookup, keys.map { $0.values[0] }, of: InternalClasses.role, ["objectId", "name"],
                where: .quantified(
                    .any, RelatedSet(scope: 0, path: [relation], innerScope: 1),
                    condition: .keyIn(.property(scope: 1, path: []), keys)))
            keys = []
            for row in found {
                let key = KeyValue(row[0])
                guard names[key] == nil, case .text(let name) = row[1] else { continue }
                names[key] = name
                keys.append(key)
            }
            lookup = .rolesOfRoles
        }
        return names.values.sorted()
    }

    // MARK: Lists

    private struct ListRights {
        let key: KeyValue
        let canRead, canWrite: Bool
    }

    /// The access lists that contain at least one of these users and roles, and the rights that they give.
    private func lists(of principals: [String]) throws -> [ListRights] {
        let values = principals.map { Value.text($0) }
        return try rows(
            .lists, values, of: InternalClasses.accessEntry, ["list", "canRead", "canWrite"],
            where: .valueIn(.property(scope: 0, path: ["principal"]), values, [])
        ).map { row in
            ListRights(key: KeyValue(row[0]), canRead: row[1].isTrue, canWrite: row[2].isTrue)
        }
    }

    /// The conditions on objects that have no access list or one of these, and on the sessions of one user.
    private func isListed(_ lists: [KeyValue], user: String?) -> [String: ExpressionNode] {
        let list = ExpressionNode.property(scope: 0, path: [InternalClasses.link])
        var conditions: [String: ExpressionNode] = [:]
        for name in classes.guarded {
            if name == InternalClasses.session {
                let users = user.map { [KeyValue(.text($0))] } ?? []
                conditions[name] = .keyIn(.property(scope: 0, path: ["user"]), users)
            } else {
                conditions[name] = .or([.isNull(list), .keyIn(list, lists)])
            }
        }
        return conditions
    }

    /// The access by access lists and permissions of classes.
    private func access(
        _ isListed: [String: ExpressionNode], _ known: KnownCaller,
        masks: [String: [String: ExpressionNode]] = [:],
        _ permissions: (KnownCaller, ClassPermissions?) -> [ClassPermissions.Permission]
    ) throws(RelataError) -> Access {
        var conditions = isListed
        for (name, own) in classes.permissions {
            conditions[name] = known.condition(
                permissions(known, own), onObjectsOf: name, classes[name], conditions[name])
        }
        return try Access(conditions, masks: masks, in: classes.schema, dialect: connection.dialect)
    }

    /// The values of some properties of the objects that meet a condition.
    ///
    /// - Parameter values: The values in the condition.
    private func rows(
        _ lookup: PreparedCallers.Lookup, _ values: [Value], of entity: String, _ names: [String],
        where condition: ExpressionNode
    ) throws -> [[Value]] {
        let (statement, types) = try classes.preparedCallers.query(lookup, values) {
            try compiler.select(
                QueryPlan(entity: entity, condition: condition),
                columns: .expressions(names.map { .property(scope: 0, path: [$0]) }))
        }
        return try connection.values(statement, types: types)
    }
}

extension Value {
    /// Whether the value is a column's encoding of true.
    fileprivate var isTrue: Bool { if case .integer(let number) = self { number != 0 } else { false } }
}

extension ParseError {
    /// The error for a session that has ended.
    static let sessionIsOver = ParseError(.invalidSessionToken, "Session token is expired.")
    static let invalidSession = ParseError(.invalidSessionToken, "Invalid session token")
}
