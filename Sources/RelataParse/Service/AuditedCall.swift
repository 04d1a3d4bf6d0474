/// A request that was to change something by the master key, or who may do what.
package struct AuditedCall: Hashable, Sendable {
    /// What was asked: `PUT /parse/classes/Book/x7Yz`.
    package let action: String
    /// Whether the master key came along.
    package let isMaster: Bool
    /// The session that it was asked in.
    let sessionToken: String?
    /// Which rights it was to change: `ACL`, `classLevelPermissions`, or the members of a role.
    package let rights: [String]

    /// - Returns: `nil` for a request that only reads, or that a client may send and that changes nobody's rights.
    init?(_ call: ParseCall, mount: String) {
        guard call.method != .get else { return nil }
        var rights = ["ACL", "classLevelPermissions"].filter { call.body[$0] != nil }
        let isOfRole = call.path.first == "roles" || call.path.starts(with: ["classes", InternalClasses.role])
        if isOfRole { rights += ["users", "roles"].filter { call.body[$0] != nil } }
        if call.path.first == "batch" {
            let bodies = call.body["requests"]?.array?.compactMap { $0["body"]?.object } ?? []
            if bodies.contains(where: { $0["ACL"] != nil }) { rights.append("ACL") }
        }
        guard call.isMaster || !rights.isEmpty else { return nil }
        self.rights = rights
        action = "\(call.method.rawValue) \(mount)/\(call.path.joined(separator: "/").prefix(512))"
        isMaster = call.isMaster
        sessionToken = call.caller.sessionToken
    }
}

extension ParseService {
    /// Who sent a request: the master key, a user by the id, or nobody who is known.
    package func sender(of call: AuditedCall) async -> String {
        if call.isMaster { return "master key" }
        guard let token = call.sessionToken else { return "client" }
        let session = try? await store.read(as: Caller(sessionToken: token)) { $0.caller.session }
        return session.map { "user \($0.user)" } ?? "client"
    }
}
