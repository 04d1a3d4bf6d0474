/// The keys by which a relationship of many owners is looked up, as one list to bind, and which owners each row of the
/// list is for.
struct LinkKeys {
    /// The keys, one a row.
    private(set) var list: KeyList
    /// For each row its owners; `nil` where row and owner have the same number.
    private var owners: [[Int32]]?

    /// The owners' own keys: for views, join tables and through links.
    init<Owner: Model>(of objects: [Owner]) throws {
        var binder = Binder(collecting: objects.count)
        for object in objects {
            guard let key = object.primaryKey else {
                throw RelataError.invalidUse("a \(Owner.entityName) without a key has nothing to load: save it first")
            }
            try Owner.bind(key, to: &binder)
        }
        list = KeyList(values: binder.values, width: Owner.keyColumnCount)
    }

    /// The keys that owners hold in a to-one, each once.
    init<Owner: Model, Target: Model>(toOne index: Int, of objects: [Owner], _ target: Target.Type) throws {
        let collector = ToOneKeys<Target>(index)
        var visitor = LinkVisitor(.collecting(collector))
        for object in objects { try object.visitLinks(&visitor) }
        var rows: [Target.Key: Int] = [:]
        var owners: [[Int32]] = []
        var binder = Binder(collecting: objects.count)
        for (owner, key) in collector.keys.enumerated() {
            guard let key else { continue }
            if let row = rows[key] {
                owners[row].append(Int32(owner))
            } else {
                rows[key] = owners.count
                owners.append([Int32(owner)])
                try Target.bind(key, to: &binder)
            }
        }
        list = KeyList(values: binder.values, width: Target.keyColumnCount)
        self.owners = owners
    }

    /// The owners that a row of the list stands for.
    func forEachOwner(ofRow row: Int32, _ body: (Int32) -> Void) {
        guard let owners else { return body(row) }
        for owner in owners[Int(row)] { body(owner) }
    }
}

/// Collects the keys that objects hold in one of their to-ones.
@usableFromInline
class AnyToOneKeys {
    let index: Int
    init(_ index: Int) { self.index = index }
}

/// Collects the keys that objects hold in one of their to-ones; `nil` for one that is unset.
final class ToOneKeys<Target: Model>: AnyToOneKeys {
    var keys: [Target.Key?] = []
}
