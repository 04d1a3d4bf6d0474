import RelataCore

/// A developer's instructions for a change of the models: how old values become new ones.
///
/// Steps run once for each file, in the given order, and never in a new file. They run in the transaction of the
/// migration: after tables and columns are renamed and added, so that the new ones exist, and before anything is
/// dropped or constrained, so that the old ones still do. Values of a column whose type changes are written in place:
/// the column accepts any type until the step ends.
///
/// ```swift
/// MigrationStep("prices in cents", taking: .changing("Book.price")) { tx in
///     try tx.execute("UPDATE Book SET price = CAST(round(price * 100) AS INTEGER)")
/// }
/// ```
///
/// Foreign keys aren't enforced while steps run, and are checked before the transaction is committed. A step that
/// throws leaves the file as it was.
public struct MigrationStep: Sendable {
    /// The step's name and the changes that it handles.
    package let declaration: MigrationStepDeclaration
    package let body: @Sendable (MigrationTransaction) throws -> Void

    /// Declares a step.
    ///
    /// - Parameters:
    ///   - name: The file remembers the step by it. Never change it.
    ///   - changes: The lossy changes that the step handles.
    ///   - body: Reads and writes the tables.
    public init(
        _ name: String, taking changes: LossyChange...,
        body: @escaping @Sendable (MigrationTransaction) throws -> Void = { _ in }
    ) {
        self.init(name, taking: changes, body: body)
    }

    /// A step that only allows changes, each time it is given: the file doesn't remember it.
    package init(allowing changes: [LossyChange]) { self.init("", taking: changes) }

    /// Declares a step for a list of changes.
    public init(
        _ name: String, taking changes: [LossyChange],
        body: @escaping @Sendable (MigrationTransaction) throws -> Void = { _ in }
    ) {
        declaration = MigrationStepDeclaration(name: name, changes: changes)
        self.body = body
    }
}
