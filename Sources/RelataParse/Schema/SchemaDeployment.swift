import RelataCore
import RelataSQLite

/// The classes of a store as a document, to be kept beside an app's sources and brought to another store.
///
/// ```swift
/// let document = try SchemaDocument(await development.schemaJSON())
/// for change in try await production.changes(to: document) { print(change) }
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

extension ParseStore {
    /// What the store's classes are, as JSON: sorted by name, so that two documents can be compared line by line.
    public func schemaJSON() async throws -> JSONValue {
        try await read { transaction in
            .array(transaction.classes.all.sorted { $0.name < $1.name }.map(\.schemaJSON))
        }
    }

    /// What deploying a document would change, in words. Nothing is changed.
    ///
    /// - Parameter removes: Whether classes and fields that the document doesn't have are to go.
    /// - Throws: ``ParseError`` 255 where a field has another type than in the document, or what is to go holds something.
    public func changes(to document: SchemaDocument, removes: Bool = false) async throws -> [String] {
        try await read { transaction in
            var draft = SchemaDraft(entities: transaction.classes.entities, options: transaction.classes.options)
            return try draft.deploy(document, removes: removes, checking: transaction.connection)
        }
    }

    /// Makes the store's classes those of a document. What it doesn't have stays, unless it is asked to go; what holds
    /// something never goes.
    ///
    /// - Parameters:
    ///   - removes: Whether classes and fields that the document doesn't have are to go.
    ///   - expected: What ``changes(to:removes:)`` said would change, where somebody agreed to it.
    /// - Returns: What was changed, in words.
    /// - Throws: as ``changes(to:removes:)``, and ``ParseError`` 119 where something else would change than was expected,
    ///   since the classes were changed meanwhile. Nothing is changed then.
    @discardableResult
    public func deploy(
        _ document: SchemaDocument, removes: Bool = false, expecting expected: [String]? = nil
    ) async throws -> [String] {
        try await alter { draft, connection in
            let changes = try draft.deploy(document, removes: removes, checking: connection)
            guard expected == nil || changes == expected else {
                throw ParseError(
                    .operationForbidden,
                    "the classes were changed meanwhile, so that something else would change now: look at it again",
                    status: 409)
            }
            return changes
        }
    }
}

extension SchemaDraft {
    /// Makes the classes those of a document.
    ///
    /// - Returns: What that changes, in words.
    /// - Throws: ``ParseError`` 255 where something that is stored would be lost.
    fileprivate mutating func deploy(
        _ document: SchemaDocument, removes: Bool, checking connection: Connection
    ) throws -> [String] {
        let old = self
        try apply(document, removes: removes)
        try checkNothingIsLost(since: old, on: connection)
        return changes(since: old)
    }

    private mutating func apply(_ document: SchemaDocument, removes: Bool) throws(ParseError) {
        // All classes first: fields lead from one to another, and relations to pointers that may come later.
        for description in document.classes { try addClass(description.className) }
        for isView in [false, true] {
            for description in document.classes {
                var part = description
                part.fields = description.fields.filter { ($0.value?.details.inverse != nil) == isView }
                if !isView { part.indexes = [:] }
                try apply(part, isWhole: true)
            }
        }
        try checkRelations()
        guard removes else { return }
        let wanted = Dictionary(document.classes.map { ($0.className, Set($0.fields.keys)) }) { first, _ in first }
        let unwanted = entities.map(\.name).filter { wanted[$0] == nil }
        // Views go before the pointers whose other side they are, and fields before the classes they lead to.
        for isView in [true, false] {
            for entity in entities {
                let kept = (wanted[entity.name] ?? []).union(entity.key)
                    .union([entity.createdAt, entity.updatedAt].compactMap(\.self))
                let gone = entity.properties.filter { property in
                    if kept.contains(property.name) { return false }
                    guard case .relationship(let relationship) = property else {
                        return !isView && wanted[entity.name] != nil
                    }
                    // Clients know nothing of the other side of a one-to-one.
                    if case .hasOne = relationship.kind, wanted[entity.name] != nil { return false }
                    return (RelationshipDetails(relationship).inverse != nil) == isView
                }
                try removeFields(Set(gone.map(\.name)), of: entity.name)
            }
        }
        for name in unwanted { try removeClass(name) }
    }

    /// What changed since, in words.
    private func changes(since old: SchemaDraft) -> [String] {
        var changes: [String] = []
        for entity in entities {
            guard let before = old.entity(entity.name) else {
                changes.append("add the class \(entity.name)")
                changes += entity.properties.filter {
                    !entity.key.contains($0.name) && ![entity.createdAt, entity.updatedAt].contains($0.name)
                }
                .map { "add \(entity.name).\($0.name): \(type(of: $0, in: entity.name))" }
                continue
            }
            for property in entity.properties {
                guard let known = before.property(property.name) else {
                    changes.append("add \(entity.name).\(property.name): \(type(of: property, in: entity.name))")
                    continue
                }
                let options = (
                    self.options[entity.name]?.fields[property.name], old.options[entity.name]?.fields[property.name]
                )
                if known != property || options.0 != options.1 {
                    changes.append("change the rules of \(entity.name).\(property.name)")
                }
            }
            for property in before.properties where entity.property(property.name) == nil {
                changes.append("remove \(entity.name).\(property.name)")
            }
            let (now, then) = (options[entity.name]?.indexes ?? [:], old.options[entity.name]?.indexes ?? [:])
            changes += now.keys.filter { then[$0] == nil }.sorted().map { "add the index \($0) of \(entity.name)" }
            changes += then.keys.filter { now[$0] == nil }.sorted().map { "remove the index \($0) of \(entity.name)" }
        }
        for entity in old.entities where self.entity(entity.name) == nil {
            changes.append("remove the class \(entity.name)")
        }
        return changes
    }

    /// - Throws: ``ParseError`` 255 for what went since and holds something.
    private func checkNothingIsLost(since old: SchemaDraft, on connection: Connection) throws {
        let schema = try Schema(old.entities)
        for table in schema.tables {
            let name = Dialect.sqlite.quote(table.sqlName)
            guard let entity = entity(table.name) else {
                if try connection.value(SQLStatement("SELECT 1 FROM \(name) LIMIT 1")) != nil {
                    throw ParseError(.classNotEmpty, "the class \(table.name) holds objects: purge it first")
                }
                continue
            }
            for property in table.entity.properties where entity.property(property.name) == nil {
                guard let query = Self.anyValue(of: property, table, schema) else { continue }
                if try connection.value(query) != nil {
                    throw ParseError(
                        .classNotEmpty,
                        "\(table.name).\(property.name) holds values: unset them, or delete the field by name")
                }
            }
        }
    }

    /// A query for any value of a field; `nil` for a field that holds none of its own.
    private static func anyValue(of property: Property, _ table: Table, _ schema: Schema) -> SQLStatement? {
        if case .join(let number, _)? = table.links[property.name] {
            return SQLStatement("SELECT 1 FROM \(Dialect.sqlite.quote(schema.joins[number].table)) LIMIT 1")
        }
        let columns = table.columnIndexes(of: property.name).map { Dialect.sqlite.quote(table.columns[$0].name) }
        if columns.isEmpty { return nil }
        let condition = columns.map { "\($0) IS NOT NULL" }.joined(separator: " OR ")
        return SQLStatement("SELECT 1 FROM \(Dialect.sqlite.quote(table.sqlName)) WHERE \(condition) LIMIT 1")
    }
}
