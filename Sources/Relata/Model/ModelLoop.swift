// Loops over the objects of a model.
//
// This module doesn't know the app's models: here each object costs look-ups of its type's size, copies and properties.
// So the loops are requirements of `Model` whose defaults can be inlined. The app's own module gets a copy of them for
// each model, in which the compiler knows the type and everything `@Model` has written for it.

extension Model {
    /// Gives the columns of the object's key; whether it has one.
    @inlinable
    public func bindKey(to binder: inout Binder) throws -> Bool {
        guard let key = primaryKey else { return false }
        try Self.bind(key, to: &binder)
        return true
    }

    /// Adds objects to a save, or finds what they link to.
    @inlinable
    public static func gather(_ loop: inout GatherLoop<Self>) throws { try loop.run() }

    /// Asks objects to validate themselves.
    @inlinable
    public static func validate(_ loop: inout ValidationLoop<Self>) throws { try loop.run() }

    /// Writes objects one after the other.
    @inlinable
    public static func write(_ loop: inout WriteLoop<Self>) throws { try loop.run() }
}
