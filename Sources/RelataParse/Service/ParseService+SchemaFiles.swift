import RelataCore

/// A reply about the classes as a file, and what the request changed.
package struct SchemaFileReply: Sendable {
    /// The reply.
    package var reply: InspectionReply
    /// The changed classes, fields and indexes, in words without values.
    package var changes: [String] = []
}

extension ParseService {
    /// Answers a request of the dashboard about the classes as a file, with all rights.
    ///
    /// - Parameters:
    ///   - method: `GET` for `/schema`, and `POST` for the other paths.
    ///   - path: `/schema` for the file of this store. A body with a file in `schema` goes to `/schema/comparison` for the
    ///     differences, to `/schema/plan` for the plan of its deployment, and to `/schema/deployment`, with the changes
    ///     of the plan in `expected`, for the deployment. With `removes`, unwanted classes and fields are removed.
    ///   - body: The body of the request.
    ///   - report: Called with errors whose details the client doesn't get.
    /// - Returns: `nil` for a path that isn't one of these.
    package func schemaFileForDashboard(
        _ method: String, _ path: String, body: [UInt8], report: @Sendable (any Error) -> Void
    ) async -> SchemaFileReply? {
        do {
            switch (method, path) {
            case ("GET", "/schema"):
                // It is saved as it is, so that it equals the file of the command-line tool.
                return SchemaFileReply(
                    reply: InspectionReply(
                        contentType: "application/octet-stream", body: Array(try await store.schemaText().utf8)))
            case ("POST", "/schema/comparison"):
                let document = try SchemaFileRequest(body, options).document
                let here = try SchemaDocument(try await store.schemaJSON())
                return Self.reply(["results": .array(here.differences(to: document).map(\.json))])
            case ("POST", "/schema/plan"):
                let request = try SchemaFileRequest(body, options)
                guard store.models == nil else { throw ParseError.classesAreFixed }
                let plan = try await store.deploymentPlan(for: request.document, removes: request.removes)
                return Self.reply(plan.json)
            case ("POST", "/schema/deployment"):
                let request = try SchemaFileRequest(body, options)
                guard let expected = request.expected else {
                    throw ParseError(.invalidJSON, "expected must be the changes of the plan, an array of texts")
                }
                let plan = try await store.deploy(request.document, removes: request.removes, expecting: expected)
                var reply = Self.reply(plan.json)
                reply.changes = plan.placesOfChanges
                return reply
            default: return nil
            }
        } catch {
            return SchemaFileReply(reply: InspectionReply(error, report: report))
        }
    }

    private static func reply(_ json: JSONValue) -> SchemaFileReply {
        SchemaFileReply(reply: InspectionReply(json))
    }
}

/// A file to compare with the classes, or to deploy.
private struct SchemaFileRequest: Sendable {
    let document: SchemaDocument
    /// Whether classes and fields that the file doesn't have are removed.
    let removes: Bool
    /// The plan that was approved.
    let expected: DeploymentPlan?

    init(_ body: [UInt8], _ options: ParseService.Options) throws(ParseError) {
        guard let members = try JSONParser.parse(body).object, let schema = members["schema"] else {
            throw ParseError(.invalidJSON, "the body must be an object with a schema")
        }
        try options.prohibitedNames.check(members)
        document = try SchemaDocument(schema)
        removes = members["removes"] == true
        expected = members["expected"]?.array.flatMap { changes in
            let texts = changes.compactMap(\.string)
            guard texts.count == changes.count else { return nil }
            var plan = DeploymentPlan()
            plan.changes = texts
            return plan
        }
    }
}

extension DeploymentPlan {
    fileprivate var json: JSONValue {
        func list(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }
        return ["changes": list(changes), "kept": list(kept), "refusals": list(refusals)]
    }
}
