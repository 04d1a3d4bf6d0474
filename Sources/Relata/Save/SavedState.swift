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
    /// The object's table and row in its bucket, where its links are to be as they are saved.
    var object: (table: Int, row: Int)?

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
        if keepsLinks { return link }
        if let key = givenKey(Target.self, at: index), key != link.key { return ToOne(id: key) }
        guard let box = link.box else { return link }
        return ToOne(session.saved(box))
    }

    /// A to-one that may be unset, with its object as it is saved.
    public func link<Target>(_ link: ToOne<Target>?, at index: Int) -> ToOne<Target>? {
        guard let link else { return keepsLinks ? nil : givenKey(Target.self, at: index).map { ToOne(id: $0) } }
        let saved: ToOne<Target> = self.link(link, at: index)
        return saved
    }

    /// The key of the object whose list has taken this one in.
    private func givenKey<Target: Model>(_ target: Target.Type, at index: Int) -> Target.Key? {
        guard let object, case .reference(let reference) = session.catalog.links[object.table][index].link,
            let node = session.buckets[object.table]?.owner(row: object.row, reference: reference)
        else { return nil }
        return session.bucket(target, table: session.nodes[node].table).key(row: session.nodes[node].row)
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
