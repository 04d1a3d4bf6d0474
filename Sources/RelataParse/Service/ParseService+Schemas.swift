import RelataCore
import RelataEngine

extension ParseService {
    /// Answers requests about classes: `/schemas`, `/schemas/Book`.
    func schemas(_ call: ParseCall) async throws -> WireReply {
        try requireMasterForSchemas(call)
        guard call.path.count <= 2 else { throw Self.unknown(call) }
        let name = call.path.dropFirst().first
        if let error = name.flatMap({ DisabledFeature.error(forClass: $0) }) { throw error }
        let severalGeoPoints = options.allowsSeveralGeoPoints
        let isClosed = hasUsers && store.mode == .production
        if call.method != .get { try options.prohibitedNames.check(call.body) }
        // A default value would give every client a valid address.
        if let file = call.caller.unprovenFiles.min() { throw ParseError.fileIsUnproven(file) }
        switch (call.method, name) {
        case (.get, nil):
            return try await store.read(as: .master) { transaction in
                WireReply(["results": .array(transaction.classes.all.map(\.schemaJSON))])
            }
        case (.get, let name?): return try await schema(name)
        case (.post, _):
            let description = try ClassDescription(call.body, name: name)
            if description.permissions != nil { try Self.requireMaster(call) }
            return try await altering(call, description.className) { draft, _ in
                guard !draft.hasClass(description.className) || draft.isImplied(description.className) else {
                    throw ParseError(.invalidClassName, "Class \(description.className) already exists.")
                }
                let points = draft.geoPoints(of: description.className)
                try draft.addClass(description.className)
                try draft.apply(description, isNew: true)
                // In production a new class is closed until its permissions are set.
                if isClosed, description.permissions == nil {
                    draft.edit(description.className) { _, options in options.permissions = .closed }
                }
                try draft.checkRelations(of: description.className)
                if !severalGeoPoints { try draft.checkGeoPoints(of: description.className, since: points) }
            }
        case (.put, let name?):
            let description = try ClassDescription(call.body, name: name)
            if description.permissions != nil { try Self.requireMaster(call) }
            return try await altering(call, name) { draft, _ in
                guard draft.hasClass(name) else { throw Self.noClass(name) }
                if draft.options[name]?.permissions != nil { try Self.requireMaster(call) }
                let points = draft.geoPoints(of: name)
                try draft.addClass(name)
                try draft.apply(description)
                try draft.checkRelations(of: name)
                if !severalGeoPoints { try draft.checkGeoPoints(of: name, since: points) }
            }
        case (.delete, let name?):
            return try await delete(call, className: name)
        default: throw ParseError.impossible(call)
        }
    }

    private func schema(_ name: String) async throws -> WireReply {
        try await store.read(as: .master) { transaction in
            guard let parseClass = try transaction.existing(name) else { throw Self.noClass(name) }
            return WireReply(parseClass.schemaJSON)
        }
    }

    /// Changes a class. A repeated request gets the same reply.
    ///
    /// - Parameter name: The class in the reply; `nil` for none.
    private func altering(
        _ call: ParseCall, _ name: String?, _ change: @Sendable (inout SchemaDraft, Connection) throws -> Void
    ) async throws -> WireReply {
        let options = options
        return try await store.alter { draft, connection -> WireReply? in
            let known = try RequestLog.reply(to: call, on: connection)
            if known == nil { try change(&draft, connection) }
            return known
        } finish: { known, transaction in
            if let known { return known }
            let reply = try name.map { name in
                guard let parseClass = try transaction.existing(name) else { throw Self.noClass(name) }
                return WireReply(parseClass.schemaJSON)
            }
            return try RequestLog.remembering(reply ?? WireReply([:]), to: call, options, in: transaction)
        }
    }

    private func delete(_ call: ParseCall, className name: String) async throws -> WireReply {
        try await altering(call, nil) { draft, connection in
            if draft.options[name]?.permissions != nil { try Self.requireMaster(call) }
            guard let entity = draft.entity(name) else {
                try ParseNames.checkClass(name)
                return
            }
            try connection.driver.holdRows(of: entity.table, connection)
            let table = connection.dialect.quote(entity.table)
            let count = try connection.value(SQLStatement("SELECT count(*) FROM \(table)"))
            if case .integer(let count)? = count, count > 0 {
                throw ParseError(
                    .classNotEmpty, "Class \(name) is not empty, contains \(count) objects, cannot drop schema.")
            }
            try draft.removeClass(name)
        }
    }

    private static func noClass(_ name: String) -> ParseError {
        ParseError(.invalidClassName, "Class \(name.prefix(128)) does not exist.")
    }

    /// An operation for the master key. In development, a setting may allow it to everybody.
    private func requireMasterForSchemas(_ call: ParseCall) throws(ParseError) {
        if options.needsMasterKeyForSchemas { try Self.requireMaster(call) }
    }

    private static func requireMaster(_ call: ParseCall) throws(ParseError) {
        guard call.isMaster else { throw ParseError.masterKeyRequired }
    }

    /// Deletes all objects of a class: `DELETE /purge/Book`. The delete rules apply. It needs the master key in
    /// development too, because objects can't be restored as classes can.
    func purge(_ call: ParseCall) async throws -> WireReply {
        try Self.requireMaster(call)
        guard call.method == .delete, call.path.count == 2 else { throw Self.unknown(call) }
        let name = call.path[1]
        if let error = DisabledFeature.error(forClass: name) { throw error }
        let isDryRun = try call.isDryRun()
        let options = options
        let (reply, actions) = try await store.write(as: .master) {
            transaction -> (WireReply, [ParseTransaction.Action]) in
            // A class that doesn't exist has nothing to delete.
            let parseClass = transaction.classes[name]
            if isDryRun {
                let report =
                    try parseClass.map { parseClass in
                        try transaction.deletionPlan(of: parseClass, .query(try transaction.keys(of: parseClass)))
                    } ?? DeletionReport(entity: name)
                return (WireReply(DeletionReportJSON(classes: transaction.classes).json(report)), [])
            }
            let reply = try Self.once(call, in: transaction, options) {
                if let parseClass {
                    try BatchWriter(transaction: transaction, options: options).purge(parseClass)
                }
                return WireReply([:])
            }
            return (reply, try transaction.actions())
        }
        for action in actions { await action() }
        return reply
    }
}
