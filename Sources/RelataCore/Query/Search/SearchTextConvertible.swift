/// A value to search for: text from a search field, or a parsed ``SearchText``.
public protocol SearchTextConvertible {
    /// The words and phrases to search for.
    var searchText: SearchText { get }
}

extension SearchText: SearchTextConvertible {
    /// Itself.
    public var searchText: SearchText { self }
}

extension String: SearchTextConvertible {
    /// The words and phrases to search for.
    public var searchText: SearchText { SearchText(self) }
}

extension Substring: SearchTextConvertible {
    /// The words and phrases to search for.
    public var searchText: SearchText { SearchText(String(self)) }
}
