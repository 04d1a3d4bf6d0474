import RelataCore

/// The rules that allow, hide or deny each operation on a class, or on one of its objects, for a caller.
///
/// ```swift
/// let explanation = try await store.explainAccess(of: .user("mei"), to: "Note", "x7Yz")
/// print(explanation)
/// ```
///
/// The outcomes are computed as in the answer to a request, and each reason names the rule behind an outcome. The rules
/// are class-level permissions and access lists: see `Documentation/Users.md`.
public struct AccessExplanation: Hashable, Sendable {
    /// The outcome of an operation.
    public enum Outcome: String, Hashable, Sendable {
        /// The operation is done.
        case allowed
        /// The reply is that the object doesn't exist.
        case hidden
        /// The reply is that the operation isn't allowed.
        case denied
    }

    /// An operation, and the rule that decides its outcome.
    public struct Verdict: Hashable, Sendable {
        /// `find`, `count`, `get`, `create`, `update`, `delete` or `addField`.
        public let operation: String
        /// The outcome.
        public let outcome: Outcome
        /// The rule, in words.
        public let reason: String
    }

    /// The class.
    public let className: String
    /// The object; `nil` for the class as a whole.
    public let objectID: String?
    /// The caller, in words: `the user mei (u1Ab)`.
    public let caller: String
    /// The caller's names in permissions and access lists: `*`, the user's id, and `role:` with the name of each role.
    public let principals: [String]
    /// The operations.
    public let verdicts: [Verdict]
    /// The fields that are hidden from the caller.
    public let hiddenFields: [String]
    /// The fields that only some objects show to the caller; empty for one object.
    public let partlyHiddenFields: [String]
}

extension AccessExplanation: CustomStringConvertible {
    /// The explanation as a table.
    public var description: String { lines.joined(separator: "\n") }

    /// The lines of the table.
    package var lines: [String] {
        let object = objectID.map { "\(className) \($0)" } ?? className
        let roles = principals.filter { $0.hasPrefix("role:") }.map { $0.dropFirst(5) }.joined(separator: ", ")
        var lines = ["\(object), for \(caller)" + (roles.isEmpty ? "" : ", with the roles \(roles)"), ""]
        for verdict in verdicts {
            let names = [(verdict.operation, 9), (verdict.outcome.rawValue, 8)]
            lines.append(
                names.map { $0.0.padding(to: $0.1) }.joined(separator: " ") + " " + verdict.reason)
        }
        if !hiddenFields.isEmpty { lines += ["", "hidden fields: " + hiddenFields.joined(separator: ", ")] }
        if !partlyHiddenFields.isEmpty {
            lines += ["", "fields that only some objects show: " + partlyHiddenFields.joined(separator: ", ")]
        }
        return lines
    }
}

extension AccessExplanation {
    /// The explanation for pages that show it.
    var json: JSONValue {
        let names = { (names: [String]) in JSONValue.array(names.map { .string($0) }) }
        return [
            "caller": .string(caller), "principals": names(principals), "hiddenFields": names(hiddenFields),
            "partlyHiddenFields": names(partlyHiddenFields),
            "verdicts": .array(
                verdicts.map { verdict in
                    [
                        "operation": .string(verdict.operation), "outcome": .string(verdict.outcome.rawValue),
                        "reason": .string(verdict.reason),
                    ]
                }),
        ]
    }
}

extension String {
    fileprivate func padding(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}

extension ParseStore {
    /// Explains what a caller may do with the objects of a class, or with one of them.
    ///
    /// - Parameters:
    ///   - subject: The caller; a user by name or id.
    ///   - className: The class.
    ///   - objectID: The object; `nil` for the class as a whole.
    /// - Throws: ``ParseError`` 101 for an object, a user or a role that doesn't exist, and 103 for such a class.
    public func explainAccess(
        of subject: AccessSubject, to className: String, _ objectID: String? = nil
    ) async throws -> AccessExplanation {
        try await read(as: .master) { transaction in
            let lookup = CallerLookup(
                connection: transaction.connection, classes: transaction.storedClasses, now: transaction.now,
                secrets: transaction.secrets)
            let (identity, words) = try transaction.identity(of: subject, lookup)
            let caller = try lookup.seeing(identity)
            guard let parseClass = transaction.storedClasses[className] else {
                throw ParseError(
                    .invalidClassName,
                    "there is no class \(className.prefix(64))"
                        + NameSuggestion.hint(
                            for: className,
                            among: transaction.storedClasses.schema.tables.map(\.name).filter {
                                !InternalClasses.hidden.contains($0)
                            }))
            }
            return try AccessJudge(transaction, caller, parseClass, objectID).explanation(words)
        }
    }
}

extension ParseTransaction {
    /// A caller without a request, and its description.
    ///
    /// - Throws: ``ParseError`` 101 for a user or a role that doesn't exist.
    fileprivate func identity(
        of subject: AccessSubject, _ lookup: CallerLookup
    ) throws -> (caller: KnownCaller, words: String) {
        switch subject {
        case .nobody: return (try lookup.identity(of: subject), "nobody")
        case .user(let name):
            guard let user = try user("objectId", name) ?? user("_usernameKey", UserFields.key(name)) else {
                throw ParseError(.objectNotFound, "there is no user \(name.prefix(64))")
            }
            return (try lookup.identity(of: .user(user.id)), "the user \(user.name) (\(user.id))")
        case .role(let name): return (try lookup.identity(of: subject), "a user of the role \(name)")
        }
    }
}

/// Decides operations like the answers to requests, and finds the rule behind each decision.
private struct AccessJudge {
    let transaction: ParseTransaction
    let parseClass: ParseClass
    let objectID: String?
    let caller: KnownCaller
    private let key: KeyValue?
    /// The object's access list; `nil` for an object without one.
    private let list: AccessList?

    init(_ transaction: ParseTransaction, _ caller: KnownCaller, _ parseClass: ParseClass, _ objectID: String?) throws {
        self.transaction = ParseTransaction(transaction, as: caller)
        (self.caller, self.parseClass, self.objectID) = (caller, parseClass, objectID)
        key = try objectID.flatMap { try transaction.key($0, of: parseClass) }
        guard objectID != nil else {
            list = nil
            return
        }
        guard let key, try transaction.connection.isStored(key, in: parseClass.table) else {
            throw ParseError(
                .objectNotFound, "there is no object \((objectID ?? "").prefix(64)) of \(parseClass.name)")
        }
        list = try transaction.accessList(of: key, in: parseClass)
    }

    func explanation(_ words: String) throws -> AccessExplanation {
        let partlyHidden = caller.partlyHiddenFields[parseClass.name] ?? []
        let hidden = try (caller.hiddenFields[parseClass.name] ?? []).union(partlyHidden.filter(isHidden))
        return AccessExplanation(
            className: parseClass.name, objectID: objectID, caller: words, principals: caller.principals.sorted(),
            verdicts: try ClassPermissions.Operation.allCases.map(verdict),
            hiddenFields: hidden.filter { !$0.hasPrefix("_") }.sorted(),
            partlyHiddenFields: objectID == nil ? partlyHidden.subtracting(hidden).sorted() : [])
    }

    /// Whether the object hides a field that others show.
    private func isHidden(_ field: String) throws -> Bool {
        guard let key, let isShown = caller.read.mask(field, of: parseClass.name) else { return false }
        let showing = try Access(
            [parseClass.name: isShown], in: transaction.schema, dialect: transaction.connection.dialect)
        return try !transaction.connection.isSeen(
            key, of: parseClass.table, transaction.compiler(under: showing))
    }

    private func verdict(_ operation: ClassPermissions.Operation) throws -> AccessExplanation.Verdict {
        let permissions = parseClass.options.permissions
        let rule = permissions?.rule(operation, for: caller) ?? "the class allows everybody everything"
        func verdict(_ outcome: AccessExplanation.Outcome, _ reason: String) -> AccessExplanation.Verdict {
            AccessExplanation.Verdict(operation: operation.rawValue, outcome: outcome, reason: reason)
        }
        if let reason = refusal(of: operation) { return verdict(.denied, reason) }
        let permission = caller.permission(operation, on: permissions)
        if case .nothing = permission, !isOwnUser(operation) { return verdict(.denied, rule) }
        guard let key, let access = try access(operation) else { return verdict(.allowed, rule) }
        if parseClass.name == InternalClasses.user, !operation.isReading, caller.session?.user != objectID {
            return verdict(.denied, "only the user itself can change or delete it")
        }
        let isSeen = try transaction.connection.isSeen(
            key, of: parseClass.table, transaction.compiler(under: access))
        let lists = listRule(isReading: operation.isReading)
        return verdict(isSeen ? .allowed : .hidden, "\(rule); \(lists)")
    }

    /// The reason why the server refuses an operation to clients regardless of the class's permissions; `nil` if it
    /// doesn't.
    private func refusal(of operation: ClassPermissions.Operation) -> String? {
        let isClosed = transaction.mode != .development
        switch (parseClass.name, operation) {
        case (let name, _) where ServiceClasses.ofMaster.contains(name): return "only the master key uses the class"
        case (InternalClasses.session, .create), (InternalClasses.session, .update),
            (InternalClasses.session, .addField):
            return "sessions begin by signing in, and can't be changed"
        case (InternalClasses.user, .update), (InternalClasses.user, .delete):
            return caller.session == nil ? "only the user itself can change or delete it" : nil
        case (InternalClasses.role, .create) where isClosed: return "in production, only the master key makes roles"
        case (_, .addField) where isClosed: return "in production, classes get no new fields by use"
        default: return nil
        }
    }

    /// A user can always read its own object, whatever the permissions of the class.
    private func isOwnUser(_ operation: ClassPermissions.Operation) -> Bool {
        operation.isReading && parseClass.name == InternalClasses.user && objectID != nil
            && caller.session?.user == objectID
    }

    /// The objects that the caller may use in an operation; `nil` for an operation that needs no existing object.
    private func access(_ operation: ClassPermissions.Operation) throws -> Access? {
        switch operation {
        case .find, .count, .get:
            return isOwnUser(operation) ? caller.read : try transaction.reading(parseClass, operation).access
        case .update: return caller.write
        case .delete: return caller.delete
        case .create, .addField: return nil
        }
    }

    private func listRule(isReading: Bool) -> String {
        guard parseClass.name != InternalClasses.session else { return "a session is there for its own user" }
        guard let list else { return "the object has no access list" }
        let right = isReading ? "reading" : "writing"
        let named = list.rights.filter { isReading ? $0.value.canRead : $0.value.canWrite }.keys.sorted()
        let own = named.filter(caller.principals.contains)
        if !own.isEmpty { return "its access list allows \(right) to \(own.joined(separator: ", "))" }
        return named.isEmpty
            ? "its access list allows \(right) to nobody"
            : "its access list allows \(right) to \(named.prefix(5).joined(separator: ", "))"
                + (named.count > 5 ? " and \(named.count - 5) others" : "")
    }
}

extension ParseTransaction {
    /// The access list of an existing object; `nil` for an object without one.
    fileprivate func accessList(of key: KeyValue, in parseClass: ParseClass) throws -> AccessList? {
        guard parseClass.accessColumn != nil else { return nil }
        let plan = QueryPlan(entity: parseClass.name, condition: .keyIn(.property(scope: 0, path: []), [key]))
        let query = try unlimitedCompiler.select(
            plan,
            columns: .expressions([.property(scope: 0, path: [InternalClasses.link, InternalClasses.permissions])]))
        guard let text = try connection.values(query.statement, types: query.columnTypes).first?.last?.plainText else {
            return nil
        }
        return try AccessList(try JSONParser.parse(text))
    }
}

extension ClassPermissions {
    /// The rule of the class that allows or denies an operation, in words.
    fileprivate func rule(_ operation: Operation, for caller: KnownCaller) -> String {
        let grant = grants[operation] ?? Grant()
        let own = grant.principals.filter(caller.principals.contains).sorted()
        if own.contains("*") { return "the class allows it to everybody" }
        if !own.isEmpty { return "the class allows it to \(own.joined(separator: ", "))" }
        if grant.requiresAuthentication, caller.session != nil { return "the class allows it to all who are signed in" }
        if case .objects(let fields) = permission(
            operation, of: caller.principals, isSignedIn: caller.session != nil)
        {
            return "the class allows it to the users in \(fields.joined(separator: ", "))"
        }
        if grant.requiresAuthentication { return "the class allows it to those who are signed in" }
        let others = grant.principals.sorted()
        return others.isEmpty
            ? "the class leaves it to the master key"
            : "the class allows it to \(others.prefix(5).joined(separator: ", "))"
                + (others.count > 5 ? " and \(others.count - 5) others" : "")
    }
}
