/// Sees each link of an object: `Model.visitLinks` shows it them.
public struct LinkVisitor {
    enum Purpose {
        /// A save: finds nested objects, references and edits.
        case gathering(LinkGatherer)
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
        }
    }

    /// A has-one.
    public mutating func visit<Target>(_ hasOne: HasOne<Target>, at index: Int) throws {
        if case .gathering(let gatherer) = purpose { try gatherer.visit(hasOne.link, at: index) }
    }

    /// A to-many.
    public mutating func visit<Target>(_ toMany: ToMany<Target>, at index: Int) throws {
        if case .gathering(let gatherer) = purpose { try gatherer.visit(toMany, at: index) }
    }

    private func collect<Target>(_ toOne: ToOne<Target>?, _ keys: AnyToOneKeys, _ index: Int) {
        guard index == keys.index, let keys = keys as? ToOneKeys<Target> else { return }
        keys.keys.append(toOne?.key)
    }
}
