/// Sees each link of an object: `Model.visitLinks` shows it them.
@_documentation(visibility: internal)
@frozen
public struct LinkVisitor {
    @usableFromInline
    enum Purpose {
        /// A save: finds nested objects, references and edits.
        case gathering(LinkGatherer)
        /// Checks for edits.
        case looking(EditLook)
        /// A load: finds the keys of one to-one.
        case collecting(AnyToOneKeys)
    }

    @usableFromInline let purpose: Purpose

    @inlinable
    init(_ purpose: Purpose) { self.purpose = purpose }

    /// A required to-one.
    @inlinable
    public mutating func visit<Target>(_ toOne: ToOne<Target>, at index: Int) throws {
        switch purpose {
        case .gathering(let gatherer): try gatherer.visit(toOne, at: index)
        case .collecting(let keys): collect(toOne.key, Target.self, keys, index)
        case .looking: break
        }
    }

    /// A to-one that may be unset.
    @inlinable
    public mutating func visit<Target>(_ toOne: ToOne<Target>?, at index: Int) throws {
        switch purpose {
        case .gathering(let gatherer):
            // An unset link in an optional property isn't a link.
            guard let toOne, toOne.key != nil || toOne.box != nil else { return }
            try gatherer.visit(toOne, at: index)
        case .collecting(let keys): collect(toOne?.key, Target.self, keys, index)
        case .looking: break
        }
    }

    /// A has-one.
    @inlinable
    public mutating func visit<Target>(_ hasOne: HasOne<Target>, at index: Int) throws {
        try visit(hasOne.link, at: index)
    }

    /// A to-many.
    @inlinable
    public mutating func visit<Target>(_ toMany: ToMany<Target>, at index: Int) throws {
        switch purpose {
        case .gathering(let gatherer): try gatherer.visit(toMany, at: index)
        case .looking(let look): look.see(toMany.edits, at: index)
        case .collecting: break
        }
    }

    @inlinable
    func collect<Target: Model>(_ key: Target.Key?, _ target: Target.Type, _ keys: AnyToOneKeys, _ index: Int) {
        if index == keys.index { (keys as? ToOneKeys<Target>)?.add(key) }
    }
}

/// The edits found, and their comparison with another object's.
@usableFromInline
final class EditLook {
    /// The edits of each link that has some: a `LinkEdit` array.
    private var edits: [Int: any Sendable] = [:]
    private let other: EditLook?
    /// Whether the other object's edits start with these, at every link.
    private(set) var isContained = true

    init(in other: EditLook? = nil) { self.other = other }

    var hasEdits: Bool { !edits.isEmpty }

    @usableFromInline
    func see<Target>(_ edits: [LinkEdit<Target>], at index: Int) {
        if edits.isEmpty { return }
        self.edits[index] = edits
        let others = other?.edits[index] as? [LinkEdit<Target>] ?? []
        isContained = isContained && others.starts(with: edits)
    }
}

extension Model {
    private func editLook(in other: EditLook? = nil) throws -> EditLook {
        let look = EditLook(in: other)
        var visitor = LinkVisitor(.looking(look))
        try visitLinks(&visitor)
        return look
    }

    /// Whether a link of the object has edits that no save has written.
    func hasEdits() throws -> Bool { try editLook().hasEdits }

    /// Whether another value of the object has all edits of this one: it was copied from this one and edited further.
    func hasOnlyEdits(of other: Self) throws -> Bool { try editLook(in: other.editLook()).isContained }
}
