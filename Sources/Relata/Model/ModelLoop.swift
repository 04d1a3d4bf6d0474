// Loops over the objects of a model.
//
// This module doesn't know the app's models: here each object costs look-ups of its type's size, copies and properties.
// So the loops are requirements of `Model` with inlinable defaults. The app's module gets a copy of them for each
// model, in which the compiler knows the type and its generated code.

import RelataCore

extension Model {
    /// Gives the columns of the key of one of the objects; whether it has one. In place: a copy of the object would
    /// cost more than its key.
    @_documentation(visibility: internal)
    @inlinable
    public static func bindKey(of objects: [Self], at index: Int, to binder: inout Binder) throws -> Bool {
        guard let key = objects[index].primaryKey else { return false }
        try bind(key, to: &binder)
        return true
    }

    /// Adds objects to a save, or finds their links.
    @_documentation(visibility: internal)
    @inlinable
    public static func gather(_ loop: inout GatherLoop<Self>) throws { try loop.run() }

    /// Asks objects to validate themselves.
    @_documentation(visibility: internal)
    @inlinable
    public static func validate(_ loop: inout ValidationLoop<Self>) throws { try loop.run() }

    /// Writes objects one after the other.
    @_documentation(visibility: internal)
    @inlinable
    public static func write(_ loop: inout WriteLoop<Self>) throws { try loop.run() }

    /// Reads objects one after the other.
    @_documentation(visibility: internal)
    @inlinable
    public static func read(_ loop: inout ReadLoop<Self>) throws { try loop.run() }

    /// Gives the keys of objects.
    @_documentation(visibility: internal)
    @inlinable
    public static func bindKeys(of objects: [Self], to binder: inout Binder) throws {
        try objects.withUnsafeBufferPointer { objects in
            for index in objects.indices {
                guard let key = objects[index].primaryKey else { throw withoutKey }
                try bind(key, to: &binder)
            }
        }
    }

    @usableFromInline static var withoutKey: RelataError {
        .invalidUse("\(entityName.withArticle) without a key has nothing to load: save it first")
    }

    /// Shows the links of objects to a visitor.
    @_documentation(visibility: internal)
    @inlinable
    public static func visitLinks(of objects: [Self], _ visitor: inout LinkVisitor) throws {
        // In place, because an array would copy each.
        try objects.withUnsafeBufferPointer { objects in
            for index in objects.indices { try objects[index].visitLinks(&visitor) }
        }
    }

    /// Takes loaded objects into the links of objects.
    @_documentation(visibility: internal)
    @inlinable
    public static func loadLinks(of objects: inout [Self], from loader: inout LinkLoader) {
        for index in objects.indices {
            loader.owner = index
            objects[index].loadLinks(from: &loader)
        }
    }
}
