import Foundation

/// The results of a save for one object: the source of the returned value.
///
/// The code for links is inlined into the app's module, where their types are known.
@_documentation(visibility: internal)
public struct SavedState {
    @usableFromInline let session: SaveSession
    let rowID: Int64?
    let isInserted: Bool
    /// Whether links are left as they are: their objects may still wait to be written.
    @usableFromInline var keepsLinks = false
    /// Whether stamps are set already.
    var keepsStamps = false
    /// The time of insertion of an updated object, from its row.
    var storedCreation: Date?
    /// The key of a row that the save has changed beyond the object's values: by an edit of a list it is in.
    var reloadedKey: KeyValue?
    /// Whether the object's row is read again.
    public var isReloaded: Bool { reloadedKey != nil }

    /// The object's stored row.
    public func stored<M: Model>(_ other: M) -> M { reloadedKey.flatMap { session.stored(M.self, $0) } ?? other }

    /// The stored form of an attribute's value.
    @inlinable
    public func value<Coding: AttributeCoding>(_ value: Coding.Value, _ coding: Coding) -> Coding.Value {
        coding.stored(value)
    }

    /// The stored form of a value that a column stores directly.
    @inlinable
    public func value<Value: AttributeValue>(_ value: Value) -> Value { value.asStored }
    /// The stored form of an optional value.
    @inlinable
    public func value<Value: AttributeValue>(_ value: Value?) -> Value? { value.map(\.asStored) }
    /// Any other value.
    @inlinable @_disfavoredOverload
    public func value<Value>(_ value: Value) -> Value { value }

    /// A date, as exact as a column keeps it.
    public func date(_ date: Date) -> Date { date.asStored }
    /// A date that may be unset, as exact as a column keeps it.
    public func date(_ date: Date?) -> Date? { date?.asStored }

    /// The key: as it was, or as the database assigned it.
    public func assignedKey<Number: FixedWidthInteger>(_ key: Number?) -> Number? {
        key ?? rowID.flatMap { Number(exactly: $0) }
    }

    /// The date when the object was inserted.
    public func createdAt(_ date: Date) -> Date {
        isInserted && !keepsStamps ? session.run.now : storedCreation ?? date
    }
    /// The date when the object was inserted.
    public func createdAt(_ date: Date?) -> Date? {
        isInserted && !keepsStamps ? session.run.now : storedCreation ?? date
    }
    /// The date when the object was last written.
    public func updatedAt(_ date: Date) -> Date { keepsStamps ? date : session.run.now }
    /// The date when the object was last written.
    public func updatedAt(_ date: Date?) -> Date? { keepsStamps ? date : session.run.now }
    /// The number of times the object was written.
    public func revision<Number: FixedWidthInteger>(_ revision: Number) -> Number {
        keepsStamps ? revision : revision &+ 1
    }

    /// A to-one with its object after the save, unless it has another target by now.
    @inlinable
    public func link<Target>(_ link: ToOne<Target>, stored: ToOne<Target>) -> ToOne<Target> {
        if keepsLinks { return link }
        let saved = session.isReplaced(Target.self) ? link.box.map { ToOne(saved: session.saved($0)) } ?? link : link
        return isReloaded && saved.ownKey != stored.ownKey ? stored : saved
    }

    /// An optional to-one, with its object after the save, unless it has another target by now.
    @inlinable
    public func link<Target>(_ link: ToOne<Target>?, stored: ToOne<Target>?) -> ToOne<Target>? {
        guard let link, let stored else { return isReloaded && !keepsLinks ? stored : link }
        let saved: ToOne<Target> = self.link(link, stored: stored)
        return saved
    }

    /// A has-one without edits, with its object after the save.
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
