import Foundation
import RelataCore
import RelataEngine

/// The sender of a request, as far as the request says.
struct Caller: Hashable, Sendable {
    /// The holder of the master key.
    static let master = Caller(isMaster: true)

    var isMaster = false
    /// The token of a user's session.
    var sessionToken: String?
    /// The files that the request names without an address that this server signed.
    var unprovenFiles: Set<String> = []
    /// Whether it came with the master key that only reads.
    var isReadOnly = false
    /// Whether it came with the maintenance key.
    var isMaintenance = false
    /// Whether objects that it changes keep the times of their last changes: for imports.
    var keepsUpdatedAt = false

    /// Takes over what keys allow.
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
    /// The lists by which the caller sees objects of a class, if the class has any.
    var isListed: [String: ExpressionNode] = [:]
    /// The fields that are hidden from the caller, by class.
    var hiddenFields: [String: Set<String>] = [:]
    /// The files that the request names without an address that this server signed: an object may keep them, but not get
    /// them.
    var unprovenFiles: Set<String> = []
    /// Whether the times of objects are written as the request has them.
    var isMaintenance = false
    /// Whether objects that it changes keep the times of their last changes.
    var keepsUpdatedAt = false

    /// A signed-in user.
    struct SignedIn: Hashable, Sendable {
        let id: String
        let user: String
        /// When the session ends; `nil` for never.
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
    /// - Throws: ``ParseError`` 209 for a session that doesn't exist, or has ended.
    func known(_ caller: Caller) throws -> KnownCaller {
        var known = KnownCaller(isMaster: caller.isMaster, session: try session(of: caller))
        if caller.isMaster || classes.guarded.isEmpty && classes.permissions.isEmpty { return known }
        known.principals = try principals(of: known.session)
        return try seeing(known)
    }

    /// The session of a caller.
    ///
    /// - Throws: ``ParseError`` 209 for a session that there isn't, or isn't any more.
    func session(of caller: Caller) throws -> KnownCaller.SignedIn? {
        try caller.sessionToken.map(session)
    }

    /// `*`, the user's id, and its roles.
    func principals(of session: KnownCaller.SignedIn?) throws -> Set<String> {
        guard let user = session?.user else { return ["*"] }
        return Set(["*", user] + (try roles(of: user).map { "role:" + $0 }))
    }

    /// A caller with what its principals may see and change.
    func seeing(_ caller: KnownCaller) throws -> KnownCaller {
        var known = caller
        if caller.isMaster { return known }
        let lists = try classes.guarded.isEmpty ? [] : self.lists(of: known.principals.sorted())
        known.isListed = isListed(lists.filter { $0.canRead }.map { $0.key }, user: known.session?.user)
        let mayChange = isListed(lists.filter { $0.canWrite }.map { $0.key }, user: known.session?.user)
        known.read = try access(known.isListed, known) { [$0.permission(.get, on: $1), $0.limit(.find, on: $1)] }
        known.write = try access(mayChange, known) { [$0.permission(.update, on: $1)] }
        known.delete =
            classes.permissions.isEmpty
            ? known.write : try access(mayChange, known) { [$0.permission(.delete, on: $1)] }
        known.hiddenFields = hiddenFields(from: known)
        return known
    }

    /// The fields that are hidden from a caller, by class. The inverse of a hidden pointer is hidden too, because it
    /// would reveal the pointer.
    private func hiddenFields(from known: KnownCaller) -> [String: Set<String>] {
        var hidden: [String: Set<String>] = [:]
        if !classes.guarded.isEmpty { hidden[InternalClasses.user] = InternalClasses.privateFields }
        for (name, permissions) in classes.permissions where permissions.hidesFields {
            let fields = permissions.hiddenFields(of: known.principals, isSignedIn: known.session != nil)
            if fields.isEmpty { continue }
            hidden[name, default: []].formUnion(fields)
            for side in classes.otherSides(of: fields, in: name) {
                hidden[side.className, default: []].insert(side.field)
            }
        }
        return hidden
    }

    // MARK: Sessions

    private func session(_ token: String) throws -> KnownCaller.SignedIn {
        guard let secrets, classes.hasUsers, let table = classes.schema[InternalClasses.session], table.entity.isSession
        else { throw ParseError.invalidSession }
        let hash = secrets.digestText(of: token)
        let plan = QueryPlan(
            entity: table.name,
            condition: .comparison(
                .equal, .property(scope: 0, path: ["_token"]), .value(.text(hash)), []))
        let names = ["objectId", "user", "expiresAt"]
        let row = try rows(plan, names.map { .property(scope: 0, path: [$0]) }).first
        guard let row, case .text(let id) = row[0], case .text(let user) = row[1] else {
            throw ParseError.invalidSession
        }
        let end = row[2].wholeNumber.map { Date(timeIntervalSince1970: Double($0) / 1_000_000) }
        if let end, end <= now { throw ParseError.sessionIsOver }
        return KnownCaller.SignedIn(id: id, user: user, end: end)
    }

    // MARK: Roles

    /// The names of the roles that a user has, directly or by other roles.
    private func roles(of user: String) throws -> [String] {
        guard hasRoles else { return [] }
        return try roles(from: [KeyValue(.text(user))], by: "users", known: [:])
    }

    private var hasRoles: Bool { classes.schema[InternalClasses.role]?.entity.isGuarded == true }

    /// The names of a role and of those that it is a member of; `nil` if there is no such role.
    func roles(including name: String) throws -> [String]? {
        guard hasRoles else { return nil }
        let plan = QueryPlan(
            entity: InternalClasses.role,
            condition: .comparison(.equal, .property(scope: 0, path: ["name"]), .value(.text(name)), []))
        guard let row = try rows(plan, [.property(scope: 0, path: [])]).first else { return nil }
        let key = KeyValue(row[0])
        return try roles(from: [key], by: "roles", known: [key: name])
    }

    private func roles(
        from keys: [KeyValue], by relation: String, known: [KeyValue: String]
    ) throws -> [String] {
        var (names, keys, relation) = (known, keys, relation)
        // Each turn finds new roles, so a circle of roles comes to an end.
        while !keys.isEmpty {
            let plan = QueryPlan(
                entity: InternalClasses.role,
                condition: .quantified(
                    .any, RelatedSet(scope: 0, path: [relation], innerScope: 1),
                    condition: .keyIn(.property(scope: 1, path: []), keys)))
            keys = []
            for row in try rows(plan, [.property(scope: 0, path: []), .property(scope: 0, path: ["name"])]) {
                let key = KeyValue(row[0])
                guard names[key] == nil, case .text(let name) = row[1] else { continue }
                names[key] = name
                keys.append(key)
            }
            relation = "roles"
        }
        return names.values.sorted()
    }

    // MARK: Lists

    private struct ListRights {
        let key: KeyValue
        let canRead, canWrite: Bool
    }

    /// The lists that name one of some users and roles, and their rights.
    private func lists(of principals: [String]) throws -> [ListRights] {
        let plan = QueryPlan(
            entity: InternalClasses.accessEntry,
            condition: .valueIn(
                .property(scope: 0, path: ["principal"]), principals.map { Value.text($0) }, []))
        let names = ["list", "canRead", "canWrite"]
        return try rows(plan, names.map { .property(scope: 0, path: [$0]) }).map { row in
            ListRights(key: KeyValue(row[0]), canRead: row[1].isTrue, canWrite: row[2].isTrue)
        }
    }

    /// Objects that have no list, or one of these, and the sessions of one user.
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

    /// Objects by their lists and by what their classes allow.
    private func access(
        _ isListed: [String: ExpressionNode], _ known: KnownCaller,
        _ permissions: (KnownCaller, ClassPermissions?) -> [ClassPermissions.Permission]
    ) throws(RelataError) -> Access {
        var conditions = isListed
        for (name, own) in classes.permissions {
            conditions[name] = known.condition(permissions(known, own), onObjectsOf: name, conditions[name])
        }
        return try Access(conditions, in: classes.schema, dialect: connection.dialect)
    }

    private func rows(_ plan: QueryPlan, _ nodes: [ExpressionNode]) throws -> [[Value]] {
        let query = try compiler.select(plan, columns: .expressions(nodes))
        return try connection.values(query.statement, types: query.columnTypes)
    }
}

extension Value {
    /// Whether it is a column's word for true.
    fileprivate var isTrue: Bool { if case .integer(let number) = self { number != 0 } else { false } }
}

extension ParseError {
    /// The error for a session that doesn't exist.
    static let sessionIsOver = ParseError(.invalidSessionToken, "Session token is expired.")
    static let invalidSession = ParseError(.invalidSessionToken, "Invalid session token")
}
