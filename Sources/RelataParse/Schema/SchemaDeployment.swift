import RelataCore
import RelataEngine

/// The classes of a store as a document, to be kept beside an app's sources and brought to another store.
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

/// What deploying a document would do, in words.
public struct DeploymentPlan: Hashable, Sendable {
    /// What is added, changed and removed.
    public internal(set) var changes: [String] = []
    /// What the document doesn't have, and stays although what it doesn't have is to go: it holds something, or something
    /// that stays leads to it.
    public internal(set) var kept: [String] = []
    /// What the document has and can't be. While there is any, nothing is deployed.
    public internal(set) var refusals: [String] = []

    /// A plan that changes nothing.
    public init() {}

    /// Whether the store is what the document says already, but for what is kept.
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
    /// - Throws: ``RelataError`` where the database can't be read.
    public func schemaJSON() async throws -> JSONValue {
        try await read(as: .master) { transaction in
            .array(transaction.classes.all.sorted { $0.name < $1.name }.map(\.schemaJSON))
        }
    }

    /// What deploying a document would do, in words. Nothing is changed.
    ///
    /// - Parameter removes: Whether classes and fields that the document doesn't have are removed.
    /// - Throws: ``RelataError`` where the database can't be read.
    public func deploymentPlan(for document: SchemaDocument, removes: Bool = false) async throws -> DeploymentPlan {
        try await read(as: .master) { transaction in
            var draft = SchemaDraft(
                entities: transaction.classes.entities, options: transaction.classes.options,
                hasUsers: transaction.secrets != nil)
            return try draft.deploy(document, removes: removes, checking: transaction.connection)
        }
    }

    /// Makes the store's classes those of a document. What it doesn't have stays, unless it is asked to go; what holds
    /// something never goes.
    ///
    /// - Parameters:
    ///   - removes: Whether classes and fields that the document doesn't have are to go.
    ///   - expected: What ``deploymentPlan(for:removes:)`` said, where somebody agreed to it.
    /// - Returns: What was done, in words.
    /// - Throws: ``ParseError`` 255 with all of the document that can't be deployed, such as a field that has another type
    ///   in the store; 119 where something else would change than was expected, since the classes were changed meanwhile.
    ///   Nothing is changed then.
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
                    "the classes were changed meanwhile, so that something else would change now: look at it again",
                    status: 409)
            }
            return plan
        }
    }
}
