// Spellings of other libraries. These overloads never run: they only suggest Relata's spelling.

import Foundation
import RelataCore

extension Query {
    /// Suggests how to sort a query.
    @_documentation(visibility: internal)
    @available(*, unavailable, message: "write 'sorted { $0.title }', or 'sorted { $0.title.descending }'")
    public func sorted<Value>(by property: KeyPath<Root, Value>) -> Query { self }

    /// Suggests how to sort a query.
    @_documentation(visibility: internal)
    @available(*, unavailable, message: "write 'sorted { $0.title }', or 'sorted { $0.title.descending }'")
    public func sorted(by descriptors: [SortDescriptor<Root>]) -> Query { self }

    /// Suggests how to filter a query.
    @_documentation(visibility: internal)
    @available(*, unavailable, message: "write the condition without #Predicate: 'where { $0.year > 1970 }'")
    public func `where`(_ predicate: Predicate<Root>) -> Query { self }

    /// Suggests how to filter a query.
    @_documentation(visibility: internal)
    @available(*, unavailable, message: "write 'where { … }'")
    public func filter<Check: QueryExpression<Bool>>(_ condition: (Root.Fields) -> Check) -> Query { self }

    /// Suggests how to sort a query.
    @_documentation(visibility: internal)
    @available(*, unavailable, message: "write 'sorted { $0.title }', or 'sorted { $0.title.descending }'")
    public func order<Value>(_ values: (Root.Fields) -> Value) -> Query { self }
}

extension Model {
    /// Suggests how to sort a query.
    @_documentation(visibility: internal)
    @available(*, unavailable, message: "write 'sorted { $0.title }', or 'sorted { $0.title.descending }'")
    public static func order<Value>(_ values: (Fields) -> Value) -> Query<Self> { Query() }

    /// Suggests how to fetch all objects.
    @_documentation(visibility: internal)
    @available(*, unavailable, message: "write 'store.fetch(Book.all)', or 'tx.fetch(Book.all)' in a transaction")
    public static func fetchAll<Reader>(_ reader: Reader) -> [Self] { [] }

    /// Suggests how to fetch one object.
    @_documentation(visibility: internal)
    @available(*, unavailable, message: "write 'store.fetch(Book.self, id: …)', or 'store.first(Book.all)'")
    public static func fetchOne<Reader>(_ reader: Reader) -> Self? { nil }

    /// Suggests how to sort a query.
    @_documentation(visibility: internal)
    @available(*, unavailable, message: "write 'sorted { $0.title }', or 'sorted { $0.title.descending }'")
    public static func sorted<Value>(by property: KeyPath<Self, Value>) -> Query<Self> { Query() }

    /// Suggests how to sort a query.
    @_documentation(visibility: internal)
    @available(*, unavailable, message: "write 'sorted { $0.title }', or 'sorted { $0.title.descending }'")
    public static func sorted(by descriptors: [SortDescriptor<Self>]) -> Query<Self> { Query() }

    /// Suggests how to filter a query.
    @_documentation(visibility: internal)
    @available(*, unavailable, message: "write the condition without #Predicate: 'where { $0.year > 1970 }'")
    public static func `where`(_ predicate: Predicate<Self>) -> Query<Self> { Query() }

    /// Suggests how to filter a query.
    @_documentation(visibility: internal)
    @available(*, unavailable, message: "write 'where { … }'")
    public static func filter<Check: QueryExpression<Bool>>(_ condition: (Fields) -> Check) -> Query<Self> { Query() }
}

extension QueryExpression where QueryValue: TextOperand {
    /// Suggests how to search texts as people do.
    @_documentation(visibility: internal)
    @available(*, unavailable, message: "write 'contains(\"…\", [.caseInsensitive, .diacriticInsensitive])'")
    public func localizedStandardContains(_ other: String) -> Condition { contains(other) }

    /// Suggests how to compare the beginning of a text.
    @_documentation(visibility: internal)
    @available(*, unavailable, renamed: "hasPrefix(_:)")
    public func starts(with other: String) -> Condition { hasPrefix(other) }
}

extension QueryExpression where QueryValue == String {
    /// Suggests how to get the length of a text.
    @_documentation(visibility: internal)
    @available(*, unavailable, renamed: "length")
    public var count: TypedExpression<Int> { length }
}

extension AttributeField {
    /// Explains which attributes can be unset.
    @_documentation(visibility: internal)
    @available(*, unavailable, message: "the attribute can't be unset: declare it as an optional, or set it to a value")
    @_disfavoredOverload
    public func unset() -> Assignment { Assignment(Self.path(of: self), .value(.null)) }
}

extension ToManyField {
    /// Explains that a list has no single value.
    @_documentation(visibility: internal)
    @available(
        *, unavailable,
        message:
            "a to-many has no single value: write 'contains { $0.title == … }', or an aggregate: 'maximum { $0.year }'"
    )
    public subscript<Property: AttributeField>(dynamicMember member: KeyPath<Target.Fields, Property>) -> Property {
        Target.Fields(path: FieldPath())[keyPath: member]
    }

    /// Suggests how to filter members.
    @_documentation(visibility: internal)
    @available(
        *, unavailable,
        message: "write 'contains { … }' or 'all { … }', or an aggregate: 'count { … }'; 'including' loads some of them"
    )
    public func filter<Check: QueryExpression<Bool>>(_ condition: (Target.Fields) -> Check) -> Condition {
        contains(where: condition)
    }

    /// Suggests how to compute aggregates of members.
    @_documentation(visibility: internal)
    @available(
        *, unavailable,
        message: "write an aggregate, such as 'sum { $0.price }', or load them: 'including { $0.authors }'"
    )
    public func map<Value: QueryExpression>(
        _ value: (Target.Fields) -> Value
    ) -> TypedExpression<Value.QueryValue> {
        let value = value(Target.Fields(path: FieldPath()))
        return TypedExpression(value.node, value.coding)
    }
}

extension TypedExpression {
    /// Explains that text and date aggregates of a query are properties.
    @_documentation(visibility: internal)
    @available(*, unavailable, message: "write it without parentheses: '$0.title.lowercased', '$0.due.year'")
    public func callAsFunction() -> TypedExpression { self }
}

extension ToMany {
    /// Suggests how to add a member.
    @_documentation(visibility: internal)
    @available(*, unavailable, renamed: "add(_:)")
    public mutating func append(_ object: Target) { add(object) }

    /// Explains how to add members.
    @_documentation(visibility: internal)
    @available(*, unavailable, renamed: "add(_:)")
    public mutating func append(contentsOf objects: some Sequence<Target>) { add(objects) }

    /// Suggests how to remove all members.
    @_documentation(visibility: internal)
    @available(*, unavailable, message: "write 'set([])'")
    public mutating func removeAll() { set([]) }

    /// Suggests how to count the members.
    @_documentation(visibility: internal)
    @available(*, unavailable, message: "write 'try objects.count', or count in a query: '$0.authors.count'")
    public var count: Int { 0 }

    /// Suggests how to read the members.
    @_documentation(visibility: internal)
    @available(*, unavailable, message: "write 'try objects.isEmpty', or ask in a query: '$0.authors.isEmpty'")
    public var isEmpty: Bool { true }
}

/// Suggests how to iterate over the members.
@available(*, unavailable, message: "write 'for author in try book.authors.objects'")
extension ToMany: Sequence {
    /// Suggests how to iterate over the members.
    @_documentation(visibility: internal)
    public func makeIterator() -> IndexingIterator<[Target]> { [].makeIterator() }
}

extension ToMany {
    /// Suggests how to get a member.
    @_documentation(visibility: internal)
    @available(*, unavailable, message: "write 'try objects[0]'")
    public subscript(index: Int) -> Target? { nil }
}

extension StoreReader {
    /// Suggests how to fetch the objects of a query.
    @_documentation(visibility: internal)
    @available(*, unavailable, renamed: "fetch(_:)")
    public func fetchAll<M: Model>(_ query: Query<M>) throws -> [M] { [] }

    /// Suggests how to fetch the first object of a query.
    @_documentation(visibility: internal)
    @available(*, unavailable, renamed: "first(_:)")
    public func fetchOne<M: Model>(_ query: Query<M>) throws -> M? { nil }

    /// Suggests how to count the objects of a query.
    @_documentation(visibility: internal)
    @available(*, unavailable, renamed: "count(_:)")
    public func fetchCount<M: Model>(_ query: Query<M>) throws -> Int { 0 }

    /// Suggests how to fetch all objects.
    @_documentation(visibility: internal)
    @available(*, unavailable, message: "write 'fetch(Book.all)' for all objects, or 'fetch(Book.self, id: …)' for one")
    public func fetch<M: Model>(_ model: M.Type) throws -> [M] { [] }

    /// Explains what `fetch` accepts.
    @_documentation(visibility: internal)
    @available(*, unavailable, message: "write a query, such as 'Book.where { … }', an ID or a to-one")
    @_disfavoredOverload
    public func fetch<Other>(_ other: Other) throws -> [Other] { [] }

    /// Explains that the key has another type.
    @_documentation(visibility: internal)
    @available(*, unavailable, message: "the key of the model is of another type: see its 'Key'")
    @_disfavoredOverload
    public func fetch<M: Model, Other>(_ model: M.Type, id: Other) throws -> M? { nil }
}

extension Store {
    /// Suggests how to fetch the objects of a query.
    @_documentation(visibility: internal)
    @available(*, unavailable, renamed: "fetch(_:)")
    public func fetchAll<M: Model>(_ query: Query<M>) async throws -> [M] { [] }

    /// Suggests how to fetch the first object of a query.
    @_documentation(visibility: internal)
    @available(*, unavailable, renamed: "first(_:)")
    public func fetchOne<M: Model>(_ query: Query<M>) async throws -> M? { nil }

    /// Suggests how to count the objects of a query.
    @_documentation(visibility: internal)
    @available(*, unavailable, renamed: "count(_:)")
    public func fetchCount<M: Model>(_ query: Query<M>) async throws -> Int { 0 }

    /// Explains how to start a transaction.
    @_documentation(visibility: internal)
    @available(*, unavailable, message: "write 'write { tx in … }', or 'read { … }' if nothing is written")
    public func transaction<Result>(_ body: (WriteTransaction) throws -> Result) async throws {}

    /// Suggests how to fetch all objects.
    @_documentation(visibility: internal)
    @available(*, unavailable, message: "write 'fetch(Book.all)' for all objects, or 'fetch(Book.self, id: …)' for one")
    public func fetch<M: Model>(_ model: M.Type) async throws -> [M] { [] }

    /// Explains what `fetch` accepts.
    @_documentation(visibility: internal)
    @available(*, unavailable, message: "write a query, such as 'Book.where { … }', an ID or a to-one")
    @_disfavoredOverload
    public func fetch<Other: Sendable>(_ other: Other) async throws -> [Other] { [] }

    /// Explains that the key has another type.
    @_documentation(visibility: internal)
    @available(*, unavailable, message: "the key of the model is of another type: see its 'Key'")
    @_disfavoredOverload
    public func fetch<M: Model, Other>(_ model: M.Type, id: Other) async throws -> M? { nil }
}

extension AttributeOption {
    /// Explains how data is stored.
    @_documentation(visibility: internal)
    @available(
        *, unavailable, message: "remove it: 'Data' is stored in its row; for large data, store the path of a file"
    )
    public static var externalStorage: AttributeOption { .unique }

    /// Suggests how to leave out a property.
    @_documentation(visibility: internal)
    @available(*, unavailable, message: "write '@Transient' instead of '@Attribute(.ephemeral)'")
    public static var ephemeral: AttributeOption { .unique }

    /// Suggests how to store a custom type.
    @_documentation(visibility: internal)
    @available(*, unavailable, message: "remove it: a type that is Codable and Sendable is stored as JSON")
    public static func transformable(by transformer: Any) -> AttributeOption { .unique }

    /// Explains that the option doesn't exist.
    @_documentation(visibility: internal)
    @available(*, unavailable, message: "remove it: values aren't added to the system's search index")
    public static var spotlight: AttributeOption { .unique }

    /// Suggests how to store an object.
    @_documentation(visibility: internal)
    @available(
        *, unavailable, message: "remove it: the DeletionReport that a deletion returns names the deleted objects"
    )
    public static var preserveValueOnDeletion: AttributeOption { .unique }
}
