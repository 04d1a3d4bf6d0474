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

    /// The call for the app's code.
    ///
    /// - Parameter parameters: The call's parameters; `nil` for those of the request.
    /// - Throws: ``ParseError`` 209 for an unknown session.
    func cloudCall(
        _ name: String, _ call: ParseCall, parameters: JSONObject? = nil
    ) async throws -> CloudCall {
        var user: JSONObject?
        var roles: Set<String> = []
        if call.caller.sessionToken != nil || call.caller.subject != nil {
            let limit = options.maximumReply
            // A caller with the master key and a session has the roles of the session's user.
            var caller = call.caller
            caller.isMaster = false
            (user, roles) = try await store.read(as: caller) { transaction in
                let known = transaction.caller
                let id = known.session?.user ?? ""
                let user = try id.isEmpty ? nil : transaction.ownUser(id, Selection(), token: nil, limit: limit)
                let roles = known.principals.lazy.filter { $0.hasPrefix("role:") }.map { String($0.dropFirst(5)) }
                return (try user.flatMap { try JSONParser.parse($0.body).object }, Set(roles))
            }
        }
        return CloudCall(
            name: name, parameters: parameters ?? call.body.merging(call.parameters), user: user, roles: roles,
            isMaster: call.isMaster, installationID: call.installationID, context: call.context,
            headers: call.headers.filter { !ParseCall.secretHeaders.contains($0.key) }, requestID: call.requestID,
            asCaller: CloudStore(service: self, caller: call.caller),
            asMaster: CloudStore(
                service: self, caller: Caller(isMaster: true, unprovenFiles: call.caller.unprovenFiles)))
    }
}
