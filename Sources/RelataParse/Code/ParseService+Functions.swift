import RelataCore
import RelataEngine

extension ParseService {
    /// Calls a function of the app.
    func function(_ call: ParseCall) async throws -> WireReply {
        guard call.method == .post else {
            throw ParseError.impossible(call)
        }
        let name = call.path[1]
        guard let function = options.code.functions[name] else { return try await webhookFunction(name, call) }
        var cloud = try await cloudCall(name, call)
        for rule in function.rules { try rule.check(&cloud) }
        return WireReply(["result": try await CodeFailure.catching { [cloud] in try await function.body(cloud) }])
    }

    /// A call as the app's code gets it.
    ///
    /// - Parameter parameters: What it gets as parameters; `nil` for all that came along.
    /// - Throws: ``ParseError`` 209 for a session that there isn't.
    func cloudCall(
        _ name: String, _ call: ParseCall, parameters: JSONObject? = nil
    ) async throws -> CloudCall {
        var user: JSONObject?
        var roles: Set<String> = []
        if let token = call.caller.sessionToken {
            let limit = options.maximumReply
            // The roles of whoever has the master key as well are those of its user.
            (user, roles) = try await store.read(as: Caller(sessionToken: token)) { transaction in
                let known = transaction.caller
                guard let session = known.session else { throw ParseError.invalidSession }
                let user = try transaction.ownUser(session.user, Selection(), token: nil, limit: limit)
                let roles = known.principals.lazy.filter { $0.hasPrefix("role:") }.map { String($0.dropFirst(5)) }
                return (try JSONParser.parse(user.body).object, Set(roles))
            }
        }
        return CloudCall(
            name: name, parameters: parameters ?? call.body.merging(call.parameters), user: user, roles: roles,
            isMaster: call.isMaster, installationID: call.installationID, context: call.context,
            headers: call.headers.filter { !ParseCall.secretHeaders.contains($0.key) }, requestID: call.requestID,
            asCaller: CloudStore(service: self, caller: call.caller),
            asMaster: CloudStore(service: self, caller: .master))
    }
}
