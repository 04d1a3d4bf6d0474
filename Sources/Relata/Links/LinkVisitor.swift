/// Sees each link of an object: `Model.visitLinks` shows it them.
public struct LinkVisitor {
    enum Purpose {
        /// A save: finds nested objects, references and edits.
        case gathering(LinkGatherer)
        /// Looks whether there is an edit.
        case looking(EditLook)
        /// A load: finds the keys of one to-one.
        case collecting(AnyToOneKeys)
    }

    private let purpose: Purpose

    init(_ purpose: Purpose) { self.purpose = purpose }

    /// A required to-one.
    public mutating func visit<Target>(_ toOne: ToOne<Target>, at index: Int) throws {
        switch purpose {
        case .gathering(let gatherer): try gatherer.visit(toOne, at: index)
        case .collecting(let keys): collect(toOne, keys, index)
        case .looking: break
        }
    }

    /// A to-one that may be unset.
    public mutating func visit<Target>(_ toOne: ToOne<Target>?, at index: Int) throws {
        switch purpose {
        case .gathering(let gatherer):
            // An unset link in an optional property is no link.
            guard let toOne, toOne.key != nil || toOne.box != nil else { return }
            try gatherer.visit(toOne, at: index)
        case .collecting(let keys): collect(toOne, keys, index)
        case .looking: break
        }
    }

    /// A has-one.
    public mutating func visit<Target>(_ hasOne: HasOne<Target>, at index: Int) throws {
        try visit(hasOne.link, at: index)
    }

    /// A to-many.
    public mutating func visit<Target>(_ toMany: ToMany<Target>, at index: Int) throws {
        switch purpose {
        case .gathering(let gatherer): try gatherer.visit(toMany, at: index)
        case .looking(let look): look.hasEdits = look.hasEdits || toMany.hasEdits
        case .collecting: break
        }
    }

    private func collect<Target>(_ toOne: ToOne<Target>?, _ keys: AnyToOneKeys, _ index: Int) {
        guard index == keys.index, let keys = keys as? ToOneKeys<Target> else { return }
        keys.keys.append(toOne?.key)
    }
}

/// What a look for edits has found.
final class EditLook {
    var hasEdits = false
}

extension Model {
    /// Whether a link of the object has edits that no save has written.
    func hasEdits() throws -> Bool {
        let look = EditLook()
        var visitor = LinkVisitor(.looking(look))
        try visitLinks(&visitor)
        return look.hasEdits
    }
}
