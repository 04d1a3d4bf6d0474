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
}

/// The sender of a request, as the store knows it, and what it may do.
struct KnownCaller: Sendable {
    /// The holder of the master key.
    static let master = KnownCaller(isMaster: true)

    var isMaster = false
    /// The session's and the user's ids; `nil` where nobody is signed in.
    var session: SignedIn?
    /// The objects that the caller sees.
    var read = Access.everything
    /// The objects that the caller may change.
    var write = Access.everything

    /// Somebody who is signed in.
    struct SignedIn: Hashable, Sendable {
        let id: String
        let user: String
    }
}

/// Finds out who sends a request, in the transaction that answers it.
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
    /// - Throws: ``ParseError`` 209 for a session that there isn't, or isn't any more.
    func known(_ caller: Caller) throws -> KnownCaller {
        var session: KnownCaller.SignedIn?
        if let token = caller.sessionToken { session = try self.session(token) }
        if caller.isMaster || classes.guarded.isEmpty {
            return KnownCaller(isMaster: caller.isMaster, session: session)
        }
        var principals = ["*"]
        if let user = session?.user {
            principals.append(user)
            for role in try roles(of: user) { principals.append("role:" + role) }
        }
        let lists: [ListRights] = try self.lists(of: principals)
        let read = try access(lists.filter { $0.canRead }.map { $0.key }, user: session?.user)
        let write = try access(lists.filter { $0.canWrite }.map { $0.key }, user: session?.user)
        return KnownCaller(session: session, read: read, write: write)
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
        if case .integer(let end) = row[2], Double(end) <= now.timeIntervalSince1970 * 1_000_000 {
            throw ParseError(.invalidSessionToken, "Session token is expired.")
        }
        return KnownCaller.SignedIn(id: id, user: user)
    }

    // MARK: Roles

    /// The names of the roles that a user has, directly or by other roles.
    private func roles(of user: String) throws -> [String] {
        guard classes.schema[InternalClasses.role]?.entity.isGuarded == true else { return [] }
        var names: [KeyValue: String] = [:]
        var keys = [KeyValue(.text(user))]
        var relation = "users"
        // Each turn finds roles that weren't known, so that a circle of roles comes to its end.
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

    /// The lists that name one of some users and roles, and what they allow.
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
    private func access(_ lists: [KeyValue], user: String?) throws(RelataError) -> Access {
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
    /// The error for a session that isn't there.
    static let invalidSession = ParseError(.invalidSessionToken, "Invalid session token")
}
