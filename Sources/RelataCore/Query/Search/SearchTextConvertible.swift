/// A value to search for: text from a search field, or a parsed ``SearchText``.
public protocol SearchTextConvertible {
    /// What is looked for.
    var searchText: SearchText { get }
}

extension SearchText: SearchTextConvertible {
    /// Itself.
    public var searchText: SearchText { self }
}

extension String: SearchTextConvertible {
    /// What the text asks for.
    public var searchText: SearchText { SearchText(self) }
}

extension Substring: SearchTextConvertible {
    /// What the text asks for.
    public var searchText: SearchText { SearchText(String(self)) }
}
