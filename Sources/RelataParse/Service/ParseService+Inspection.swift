import RelataCore
import RelataEngine
import RelataRecords

/// Information about a store that Parse's protocol doesn't have, for pages that show it.
package struct InspectionReply: Sendable {
    /// The HTTP status.
    package var status = 200
    /// The media type of the body.
    package var contentType = "application/json; charset=utf-8"
    /// The body.
    package var body: [UInt8]
}

extension InspectionReply {
    init(_ json: JSONValue) { self.init(body: WireReply(json).body) }

    /// - Parameter report: Called with an error whose details the client doesn't get.
    init(_ error: any Error, report: (any Error) -> Void) {
        let reply = WireReply(ParseError(error, report: report))
        self.init(status: reply.status, body: reply.body)
    }
}

extension ParseService {
    /// Answers a request beyond Parse's protocol. The caller may see everything.
    ///
    /// - Parameters:
    ///   - path: `/classes` for the classes and the titles of their objects; `/counts/Genre` for the
    ///     number of objects in `relations` of the objects with some `ids`; `/estimates` for the approximate numbers of
    ///     objects of large classes; `/diagram.svg` for a diagram; `/check` for contradictions to the schema;
    ///     `/access/Genre` or `/access/Genre/ID` for the rules by which `subject` is allowed operations.
    ///   - query: The part of the address after the question mark.
    ///   - subject: The one whose rights limit counts, and are explained; `nil` for the master key.
    ///   - report: Called with errors whose details the client doesn't get.
    /// - Returns: `nil` for an unknown path.
    package func inspection(
        _ path: String, query: String, as subject: AccessSubject? = nil, report: @Sendable (any Error) -> Void
    ) async -> InspectionReply? {
        do {
            let path = try ParseCall.path(path)
            switch (path.first, path.count) {
            case ("classes", 1): return InspectionReply(try await classDescriptions())
            case ("counts", 2):
                let parameters = try ParseCall.parameters(query)
                let request = try CountsRequest(className: path[1], parameters)
                let caller = subject.map { Caller(subject: $0) } ?? .master
                return InspectionReply(try await store.read(as: caller) { try request.run(in: $0) })
            // Statistics count hidden objects, too.
            case ("estimates", 1) where subject == nil:
                return InspectionReply(try await estimates())
            case ("access", 2...3):
                guard let subject else {
                    throw ParseError(.invalidQuery, "name the caller whose access to explain: nobody, a user or a role")
                }
                let explanation = try await store.explainAccess(
                    of: subject, to: path[1], path.count > 2 ? path[2] : nil)
                return InspectionReply(explanation.json)
            case ("diagram.svg", 1):
                let picture = try await store.read(as: .master) { $0.schema.diagram().svg }
                return InspectionReply(contentType: "image/svg+xml; charset=utf-8", body: Array(picture.utf8))
            case ("check", 1): return InspectionReply(try await findings())
            default: return nil
            }
        } catch {
            return InspectionReply(error, report: report)
        }
    }

    /// Contradictions to the schema, with their remedies.
    private func findings() async throws -> JSONValue {
        let findings = try await store.read(as: .master) { try IntegrityCheck.run($0.connection, schema: $0.schema) }
        return [
            "results": .array(
                findings.map { finding in
                    [
                        "kind": .string(finding.kind.rawValue), "subject": .string(finding.subject),
                        "count": .integer(Int64(finding.count)), "message": .string(finding.message),
                        "fix": .string(finding.fix),
                    ]
                })
        ]
    }

    /// The approximate numbers of objects by the planner's statistics: `{"Track": 1200345}`. A class without statistics
    /// is missing.
    private func estimates() async throws -> JSONValue {
        try await store.read(as: .master) { transaction in
            let rows = try transaction.connection.driver.estimatedRows(transaction.connection)
            let counts = transaction.classes.all.compactMap { parseClass -> (String, JSONValue)? in
                let entity = parseClass.table.entity
                return rows[entity.source?.fullName ?? entity.table].map { (parseClass.name, .integer($0)) }
            }
            return .object(JSONObject(counts))
        }
    }

    /// The classes as in `/schemas`, with `keyFields`, `title`, the fields that name an object for people, and `search`,
    /// the searched fields.
    private func classDescriptions() async throws -> JSONValue {
        try await store.read(as: .master) { transaction in
            let label = RecordLabel(transaction.schema)
            return [
                "results": .array(
                    transaction.classes.all.map { parseClass in
                        var json = parseClass.schemaJSON.object ?? [:]
                        let table = parseClass.table
                        json["keyFields"] = .array(table.entity.key.map { .string($0) })
                        if let search = table.entity.search { json["search"] = .array(search.map { .string($0) }) }
                        json["title"] = .array(
                            label.columns(of: table.index).map { .string(table.columns[$0].property) })
                        return .object(json)
                    })
            ]
        }
    }
}

/// The numbers of objects in relations of some objects: `{"7": {"books": 3}}`.
private struct CountsRequest: Sendable {
    private let className: String
    private let relations: [String]
    private let ids: [String]

    init(className: String, _ parameters: JSONObject) throws(ParseError) {
        self.className = className
        relations = try Self.list("relations", parameters)
        ids = try Self.list("ids", parameters)
    }

    private static func list(_ name: String, _ parameters: JSONObject) throws(ParseError) -> [String] {
        let elements = try JSONParser.parse(parameters[name]?.string ?? "").array ?? []
        let texts = elements.compactMap(\.string)
        guard texts.count == elements.count, (1...ParseNames.maximumFields).contains(texts.count) else {
            throw ParseError(
                .invalidQuery, "\(name) must be a list of 1 to \(ParseNames.maximumFields) texts, as JSON")
        }
        return texts
    }

    func run(in transaction: ParseTransaction) throws -> JSONValue {
        guard let parseClass = transaction.classes[className] else { return [:] }
        var nodes: [ExpressionNode] = [.property(scope: 0, path: [])]
        for relation in relations {
            guard case .relation? = parseClass[relation]?.storage else {
                throw ParseError(.invalidQuery, "\(className) has no relation \(relation.prefix(64))")
            }
            let set = RelatedSet(scope: 0, path: [relation], innerScope: 1)
            nodes.append(.aggregate(.count, set, of: nil, filter: nil))
        }
        let keys = ids.flatMap { parseClass.objectID.keys($0) }
        let plan = QueryPlan(entity: parseClass.name, condition: .keyIn(.property(scope: 0, path: []), keys))
        let query = try transaction.compiler.select(plan, columns: .expressions(nodes))
        var counts: JSONObject = [:]
        for row in try transaction.connection.values(query.statement, types: query.columnTypes) {
            let key = KeyValue(Array(row.dropLast(relations.count)))
            let numbers = zip(relations, row.suffix(relations.count)).map { relation, value in
                (relation, JSONValue(value, as: .integer))
            }
            counts[parseClass.objectID.text(key)] = .object(JSONObject(numbers))
        }
        return .object(counts)
    }
}
