/// A request that changes something with the master key, or changes rights.
package struct AuditedCall: Hashable, Sendable {
    /// The request: `PUT /parse/classes/Book/x7Yz`.
    package let action: String
    /// Whether the request has the master key.
    package let isMaster: Bool
    /// The session of the request.
    let sessionToken: String?
    /// The rights that the call asked to change: `ACL`, `classLevelPermissions`, or the members of a role.
    package let rights: [String]
    /// Whether it was a batch.
    package let isBatch: Bool

    /// - Returns: `nil` for a request that only reads, or that a client may send and that changes nobody's rights.
    init?(_ call: ParseCall, mount: String) {
        guard call.mayChange else { return nil }
        isBatch = call.path == ["batch"]
        var rights = Self.rights(call.path, call.body)
        if isBatch {
            let mount = (try? ParseCall.path(mount)) ?? []
            for request in call.body["requests"]?.array ?? [] {
                guard let body = request["body"]?.object, let text = request["path"]?.string,
                    let path = try? ParseCall.path(inBatch: text, below: mount)
                else { continue }
                for right in Self.rights(path, body) where !rights.contains(right) { rights.append(right) }
            }
        }
        guard call.isMaster || !rights.isEmpty else { return nil }
        self.rights = rights
        action = "\(call.method.rawValue) \(mount)/\(call.path.joined(separator: "/").prefix(512))"
        isMaster = call.isMaster
        sessionToken = call.caller.sessionToken
    }

    /// The rights that one request changes.
    private static func rights(_ path: [String], _ body: JSONObject) -> [String] {
        let isOfRole = path.first == "roles" || path.starts(with: ["classes", InternalClasses.role])
        let names = ["ACL", "classLevelPermissions"] + (isOfRole ? ["users", "roles"] : [])
        return names.filter { body[$0] != nil }
    }
}

extension ParseService {
    /// The sender of a request: the master key, a user by the id, or an unknown client.
    package func sender(of call: AuditedCall) async -> String {
        if call.isMaster { return "master key" }
        guard let token = call.sessionToken else { return "client" }
        let session = try? await store.read(as: Caller(sessionToken: token)) { $0.caller.session }
        return session.map { "user \($0.user)" } ?? "client"
    }
}
