/// Collects the keys that objects hold in one of their to-ones.
@usableFromInline
class AnyToOneKeys {
    @usableFromInline let index: Int
    init(_ index: Int) { self.index = index }
}

/// Collects the keys that objects hold in one of their to-ones, each once.
@usableFromInline
final class ToOneKeys<Target: Model>: AnyToOneKeys {
    /// The keys, in the order in which they were found.
    @exclusivity(unchecked) @usableFromInline private(set) var keys: [Target.Key] = []
    /// For each object the number of its key; -1 for one that is unset.
    @exclusivity(unchecked) @usableFromInline private(set) var rows: [Int32] = []
    @exclusivity(unchecked) @usableFromInline var numbers: [StoredKey<Target>: Int32] = [:]

    /// The keys of objects' to-one of that number.
    init<Owner: Model>(_ index: Int, of objects: [Owner]) throws {
        super.init(index)
        var visitor = LinkVisitor(.collecting(self))
        try Owner.visitLinks(of: objects, &visitor)
    }

    @inlinable
    func add(_ key: Target.Key?) {
        guard let key else { return rows.append(-1) }
        let number = numbers.number(of: StoredKey(key), new: Int32(truncatingIfNeeded: keys.count))
        if number == keys.count { keys.append(key) }
        rows.append(number)
    }

    /// The keys as a list to bind.
    func list() throws -> KeyList {
        var binder = Binder(collecting: keys.count)
        for key in keys { try Target.bind(key, to: &binder) }
        return KeyList(values: binder.values, width: Target.keyColumnCount)
    }
}

extension KeyList {
    /// The keys of objects.
    init<Owner: Model>(of objects: [Owner]) throws {
        var binder = Binder(collecting: objects.count)
        try Owner.bindKeys(of: objects, to: &binder)
        self.init(values: binder.values, width: Owner.keyColumnCount)
    }
}
