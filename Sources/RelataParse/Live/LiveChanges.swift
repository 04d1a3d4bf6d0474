import RelataCore

/// The changes that some consecutive transactions made to the objects of each class.
struct LiveChanges: Sendable {
    /// The changes of one object.
    struct OfObject: Sendable {
        var isInserted = false
        var isDeleted = false
        /// The written fields; `nil` if they are unknown.
        var fields: Set<String>? = []
        /// The object's position among the changed objects.
        var order = Int.max

        /// An unknown change.
        ///
        /// - Parameter isInserted: Whether the object is new.
        static func unknown(isInserted: Bool = false) -> OfObject { OfObject(isInserted: isInserted, fields: nil) }
    }

    /// The changes of one class's objects.
    struct OfClass: Sendable {
        var objects: [KeyValue: OfObject] = [:]
        /// Whether unknown objects were changed, too.
        var isUnknown = false
    }

    private(set) var classes: [String: OfClass] = [:]
    private var count = 0

    /// Unknown changes of objects of these classes.
    init(unknownOf names: [String]) {
        for name in names { classes[name] = OfClass(isUnknown: true) }
    }

    init(_ sets: [ChangeSet]) {
        for change in sets.lazy.flatMap(\.changes) { add(change) }
    }

    /// The number of changed objects.
    var objectCount: Int { classes.values.reduce(0) { $0 + $1.objects.count } }

    /// Adds the changes of later transactions.
    mutating func add(_ later: LiveChanges) {
        for (name, ofClass) in later.classes {
            if ofClass.isUnknown { classes[name, default: OfClass()].isUnknown = true }
            for (key, change) in ofClass.objects {
                var object = classes[name, default: OfClass()].objects[key] ?? OfObject()
                object.isInserted = object.isInserted || change.isInserted
                object.isDeleted = change.isDeleted
                object.fields = object.fields.flatMap { fields in change.fields.map(fields.union) }
                object.order = count + change.order
                classes[name, default: OfClass()].objects[key] = object
            }
        }
        count += later.count
    }

    private mutating func add(_ change: Change) {
        if change.kind == .unknown {
            classes[change.entity, default: OfClass()].isUnknown = true
            return
        }
        for key in change.keys {
            count += 1
            classes[change.entity, default: OfClass()].objects[key, default: OfObject(order: count)].add(change)
        }
    }
}

extension LiveChanges.OfObject {
    fileprivate mutating func add(_ change: Change) {
        switch change.kind {
        case .insert: (isInserted, isDeleted) = (true, false)
        // If the same key is inserted again, the object may differ in all fields.
        case .delete: (isDeleted, fields) = (true, nil)
        case .update, .unknown: fields?.formUnion(change.properties)
        }
    }
}
