/// A search in an object, by the words of its searched attributes.
public struct ObjectSearch: Hashable, Sendable {
    /// The scope the path starts in.
    package var scope: Int
    /// The to-ones that lead to the object.
    package var path: [String]
    /// The text to search for.
    package var text: SearchText
    /// The attributes to search; none for all that are searched.
    package var properties: [String]

    /// A search in the object at the end of to-ones.
    package init(_ text: SearchText, scope: Int = 0, path: [String] = [], properties: [String] = []) {
        self.scope = scope
        self.path = path
        self.text = text
        self.properties = properties
    }
}
