extension Model {
    /// The objects that this object's to-many links to, as a query that takes filters, orders and limits as any.
    ///
    /// ```swift
    /// let recent = series.related { $0.episodes }.where { $0.progress > 0 }.sorted { $0.updatedAt.descending }.limit(3)
    /// let episodes = try await store.fetch(recent)
    /// ```
    public func related<Target: Model>(_ link: (Fields) -> ToManyField<Target>) -> Query<Target> {
        let field = link(Fields(path: FieldPath()))
        return related(field.names, fallback: field.path.names)
    }

    /// The object that this object's to-one or has-one links to, as a query.
    public func related<Target: Model>(_ link: (Fields) -> ToOneField<Target>) -> Query<Target> {
        let field = link(Fields(path: FieldPath()))
        return related([field.name], fallback: field.path.names)
    }

    /// All objects that follow from this one by a to-many to the same model: its members, theirs, and so on, found by
    /// one statement.
    ///
    /// ```swift
    /// let family = try await store.fetch(person.descendants { $0.children }.sorted { $0.name })
    /// ```
    ///
    /// Each is met once and this object never, also where the links go round in a circle.
    public func descendants(_ link: (Fields) -> ToManyField<Self>) -> Query<Self> {
        let field = link(Fields(path: FieldPath()))
        return related(field.names, fallback: field.path.names, isRecursive: true)
    }

    /// All objects that this one follows from by a to-one to the same model: its parent, the parent's, and so on, found
    /// by one statement. See ``descendants(_:)``.
    public func ancestors(_ link: (Fields) -> ToOneField<Self>) -> Query<Self> {
        let field = link(Fields(path: FieldPath()))
        return related([field.name], fallback: field.path.names, isRecursive: true)
    }

    private func related<Target: Model>(
        _ names: [String], fallback path: [String], isRecursive: Bool = false
    ) -> Query<Target> {
        var query = Query<Target>()
        guard let primaryKey else {
            query.plan.condition = .or([])  // a new object: nothing is related to it yet
            return query
        }
        if names.count == 1, path.isEmpty {
            do {
                query.plan.relatedTo = RelatedOwner(
                    entity: Self.entityName, relationship: names[0], key: try Self.keyValue(primaryKey),
                    isRecursive: isRecursive)
            } catch {
                query.plan.condition = .invalid("\(error)")
            }
        } else {
            query.plan.condition = .invalid(
                "\((path + names).joined(separator: ".")) isn't a relationship of \(Self.entityName) itself: ask from the object in between, or use a condition"
            )
        }
        return query
    }

    func storedKey() throws -> KeyValue {
        guard let key = primaryKey else {
            throw RelataError.invalidUse("a \(Self.entityName) without a key isn't stored: save it first")
        }
        return try Self.keyValue(key)
    }
}

extension Query {
    func limitedToOne() -> Query {
        var copy = self
        copy.plan.limit = min(plan.limit ?? 1, 1)
        return copy
    }
}
