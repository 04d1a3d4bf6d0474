/// A query for objects to be fetched as shapes, with their order.
///
/// ```swift
/// let friday = SetlistSongs.where { $0.name == "Friday" }.sorted { $0.name }.limit(10)
/// let setlists = try await store.fetch(friday)
/// ```
public struct ShapeQuery<Content: Shape>: Sendable {
    /// The objects.
    public let query: Query<Content.RootModel>

    /// The objects of a query, as shapes.
    public init(_ query: Query<Content.RootModel>) { self.query = query }

    /// The shapes of the objects that also meet a condition.
    public func `where`<Check: QueryExpression<Bool>>(
        _ condition: (Content.RootModel.Fields) -> Check
    ) -> ShapeQuery { ShapeQuery(query.where(condition)) }

    /// The shapes of the objects that meet a condition given as text; see ``Query/matching(_:_:)``.
    public func matching(_ format: String, _ arguments: (any Sendable)?...) -> ShapeQuery {
        ShapeQuery(query.matching(format, arguments: arguments))
    }

    /// In that order, before any earlier order.
    public func sorted(@SortBuilder _ order: (Content.RootModel.Fields) -> [SortTerm]) -> ShapeQuery {
        ShapeQuery(query.sorted(order))
    }

    /// At most that many shapes.
    public func limit(_ count: Int, offset: Int = 0) -> ShapeQuery { ShapeQuery(query.limit(count, offset: offset)) }
}

extension Query {
    /// The query's objects as shapes: for related objects, or for any other query.
    ///
    /// ```swift
    /// let items = try await store.fetch(setlist.related { $0.items }.shaped(as: ItemWithSong.self))
    /// ```
    public func shaped<Content: Shape>(as shape: Content.Type) -> ShapeQuery<Content>
    where Content.RootModel == Root { ShapeQuery(self) }
}

extension ShapeQuery: ObservableListRequest {
    /// The shapes.
    ///
    /// - Throws: The errors of `fetch(_:)`.
    public func fetchObserved(_ transaction: ReadTransaction) throws -> [Content] { try transaction.fetch(self) }
    /// Equal queries share one reading.
    public var observedIdentity: ObservedIdentity? { query.identity.map { ObservedIdentity($0) } }
    /// The shape's identity.
    public static func identity(of item: Content) -> Content.ID { item.id }
    /// The key in its stored form, if it is the identity.
    public static func storedIdentity(of item: Content) -> AnyHashable {
        (item.id as? Content.RootModel.Key).map { AnyHashable(StoredKey<Content.RootModel>($0)) }
            ?? AnyHashable(item.id)
    }
}
