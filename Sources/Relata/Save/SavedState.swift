import Foundation

/// What a save has decided about one object: the source of the value that it returns.
public struct SavedState {
    let session: SaveSession
    let rowID: Int64?
    let isInserted: Bool
    /// Whether links are left as they are: their objects may still wait to be written.
    var keepsLinks = false
    /// Whether stamps are set already.
    var keepsStamps = false

    /// The key: as it was, or as the database assigned it.
    public func assignedKey<Number: FixedWidthInteger>(_ key: Number?) -> Number? {
        key ?? rowID.flatMap { Number(exactly: $0) }
    }

    /// When the object was inserted.
    public func createdAt(_ date: Date) -> Date { isInserted && !keepsStamps ? session.now : date }
    /// When the object was inserted.
    public func createdAt(_ date: Date?) -> Date? { isInserted && !keepsStamps ? session.now : date }
    /// When the object was last written.
    public func updatedAt(_ date: Date) -> Date { keepsStamps ? date : session.now }
    /// When the object was last written.
    public func updatedAt(_ date: Date?) -> Date? { keepsStamps ? date : session.now }
    /// How often the object was written.
    public func revision<Number: FixedWidthInteger>(_ revision: Number) -> Number {
        keepsStamps ? revision : revision &+ 1
    }

    /// A to-one with its object as it is saved.
    public func link<Target>(_ link: ToOne<Target>, at index: Int) -> ToOne<Target> {
        guard !keepsLinks, let box = link.box else { return link }
        return ToOne(session.saved(box))
    }

    /// A to-one that may be unset, with its object as it is saved.
    public func link<Target>(_ link: ToOne<Target>?, at index: Int) -> ToOne<Target>? {
        link.map { self.link($0, at: index) }
    }

    /// A has-one without edits, its object as it is saved.
    public func link<Target>(_ link: HasOne<Target>, at index: Int) -> HasOne<Target> {
        var saved = link
        saved.link = self.link(link.link, at: index)
        return saved
    }

    /// A to-many without edits, its objects as they are saved.
    public func link<Target>(_ link: ToMany<Target>, at index: Int) -> ToMany<Target> {
        keepsLinks || link.edits.isEmpty ? link : ToMany(loaded: link.content.map { session.saved($0, edits: link.edits) })
    }
}
