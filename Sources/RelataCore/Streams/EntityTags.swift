/// The versions of a file that a client holds: the field `If-None-Match`.
package struct EntityTags {
    private let tags: [Substring]

    /// Reads the field.
    package init(_ field: String) { tags = field.split(separator: ",").map(Self.opaque) }

    /// Whether a version is among them.
    package func contains(_ tag: String) -> Bool {
        let tag = Self.opaque(tag[...])
        return tags.contains { $0 == tag || $0 == "*" }
    }

    /// A tag without its spaces, and without the mark of a weak one: a client only asks whether the file is the same.
    private static func opaque(_ tag: Substring) -> Substring {
        var tag = tag.drop { $0 == " " || $0 == "\t" }
        while tag.last == " " || tag.last == "\t" { tag.removeLast() }
        return tag.hasPrefix("W/") ? tag.dropFirst(2) : tag
    }
}
