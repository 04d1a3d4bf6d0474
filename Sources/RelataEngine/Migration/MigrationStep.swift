import RelataCore

/// What only the developer knows about a change of the models: how old values become new ones.
///
/// A step runs once for each file, in the order in which steps are given, and never in a file that is new. It runs in
/// the transaction of the migration: after tables and columns are renamed and added, so that the new ones are there,
/// and before anything is dropped or constrained, so that the old ones still are. Values of a column whose type changes
/// are written in place: the column takes any type until the step is over.
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
    /// The step's name and what it takes care of.
    package let declaration: MigrationStepDeclaration
    package let body: @Sendable (MigrationTransaction) throws -> Void

    /// Declares a step.
    ///
    /// - Parameters:
    ///   - name: What the file remembers the step by. Never change it.
    ///   - changes: The changes that would lose something, and that the step makes harmless.
    ///   - body: Reads and writes the tables.
    public init(
        _ name: String, taking changes: LossyChange...,
        body: @escaping @Sendable (MigrationTransaction) throws -> Void = { _ in }
    ) {
        self.init(name, taking: changes, body: body)
    }

    /// A step that only allows changes, each time it is given: the file doesn't remember it.
    package init(allowing changes: [LossyChange]) { self.init("", taking: changes) }

    /// Declares a step for changes that are known as a list.
    public init(
        _ name: String, taking changes: [LossyChange],
        body: @escaping @Sendable (MigrationTransaction) throws -> Void = { _ in }
    ) {
        declaration = MigrationStepDeclaration(name: name, changes: changes)
        self.body = body
    }
}
