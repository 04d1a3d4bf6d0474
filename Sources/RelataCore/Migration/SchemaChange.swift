/// One difference between a file and the models, in words.
public struct SchemaChange: Hashable, Sendable, CustomStringConvertible {
    /// The entity's name; the table's, if no entity has it any more.
    public let entity: String
    /// The property's name, or the column's if no property has it any more; `nil` for the entity as a whole.
    public let property: String?
    /// The change, in words.
    public let message: String
    /// Whether it is made automatically.
    public let kind: Kind
    /// The migration step that handles a lossy change, if there is one.
    public let step: String?

    /// Whether a change is made automatically.
    public enum Kind: Hashable, Sendable {
        /// Nothing can be lost: it is made automatically.
        case additive
        /// Something would be lost, or a value is missing: refused unless a migration step handles it.
        case lossy
    }

    /// Whether the file isn't opened because of it.
    public var isRefused: Bool { kind == .lossy && step == nil }

    /// `Book.price: …`
    public var description: String {
        (property.map { "\(entity).\($0)" } ?? entity) + ": " + message
    }
}

/// A change that would lose something, which a migration step declares to take care of.
public enum LossyChange: Hashable, Sendable {
    /// The column of a property that the models no longer have is dropped, or a whole table: `"Book.subtitle"`,
    /// `"Pamphlet"`. The step saves the values that are still needed.
    case dropping(String)
    /// The step makes the values of a property fit its new declaration: another type, a value for every row, unique
    /// values, existing targets: `"Book.price"`. An entity's name is about its primary key.
    case changing(String)
    /// Another program made the file, and from now on Relata manages it: missing parts are added.
    case adopting
}

/// The name and the changes of a migration step.
package struct MigrationStepDeclaration: Hashable, Sendable {
    /// The name under which the file remembers that the step was done. A step without a name is done each time.
    package let name: String
    /// The changes that the step handles.
    package let changes: [LossyChange]

    /// Declares a step.
    package init(name: String, changes: [LossyChange]) {
        self.name = name
        self.changes = changes
    }

    /// Whether the step handles one of several spellings of a change, regardless of case.
    func covers(_ wanted: [LossyChange]) -> Bool {
        changes.contains { change in
            wanted.contains { wanted in
                switch (change, wanted) {
                case (.dropping(let one), .dropping(let other)), (.changing(let one), .changing(let other)):
                    one.isSameName(as: other)
                case (.adopting, .adopting): true
                default: false
                }
            }
        }
    }
}
