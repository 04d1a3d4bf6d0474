import RelataCore
import RelataEngine

/// The class of installations: apps on devices.
enum InstallationClass {
    static let name = ServiceClasses.installation

    /// The text fields of every installation, in addition to those that an app adds.
    static let texts = [
        "installationId", "deviceToken", "deviceType", "pushType", "GCMSenderId", "timeZone", "localeIdentifier",
        "appName", "appVersion", "appIdentifier", "parseVersion",
    ]

    /// The fields that decide which installation a request is about.
    static let identifying: Set = ["installationId", "deviceToken", "deviceType"]

    static var entity: Entity {
        var entity = SchemaDraft.newEntity(name)
        entity.properties += texts.map { .attribute(Attribute($0, type: .text, isOptional: true)) }
        entity.properties += [
            .attribute(Attribute("badge", type: .real, isOptional: true, keepsIntegers: true)),
            .attribute(Attribute("channels", type: .json, isOptional: true)),
        ]
        entity.uniques = [["installationId"]]
        entity.indexes = [["deviceToken"]]
        return entity
    }

    /// The permissions of clients: they can get an installation by its id, but not list installations.
    static var options: ClassOptions {
        var options = ClassOptions()
        options.fields["channels"] = FieldOptions(type: .array)
        options.permissions = .allowing([.get, .create, .update, .addField])
        return options
    }
}

/// The values in a request that identify an installation.
struct InstallationIDs: Sendable {
    /// The id that the app gave itself; `nil` if the request doesn't contain one.
    let installation: String?
    /// Whether the id is in the object, not only in a header field.
    let isInBody: Bool
    let token: String?
    let type: String?
    let app: String?
    /// The object, with the ids in their stored form.
    let body: JSONObject

    /// An installation with its ids in their stored form.
    static func stored(_ installation: JSONObject) -> JSONObject {
        var body = installation
        if let given = body["installationId"]?.string { body["installationId"] = .string(given.lowercased()) }
        // Apple's tokens are hexadecimal.
        if let token = body["deviceToken"]?.string, token.utf8.count == 64 {
            body["deviceToken"] = .string(token.lowercased())
        }
        return body
    }

    /// Reads a request.
    init(_ call: ParseCall) {
        let body = Self.stored(call.body)
        let given = body["installationId"]?.string
        let token = body["deviceToken"]?.string
        isInBody = given?.isEmpty == false
        installation = isInBody ? given : call.isMaster ? nil : call.installationID?.lowercased()
        self.token = token?.isEmpty == false ? token : nil
        type = body["deviceType"]?.string
        app = body["appIdentifier"]?.string
        self.body = body
    }
}

/// A stored installation.
private struct StoredInstallation {
    let id: String
    let installation: String?
    let token: String?
    let type: String?
    let app: String?
}

extension ParseTransaction {
    /// The installation that a request is about. If several stored objects match the same one, the others are deleted.
    ///
    /// - Parameter id: The id in a request that changes an installation; `nil` if the client creates one.
    /// - Returns: The installation's id; `nil` if the installation must be created.
    /// - Throws: ``ParseError`` 101, 132, 135 and 136, in the same cases as Parse Server.
    func installation(_ ids: InstallationIDs, id: String?) throws -> String? {
        let match = try matchingInstallation(ids, id: id)
        if let known = storedClasses[InstallationClass.name], !match.others.isEmpty {
            _ = try delete(known, .keys(match.others.map { KeyValue(.text($0)) }), under: .everything)
        }
        return match.id
    }

    /// The installation that a request is about, and the ids of others that match the same one.
    ///
    /// - Throws: the errors of ``installation(_:id:)``.
    func matchingInstallation(_ ids: InstallationIDs, id: String?) throws -> (id: String?, others: [String]) {
        let all = try installations(ids, id)
        let own = id.flatMap { id in all.first { $0.id.hasSameBytes(as: id) } }
        if let id {
            guard let own else { throw ParseError(.objectNotFound, "Object not found for update.") }
            try Self.checkChange(of: own, ids)
            if ids.token == nil, ids.installation == nil, ids.type == nil { return (id, []) }
        }
        let tokens = ids.token.map { token in all.filter { $0.token?.hasSameBytes(as: token) == true } } ?? []
        let known =
            ids.installation.flatMap { given in all.first { $0.installation?.hasSameBytes(as: given) == true } } ?? own
        guard let known else {
            guard ids.type != nil else {
                throw ParseError(.missingRequiredField, "deviceType must be specified in this operation")
            }
            guard let first = tokens.first else { return (nil, []) }
            if tokens.count == 1, first.installation == nil || ids.installation == nil { return (first.id, []) }
            guard ids.isInBody else {
                throw ParseError(
                    .invalidInstallationID,
                    "Must specify installationId when deviceToken matches multiple Installation objects")
            }
            return (nil, Self.replaced(tokens, by: ids))
        }
        if tokens.count == 1, let other = tokens.first, other.installation == nil, other.id != known.id {
            return (other.id, [known.id])
        }
        let isMoved = ids.token != nil && known.token != ids.token && ids.isInBody
        return (known.id, isMoved ? Self.replaced(tokens, by: ids) : [])
    }

    private static func checkChange(of known: StoredInstallation, _ ids: InstallationIDs) throws(ParseError) {
        func refuse(_ field: String) -> ParseError {
            ParseError(.changedImmutableField, "\(field) may not be changed in this operation")
        }
        if ids.isInBody, let old = known.installation, old != ids.installation { throw refuse("installationId") }
        if let token = ids.token, let old = known.token, token != old, !ids.isInBody, known.installation == nil {
            throw refuse("deviceToken")
        }
        if let type = ids.type, let old = known.type, type != old { throw refuse("deviceType") }
    }

    /// The installations with one of these ids.
    private func installations(_ ids: InstallationIDs, _ id: String?) throws -> [StoredInstallation] {
        let values = [("objectId", id), ("installationId", ids.installation), ("deviceToken", ids.token)]
        let conditions = values.compactMap { name, value in
            value.map {
                ExpressionNode.comparison(.equal, .property(scope: 0, path: [name]), .value(.text($0)), [])
            }
        }
        let plan = QueryPlan(entity: InstallationClass.name, condition: .or(conditions))
        let nodes = ["objectId", "installationId", "deviceToken", "deviceType", "appIdentifier"].map {
            ExpressionNode.property(scope: 0, path: [$0])
        }
        let query = try unlimitedCompiler.select(plan, columns: .expressions(nodes))
        return try connection.values(query.statement, types: query.columnTypes).map { row in
            StoredInstallation(
                id: row[0].plainText ?? "", installation: row[1].plainText, token: row[2].plainText,
                type: row[3].plainText, app: row[4].plainText)
        }
    }

    /// Those of these installations that have another installation id and the same app.
    private static func replaced(_ installations: [StoredInstallation], by ids: InstallationIDs) -> [String] {
        installations.filter { $0.installation != ids.installation && (ids.app == nil || $0.app == ids.app) }.map(\.id)
    }
}

extension ParseService {
    /// Answers a request about installations, at `/installations` or `/classes/_Installation`.
    func installations(_ call: ParseCall) async throws -> WireReply {
        guard store.models == nil else { throw ParseError(.operationForbidden, "there are no installations here") }
        let parts = Array(call.path.dropFirst(call.path[0] == "installations" ? 1 : 2))
        guard parts.count <= 1 else { throw Self.unknown(call) }
        switch (call.method, parts.first) {
        case (.post, nil): return try await write(installation: nil, call)
        case (.put, let id?): return try await write(installation: id, call)
        case (.put, nil), (.post, _):
            throw ParseError.impossible(call)
        case (.get, _), (.delete, _):
            var call = call
            call.path = ["classes", InstallationClass.name] + parts
            return try await objects(call)
        }
    }

    private func write(installation id: String?, _ call: ParseCall) async throws -> WireReply {
        try options.prohibitedNames.check(call.body)
        let ids = InstallationIDs(call)
        guard id != nil || ids.installation != nil || ids.token != nil else {
            throw ParseError(
                .missingRequiredField,
                "at least one ID field (deviceToken, installationId) must be specified in this operation")
        }
        let body = try ObjectBody(ids.body)
        try await makeServiceClass(InstallationClass.name)
        return try await Self.retrying(OtherInstallation.self, "other requests are changing this installation") {
            try await write(body, of: ids, id: id, call)
        }
    }

    /// Another installation than the hooks were asked about is the one to write.
    private struct OtherInstallation: Error {}

    private func write(
        _ body: ObjectBody, of ids: InstallationIDs, id: String?, _ call: ParseCall
    ) async throws -> WireReply {
        let name = InstallationClass.name
        let asks = options.asksHooksToWrite
        var known = id
        if asks {
            let (reply, found) = try await store.read(as: call.caller) { transaction -> (WireReply?, String?) in
                let reply = try RequestLog.reply(to: call, on: transaction.connection, now: transaction.now)
                return (reply, try reply == nil ? transaction.matchingInstallation(ids, id: id).id : nil)
            }
            if let reply { return reply }
            known = found
        }
        let expected = known
        let write = known.map { ObjectWrite.update(name, $0, body) } ?? .create(name, body)
        return try await asking([write], call) { asked in
            let write = try asked.writes[0].get()
            return try await writing([write], call, asked) { writer in
                let known = try writer.transaction.installation(ids, id: id)
                if asks, known != expected { throw OtherInstallation() }
                guard let known else { return try writer.run(write) }
                let reply = try writer.run(.update(name, known, write.body?.body ?? body))
                guard id == nil, var members = try JSONParser.parse(reply.body).object else { return reply }
                // For the client, the installation is new.
                members["objectId"] = .string(known)
                members["createdAt"] = members["updatedAt"]
                return WireReply(.object(members))
            }
        }
    }
}
