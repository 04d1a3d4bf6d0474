import RelataCore
import Synchronization

/// The rights of recent callers and the statements that find them, for the classes of a store at one moment. Building
/// either takes longer than reading an object.
///
/// Sessions, roles and access lists are read for every request: only callers with the same ones share rights.
final class PreparedCallers: Sendable {
    /// Everything besides the classes that rights depend on.
    struct RightsKey: Hashable {
        let principals: Set<String>
        /// The signed-in user; `nil` for none.
        let user: String?
        /// The access lists that let the caller read.
        let readable: [KeyValue]
        /// The access lists that let the caller write.
        let writable: [KeyValue]

        /// About how much memory the rights take: every guarded class has a condition on these lists.
        var size: Int { 8 + readable.count + writable.count }
    }

    /// The facts that a statement finds for a caller.
    enum Lookup: Hashable {
        case session, lists, roleByName, rolesOfUser, rolesOfRoles
    }

    /// One value is compared with `=`, several are a list.
    private struct StatementKey: Hashable {
        let lookup: Lookup
        let isOne: Bool
    }

    private let known = Mutex(KeptCallers<RightsKey>())
    private let statements = Mutex<[StatementKey: CompiledQuery]>([:])

    /// The rights of callers: a caller without a session.
    ///
    /// - Parameter build: Builds them for the first caller. Throws what `build` throws.
    func rights(_ key: RightsKey, build: () throws -> KnownCaller) rethrows -> KnownCaller {
        if let rights = known.withLock({ $0[key] }) { return rights }
        let rights = try build()
        known.withLock { $0.add(rights, for: key) }
        return rights
    }

    /// The statement of a lookup.
    ///
    /// - Parameters:
    ///   - values: The values in the condition, which differ from caller to caller: at least one.
    ///   - compile: Compiles the query for these values.
    /// - Throws: what `compile` throws.
    func query(
        _ lookup: Lookup, _ values: [Value], compile: () throws -> CompiledQuery
    ) rethrows -> (statement: SQLStatement, types: [AttributeType?]) {
        let key = StatementKey(lookup: lookup, isOne: values.count == 1)
        let parameters = [key.isOne ? Parameter.value(values[0]) : .list(values)]
        if let query = statements.withLock({ $0[key] }) {
            return (SQLStatement(query.statement.sql, parameters), query.columnTypes)
        }
        let query = try compile()
        if query.statement.parameters == parameters { statements.withLock { $0[key] = query } }
        return (query.statement, query.columnTypes)
    }
}
