import RelataCore
import RelataSQLite

extension ParseService {
    /// Answers requests about classes: `/schemas`, `/schemas/Book`.
    func schemas(_ call: ParseCall) async throws -> WireReply {
        try requireMaster(call)
        guard call.path.count <= 2 else { throw Self.unknown(call) }
        let name = call.path.dropFirst().first
        switch (call.method, name) {
        case (.get, nil):
            return try await store.read { transaction in
                WireReply(["results": .array(transaction.classes.all.map(\.schemaJSON))])
            }
        case (.get, let name?): return try await schema(name)
        case (.post, _):
            let description = try ClassDescription(call.body, name: name)
            try await store.alter { draft, _ in
                guard !draft.hasClass(description.className) else {
                    throw ParseError(.invalidClassName, "Class \(description.className) already exists.")
                }
                try draft.addClass(description.className)
                try draft.apply(description)
            }
            return try await schema(description.className)
        case (.put, let name?):
            let description = try ClassDescription(call.body, name: name)
            try await store.alter { draft, _ in
                guard draft.hasClass(name) else { throw Self.noClass(name) }
                try draft.apply(description)
            }
            return try await schema(name)
        case (.delete, let name?):
            try await delete(className: name)
            return WireReply([:])
        default: throw ParseError(.commandUnavailable, "\(call.line.prefix(128)) isn't possible", status: 405)
        }
    }

    private func schema(_ name: String) async throws -> WireReply {
        try await store.read { transaction in
            guard let parseClass = try transaction.existing(name) else { throw Self.noClass(name) }
            return WireReply(parseClass.schemaJSON)
        }
    }

    private func delete(className name: String) async throws {
        try await store.alter { draft, connection in
            guard let entity = draft.entity(name) else { return }
            let count = try connection.value(SQLStatement("SELECT count(*) FROM \(Dialect.sqlite.quote(entity.table))"))
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

    /// What only whoever runs the server may do. While it is developed, everybody may be let.
    func requireMaster(_ call: ParseCall) throws(ParseError) {
        if call.isMaster || !options.needsMasterKeyForSchemas { return }
        throw ParseError(.operationForbidden, "unauthorized: master key is required", status: 403)
    }

    /// Deletes all objects of a class: `DELETE /purge/Book`. The delete rules hold.
    func purge(_ call: ParseCall) async throws -> WireReply {
        try requireMaster(call)
        guard call.method == .delete, call.path.count == 2 else { throw Self.unknown(call) }
        let name = call.path[1]
        if let error = DisabledFeature.error(forClass: name) { throw error }
        return try await store.write { transaction in
            guard let parseClass = try transaction.existing(name) else { throw Self.noClass(name) }
            let keys = try QueryCompiler(schema: transaction.schema).keys(QueryPlan(entity: name))
            _ = try transaction.delete(parseClass, .query(keys.statement))
            return WireReply([:])
        }
    }
}
