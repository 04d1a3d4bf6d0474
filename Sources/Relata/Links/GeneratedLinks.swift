// The functions that `@Model`'s code calls for a model's links.
//
// They are members of the links: if a link's target doesn't exist, the compiler reports it at the property, and nothing
// about members. For a generic function it would add that the target could not be inferred.

public import RelataEngine

extension ToOne {
    /// Reads the key of a to-one that is required.
    @_documentation(visibility: internal)
    @inlinable
    public static func _read(_ reader: inout RowReader) throws -> ToOne {
        let first = reader
        do {
            return ToOne(key: try Target.readKey(from: &reader), box: nil)
        } catch {
            // Another program may have given the column another type than that of the key.
            guard let key = Target.referredKey(first) else { throw error }
            reader = first
            reader.skip(1)
            return ToOne(key: key, box: nil)
        }
    }

    /// Gives the key; unset while the target waits for its key.
    @_documentation(visibility: internal)
    @inlinable
    public func _bind(to binder: inout Binder) throws {
        if let key { try Target.bind(key, to: &binder) } else { binder.bindNull(Target.keyColumnCount) }
    }

    /// Shows the link to a visitor.
    @_documentation(visibility: internal)
    @inlinable
    public func _visit(_ visitor: inout LinkVisitor, at index: Int) throws { try visitor.visit(self, at: index) }

    /// Takes the loaded objects of the link.
    @_documentation(visibility: internal)
    @inlinable
    public mutating func _load(_ loader: inout LinkLoader, at index: Int) { loader.load(&self, at: index) }

    /// The link after a save.
    @_documentation(visibility: internal)
    @inlinable
    public func _saved(_ state: SavedState, stored: ToOne) -> ToOne { state.link(self, stored: stored) }

    /// A link to an object, or that link.
    @_documentation(visibility: internal)
    public static func _link(_ object: some ToOneConvertible<Target>) -> ToOne { object._toOne }

    /// Whether both links are equal.
    @_documentation(visibility: internal)
    @inlinable
    public func _isEqual(to other: ToOne) -> Bool { self == other }
}

extension Optional {
    /// Reads the key of a to-one that may be unset.
    @_documentation(visibility: internal)
    @inlinable
    public static func _read<Target>(_ reader: inout RowReader) throws -> Self where Wrapped == ToOne<Target> {
        if reader.isNull {
            reader.skip(Target.keyColumnCount)
            return nil
        }
        return try ToOne<Target>._read(&reader)
    }

    /// Gives the key; unset while the target waits for its key.
    @_documentation(visibility: internal)
    @inlinable
    public func _bind<Target>(to binder: inout Binder) throws where Wrapped == ToOne<Target> {
        if let self { try self._bind(to: &binder) } else { binder.bindNull(Target.keyColumnCount) }
    }

    /// Shows the link to a visitor.
    @_documentation(visibility: internal)
    @inlinable
    public func _visit<Target>(_ visitor: inout LinkVisitor, at index: Int) throws where Wrapped == ToOne<Target> {
        try visitor.visit(self, at: index)
    }

    /// Takes the loaded objects of the link.
    @_documentation(visibility: internal)
    @inlinable
    public mutating func _load<Target>(_ loader: inout LinkLoader, at index: Int) where Wrapped == ToOne<Target> {
        loader.load(&self, at: index)
    }

    /// The link after a save.
    @_documentation(visibility: internal)
    @inlinable
    public func _saved<Target>(_ state: SavedState, stored: Self) -> Self where Wrapped == ToOne<Target> {
        state.link(self, stored: stored)
    }

    /// A link to an object, or that link.
    @_documentation(visibility: internal)
    public static func _link<Target>(
        _ object: (some ToOneConvertible<Target>)?
    ) -> Self where Wrapped == ToOne<Target> { object?._toOne }

    /// Whether both links are equal.
    @_documentation(visibility: internal)
    @inlinable
    public func _isEqual<Target>(to other: Self) -> Bool where Wrapped == ToOne<Target> { self == other }
}

extension HasOne {
    /// Shows the link to a visitor.
    @_documentation(visibility: internal)
    @inlinable
    public func _visit(_ visitor: inout LinkVisitor, at index: Int) throws { try visitor.visit(self, at: index) }

    /// Takes the loaded objects of the link.
    @_documentation(visibility: internal)
    @inlinable
    public mutating func _load(_ loader: inout LinkLoader, at index: Int) { loader.load(&self, at: index) }

    /// The link after a save.
    @_documentation(visibility: internal)
    @inlinable
    public func _saved(_ state: SavedState) -> HasOne { state.link(self) }

    /// A link to an object; without an object, one without edits.
    @_documentation(visibility: internal)
    public static func _link(_ object: Target?) -> HasOne { object.map { HasOne($0) } ?? HasOne() }

    /// Whether both links are equal.
    @_documentation(visibility: internal)
    @inlinable
    public func _isEqual(to other: HasOne) -> Bool { self == other }
}

extension ToMany {
    /// Shows the link to a visitor.
    @_documentation(visibility: internal)
    @inlinable
    public func _visit(_ visitor: inout LinkVisitor, at index: Int) throws { try visitor.visit(self, at: index) }

    /// Takes the loaded objects of the link.
    @_documentation(visibility: internal)
    @inlinable
    public mutating func _load(_ loader: inout LinkLoader, at index: Int) { loader.load(&self, at: index) }

    /// The link after a save.
    @_documentation(visibility: internal)
    @inlinable
    public func _saved(_ state: SavedState) -> ToMany { state.link(self) }

    /// Whether both links are equal.
    @_documentation(visibility: internal)
    @inlinable
    public func _isEqual(to other: ToMany) -> Bool { self == other }
}

extension Through {
    /// Takes the loaded objects of the link.
    @_documentation(visibility: internal)
    @inlinable
    public mutating func _load(_ loader: inout LinkLoader, at index: Int) { loader.load(&self, at: index) }

    /// Whether both links are equal.
    @_documentation(visibility: internal)
    @inlinable
    public func _isEqual(to other: Through) -> Bool { self == other }
}
