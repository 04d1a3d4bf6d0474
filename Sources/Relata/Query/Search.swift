// Full-text search of the attributes that a model declares with `#Search`.

import RelataCore
import RelataEngine

extension Query {
    /// The objects of the query that a full-text search finds: the best matches first, unless an order is set.
    ///
    /// ```swift
    /// Song.search("love \"blue moon\" wait*").where { $0.year > 1960 }.including { $0.album }.limit(20)
    /// ```
    ///
    /// All words must occur, in any of the searched attributes; see ``SearchText`` for the syntax. A text without a
    /// word finds nothing. A query has one search: a later one replaces it, and further ones are conditions,
    /// `$0.matches(…)`.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)``, when the query runs, for a model without a `#Search`.
    public func search(_ text: some SearchTextConvertible) -> Query { search(text, properties: []) }

    /// The objects that a full-text search finds in some of the searched attributes alone.
    ///
    /// ```swift
    /// Song.search("moon", in: { $0.title })
    /// ```
    public func search<each Property: PropertyField>(
        _ text: some SearchTextConvertible, in properties: (Root.Fields) -> (repeat each Property)
    ) -> Query {
        let chosen = properties(Self.fields)
        var names: [String] = []
        for property in repeat each chosen { names.append(type(of: property).path(of: property)) }
        return search(text, properties: names)
    }

    private func search(_ text: some SearchTextConvertible, properties: [String]) -> Query {
        var query = self
        query.plan.search = ObjectSearch(text.searchText, properties: properties)
        return query
    }
}

extension Model {
    /// The objects that a full-text search finds, the best first: see ``Query/search(_:)``.
    public static func search(_ text: some SearchTextConvertible) -> Query<Self> { Query().search(text) }

    /// The objects that a full-text search finds in some of the searched attributes alone, the best first.
    public static func search<each Property: PropertyField>(
        _ text: some SearchTextConvertible, in properties: (Fields) -> (repeat each Property)
    ) -> Query<Self> {
        Query().search(text, in: properties)
    }
}

extension ModelFields {
    /// Whether a full-text search finds the object, by the attributes that its model declares with `#Search`.
    ///
    /// ```swift
    /// Song.where { $0.matches("moon") || $0.year > 1960 }
    /// ```
    public func matches(_ text: some SearchTextConvertible) -> Condition { found(text, properties: []) }

    /// Whether a full-text search finds the object by some of the searched attributes alone.
    ///
    /// ```swift
    /// Song.where { $0.matches("moon", in: $0.title) && !$0.matches("rain", in: $0.lyrics) }
    /// ```
    public func matches<each Property: PropertyField>(
        _ text: some SearchTextConvertible, in properties: repeat each Property
    ) -> Condition {
        var names: [String] = []
        for property in repeat each properties {
            // A path from the object itself.
            let path = type(of: property).path(of: property)
            let prefix = fieldPath.names.map { $0 + "." }.joined()
            names.append(path.hasPrefix(prefix) ? String(path.dropFirst(prefix.count)) : path)
        }
        return found(text, properties: names)
    }

    /// An object's relevance for its query's search: greater is better. Only values of the same result can be compared.
    ///
    /// ```swift
    /// Song.search("moon").select { ($0.title, $0.relevance) }
    /// ```
    ///
    /// - Throws: ``RelataError/invalidUse(_:)``, when the query runs, for a query without a search.
    public var relevance: TypedExpression<Double> { TypedExpression(.relevance) }

    private func found(_ text: some SearchTextConvertible, properties: [String]) -> Condition {
        Condition(
            .found(
                ObjectSearch(
                    text.searchText, scope: fieldPath.scope, path: fieldPath.names, properties: properties)))
    }
}

extension ToOneField {
    /// Whether a full-text search finds the object that it links to.
    public func matches(_ text: some SearchTextConvertible) -> Condition { fields.matches(text) }
}
