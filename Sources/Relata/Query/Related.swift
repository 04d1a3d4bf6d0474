import RelataCore

extension Model {
    /// The objects that this object's to-many links to, as a query that takes filters, orders and limits as any.
    ///
    /// ```swift
    /// let recent = series.related { $0.episodes }.where { $0.progress > 0 }.sorted { $0.updatedAt.descending }.limit(3)
    /// let episodes = try await store.fetch(recent)
    /// ```
    ///
    /// For an object whose key isn't assigned yet, the query is an error when it runs.
    public func related<Target: Model>(_ link: (Fields) -> ToManyField<Target>) -> Query<Target> {
        Self.query(Self.way(link), of: primaryKey)
    }

    /// The object that this object's to-one or has-one links to, as a query.
    public func related<Target: Model>(_ link: (Fields) -> ToOneField<Target>) -> Query<Target> {
        Self.query(Self.way(link), of: primaryKey)
    }

    /// The objects that the to-many of the object with that key links to, as a query: the object itself isn't needed.
    ///
    /// ```swift
    /// let episodes = try await store.fetch(Series.related(id: 1) { $0.episodes }.sorted { $0.title })
    /// ```
    ///
    /// A key that is `nil` is an error when the query runs. A key that no object has is related to nothing.
    public static func related<Target: Model>(id: Key?, _ link: (Fields) -> ToManyField<Target>) -> Query<Target> {
        query(way(link), of: id)
    }

    /// The object that the to-one or has-one of the object with that key links to, as a query.
    public static func related<Target: Model>(id: Key?, _ link: (Fields) -> ToOneField<Target>) -> Query<Target> {
        query(way(link), of: id)
    }

    /// All objects that can be reached from this one through a to-many to the same model: its members, their members,
    /// and so on, in one statement.
    ///
    /// ```swift
    /// let family = try await store.fetch(person.descendants { $0.children }.sorted { $0.name })
    /// ```
    ///
    /// Each is included once and this object never, even if the links form a cycle.
    public func descendants(_ link: (Fields) -> ToManyField<Self>) -> Query<Self> {
        Self.query(Self.way(link), of: primaryKey, isRecursive: true)
    }

    /// All objects that can be reached from this one through a to-one to the same model: its parent, the parent's
    /// parent, and so on, in one statement. See ``descendants(_:)``.
    public func ancestors(_ link: (Fields) -> ToOneField<Self>) -> Query<Self> {
        Self.query(Self.way(link), of: primaryKey, isRecursive: true)
    }

    /// The names of the links to the objects, from the model itself.
    private static func way<Target: Model>(_ link: (Fields) -> ToManyField<Target>) -> [String] {
        let field = link(Fields(path: FieldPath()))
        return field.path.names + field.names
    }

    private static func way<Target: Model>(_ link: (Fields) -> ToOneField<Target>) -> [String] {
        let field = link(Fields(path: FieldPath()))
        return field.path.names + [field.name]
    }

    private static func query<Target: Model>(
        _ way: [String], of key: Key?, isRecursive: Bool = false
    ) -> Query<Target> {
        var query = Query<Target>()
        do {
            let key = try given(key)
            guard way.count == 1 else {
                throw RelataError.notOwn(
                    way.joined(separator: "."), "relationship", of: entityName,
                    "ask from the object in between, or use a condition")
            }
            query.plan.relatedTo = RelatedOwner(
                entity: entityName, relationship: way[0], key: try keyValue(key), isRecursive: isRecursive)
        } catch {
            query.plan.condition = .invalid("\(error)")
        }
        return query
    }

    @usableFromInline static var withoutStoredKey: String {
        "\(entityName.withArticle) without a key isn't stored: save it first, and continue with the object that save returns"
    }

    /// The caller's key; `nil` if the object has no key yet.
    @inlinable
    static func given(_ key: Key?) throws(RelataError) -> Key {
        guard let key else { throw .invalidUse(withoutStoredKey) }
        return key
    }

    func storedKey() throws -> KeyValue { try Self.keyValue(Self.given(primaryKey)) }
}

extension Query {
    func limitedToOne() -> Query {
        var copy = self
        copy.plan.limit = min(plan.limit ?? 1, 1)
        return copy
    }
}
