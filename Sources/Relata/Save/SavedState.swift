import Foundation

/// What a save has decided about one object: the source of the value that it returns.
///
/// What it says of links is inlined into the app's own module, where their types are known.
@_documentation(visibility: internal)
public struct SavedState {
    @usableFromInline let session: SaveSession
    let rowID: Int64?
    let isInserted: Bool
    /// Whether links are left as they are: their objects may still wait to be written.
    @usableFromInline var keepsLinks = false
    /// Whether stamps are set already.
    var keepsStamps = false
    /// When an object that is updated was inserted, as its row says.
    var storedCreation: Date?
    /// The key of a row that the save has changed beyond what the object holds: by an edit of a list it is in.
    var reloadedKey: KeyValue?
    /// Whether the object's row is read again.
    public var isReloaded: Bool { reloadedKey != nil }

    /// The object's row as it is stored now.
    public func stored<M: Model>(_ other: M) -> M { reloadedKey.flatMap { session.stored(M.self, $0) } ?? other }

    /// An attribute's value as it is stored.
    @inlinable
    public func value<Coding: AttributeCoding>(_ value: Coding.Value, _ coding: Coding) -> Coding.Value {
        coding.stored(value)
    }

    /// A value that a column stores directly, as it is stored.
    @inlinable
    public func value<Value: AttributeValue>(_ value: Value) -> Value { value.asStored }
    /// Such a value that may be unset.
    @inlinable
    public func value<Value: AttributeValue>(_ value: Value?) -> Value? { value.map(\.asStored) }
    /// Any other value.
    @inlinable @_disfavoredOverload
    public func value<Value>(_ value: Value) -> Value { value }

    /// The key: as it was, or as the database assigned it.
    public func assignedKey<Number: FixedWidthInteger>(_ key: Number?) -> Number? {
        key ?? rowID.flatMap { Number(exactly: $0) }
    }

    /// When the object was inserted.
    public func createdAt(_ date: Date) -> Date {
        isInserted && !keepsStamps ? session.run.now : storedCreation ?? date
    }
    /// When the object was inserted.
    public func createdAt(_ date: Date?) -> Date? {
        isInserted && !keepsStamps ? session.run.now : storedCreation ?? date
    }
    /// When the object was last written.
    public func updatedAt(_ date: Date) -> Date { keepsStamps ? date : session.run.now }
    /// When the object was last written.
    public func updatedAt(_ date: Date?) -> Date? { keepsStamps ? date : session.run.now }
    /// How often the object was written.
    public func revision<Number: FixedWidthInteger>(_ revision: Number) -> Number {
        keepsStamps ? revision : revision &+ 1
    }

    /// A to-one with its object as it is saved, unless it links to another by now.
    @inlinable
    public func link<Target>(_ link: ToOne<Target>, stored: ToOne<Target>) -> ToOne<Target> {
        if keepsLinks { return link }
        let saved = session.isReplaced(Target.self) ? link.box.map { ToOne(saved: session.saved($0)) } ?? link : link
        return isReloaded && saved.ownKey != stored.ownKey ? stored : saved
    }

    /// A to-one that may be unset, with its object as it is saved, unless it links to another by now.
    @inlinable
    public func link<Target>(_ link: ToOne<Target>?, stored: ToOne<Target>?) -> ToOne<Target>? {
        guard let link, let stored else { return isReloaded && !keepsLinks ? stored : link }
        let saved: ToOne<Target> = self.link(link, stored: stored)
        return saved
    }

    /// A has-one without edits, its object as it is saved.
    @inlinable
    public func link<Target>(_ link: HasOne<Target>) -> HasOne<Target> {
        var saved = link
        saved.link = self.link(link.link)
        return saved
    }

    /// A to-many without edits, its objects as they are saved.
    @inlinable
    public func link<Target>(_ link: ToMany<Target>) -> ToMany<Target> {
        keepsLinks || link.edits.isEmpty
            ? link : ToMany(loaded: link.content.map { session.saved($0, unsaved: link.unsaved) })
    }
}
