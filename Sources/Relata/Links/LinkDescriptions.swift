// The descriptions of links when an object is printed.

private func description<Content>(_ content: Content?, edits: Int = 0) -> String {
    let waiting = edits == 0 ? "" : edits == 1 ? " (1 edit to save)" : " (\(edits) edits to save)"
    return (content.map { "\($0)" } ?? "not loaded") + waiting
}

extension ToMany: CustomStringConvertible {
    /// The objects if they are loaded, and the number of edits that wait for a save.
    public var description: String { Relata.description(content, edits: edits.count) }
}

extension HasOne: CustomStringConvertible {
    /// The loaded object, `none` for a missing one, and the number of unsaved edits.
    public var description: String {
        Relata.description(link.content.map { $0.first.map { "\($0)" } ?? "none" }, edits: link.edits.count)
    }
}

extension Through: CustomStringConvertible {
    /// The objects if they are loaded.
    public var description: String { Relata.description(content) }
}
