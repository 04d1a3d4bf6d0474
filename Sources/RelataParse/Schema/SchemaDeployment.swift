import RelataCore
import RelataEngine

/// The classes of a store as a document, to be stored with an app's sources and deployed to another store.
///
/// ```swift
/// let document = try SchemaDocument(await development.schemaJSON())
/// print(try await production.deploymentPlan(for: document))
/// try await production.deploy(document)
/// ```
public struct SchemaDocument: Sendable {
    let classes: [ClassDescription]

    /// Reads a document: an array of classes, or what `GET /schemas` replies.
    ///
    /// - Throws: ``ParseError`` for names and types that can't be.
    public init(_ json: JSONValue) throws(ParseError) {
        guard let classes = json.array ?? json["results"]?.array else {
            throw ParseError(.invalidJSON, "a schema is an array of classes, or an object whose results are one")
        }
        var read: [ClassDescription] = []
        for json in classes {
            guard let members = json.object, members["className"]?.string?.isEmpty == false else {
                throw ParseError(.invalidJSON, "a class must be an object with a className")
            }
            let description = try ClassDescription(members)
            guard !read.contains(where: { $0.className == description.className }) else {
                throw ParseError(.invalidClassName, "the class \(description.className) is described twice")
            }
            read.append(description)
        }
        self.classes = read
    }
}

/// The changes of a deployment, in words.
public struct DeploymentPlan: Hashable, Sendable {
    /// The additions, changes and removals.
    public internal(set) var changes: [String] = []
    /// Unwanted classes and fields that stay, because they have values, or others that stay refer to them.
    public internal(set) var kept: [String] = []
    /// Changes that aren't possible. If there are any, nothing is deployed.
    public internal(set) var refusals: [String] = []

    /// A plan that changes nothing.
    public init() {}

    /// The changes without values, such as defaults and the users in permissions, for a log.
    package var placesOfChanges: [String] {
        changes.map { change in
            // Names may contain the same: then less of it is left.
            let ends = [": ", " from ", " to "].map { change.unicodeScalars.firstRange(of: $0.unicodeScalars) }
            let end = ends.compactMap(\.self).map(\.lowerBound).min()
            return String(change[..<(end ?? change.endIndex)])
        }
    }

    /// Whether the store matches the document already, except for what is kept.
    public var isEmpty: Bool { changes.isEmpty && refusals.isEmpty }

    /// - Throws: ``ParseError`` 255 with everything that can't be deployed.
    public func checkIsAllowed() throws(ParseError) {
        guard refusals.isEmpty else { throw ParseError(.classNotEmpty, refusals.joined(separator: "; ")) }
    }

    mutating func keep(_ place: String, _ reason: String) { kept.append("keep \(place): \(reason)") }

    mutating func refuse(_ place: String, _ reason: String) { refusals.append("can't deploy \(place): \(reason)") }
}

extension DeploymentPlan: CustomStringConvertible {
    /// A line for each change, for what is kept, and for what can't be deployed.
    public var description: String {
        (changes + (changes.isEmpty && refusals.isEmpty ? ["nothing to change"] : []) + kept + refusals)
            .joined(separator: "\n")
    }
}

extension ParseStore {
    /// The store's classes as JSON, sorted by name, so that two documents can be compared line by line.
    ///
    /// - Throws: `RelataError` if the database can't be read.
    public func schemaJSON() async throws -> JSONValue {
        try await read(as: .master) { transaction in
            .array(transaction.classes.all.sorted { $0.name < $1.name }.map(\.schemaJSON))
        }
    }

    /// The store's classes as the text of a file, from which they are deployed to another store.
    ///
    /// - Throws: `RelataError` if the database can't be read.
    package func schemaText() async throws -> String {
        JSONWriter.indentedText(try await schemaJSON(), sortsMembers: true) + "\n"
    }

    /// The changes that a deployment would make, in words. Nothing is changed.
    ///
    /// - Parameter removes: Whether classes and fields that the document doesn't have are removed.
    /// - Throws: `RelataError` if the database can't be read.
    public func deploymentPlan(for document: SchemaDocument, removes: Bool = false) async throws -> DeploymentPlan {
        try await read(as: .master) { transaction in
            var draft = SchemaDraft(
                entities: transaction.classes.entities, options: transaction.classes.options,
                hasUsers: transaction.secrets != nil, resolved: transaction.classes.storedSchema)
            return try draft.deploy(document, removes: removes, checking: transaction.connection)
        }
    }

    /// Makes the store's classes those of a document. Classes and fields that the document doesn't have stay, unless
    /// `removes` is set; those with values always stay.
    ///
    /// - Parameters:
    ///   - removes: Whether classes and fields that the document doesn't have are removed.
    ///   - expected: The result of ``deploymentPlan(for:removes:)`` that was approved.
    /// - Returns: The changes, in words.
    /// - Throws: ``ParseError`` 255 with all impossible changes, such as a field that has another type in the store;
    ///   119 if the changes differ from the expected ones, because the classes were changed in the meantime. Nothing is
    ///   changed then.
    @discardableResult
    public func deploy(
        _ document: SchemaDocument, removes: Bool = false, expecting expected: DeploymentPlan? = nil
    ) async throws -> DeploymentPlan {
        try await alter { draft, connection in
            let plan = try draft.deploy(document, removes: removes, checking: connection)
            try plan.checkIsAllowed()
            guard expected == nil || plan.changes == expected?.changes else {
                throw ParseError(
                    .operationForbidden,
                    "the classes have changed since, so the plan is different now: check it again",
                    status: 409)
            }
            return plan
        }
    }
}
