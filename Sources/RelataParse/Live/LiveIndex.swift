import RelataCore

/// The changed objects of one step, by the texts in their fields.
///
/// Most live queries compare a field with a constant, such as the room of a chat. Only objects with this text can meet
/// such conditions. So one statement for all groups finds the few groups that have to look at the changes at all.
struct LiveIndex {
    /// A property and the text that it must equal before an object can meet a group's conditions.
    struct Term: Sendable {
        let property: String
        let text: String

        fileprivate init(_ property: String, _ text: String) {
            self.property = property
            self.text = LiveIndex.folded(text)
        }
    }

    /// Changed objects by the texts of one property; `nil` if the property can't be read.
    private typealias Texts = [String: [KeyValue]]?

    private let changes: LiveChanges
    private let reader: LiveReader
    /// By class and property.
    private var known: [String: [String: Texts]] = [:]

    init(_ changes: LiveChanges, _ reader: LiveReader) { (self.changes, self.reader) = (changes, reader) }

    /// The changed objects of a class that may meet a group's conditions, or may have met them; `nil` if that can't be
    /// told.
    ///
    /// - Parameter matched: The objects that met the conditions before.
    mutating func candidates(
        _ term: Term, _ className: String, before matched: [KeyValue: LiveGroup.Seen]
    ) -> [KeyValue: LiveChanges.OfObject]? {
        guard let objects = changes.classes[className]?.objects else { return [:] }
        let read: Texts
        if let there = known[className]?[term.property] {
            read = there
        } else {
            read = texts(term.property, Array(objects.keys), of: className)
            known[className, default: [:]][term.property] = .some(read)
        }
        guard let found = read else { return nil }
        var candidates: [KeyValue: LiveChanges.OfObject] = [:]
        for key in found[term.text] ?? [] { candidates[key] = objects[key] }
        // If there are many groups and many changes, most have nothing in common.
        if objects.count < matched.count {
            for (key, change) in objects where matched[key] != nil { candidates[key] = change }
        } else {
            for key in matched.keys { if let change = objects[key] { candidates[key] = change } }
        }
        return candidates
    }

    /// The objects by their texts in a property; `nil` if it can't be read, or isn't text.
    private func texts(_ property: String, _ keys: [KeyValue], of className: String) -> [String: [KeyValue]]? {
        guard let values = try? reader.apart({ try reader.texts(of: property, keys, of: className) }) else {
            return nil
        }
        var texts: [String: [KeyValue]] = [:]
        for (key, text) in values { texts[Self.folded(text), default: []].append(key) }
        return texts
    }

    /// The same text for all that a column may take for equal that compares plainly: SQLite's collations ignore the case
    /// of ASCII and what follows U+0000, or spaces at the end.
    private static func folded(_ text: String) -> String {
        func isUpper(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") }
        let space = UInt8(ascii: " ")
        guard text.utf8.last == space || text.utf8.contains(where: { isUpper($0) || $0 == 0 }) else { return text }
        let bytes = text.utf8.prefix { $0 != 0 }.map { isUpper($0) ? $0 + 32 : $0 }
        let end = bytes.lastIndex { $0 != space }.map { $0 + 1 } ?? 0
        return String(decoding: bytes[..<end], as: UTF8.self)
    }
}

extension ExpressionNode {
    /// A property of the query's object that must equal a text before the condition can be met; `nil` if there is none.
    var requiredText: LiveIndex.Term? {
        switch self {
        case .comparison(.equal, .property(scope: 0, let path), .value(.text(let text)), let options)
        where path.count == 1 && options == []:
            LiveIndex.Term(path[0], text)
        case .keyIn(.property(scope: 0, let path), let keys) where path.count == 1 && keys.count == 1:
            if case .text(let text)? = keys[0].values.first, keys[0].values.count == 1 {
                LiveIndex.Term(path[0], text)
            } else {
                nil
            }
        case .and(let parts): parts.lazy.compactMap(\.requiredText).first
        default: nil
        }
    }
}
