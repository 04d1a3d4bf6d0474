import RelataCore

/// What some transactions did to the objects of each class, one after the other.
struct LiveChanges: Sendable {
    /// What was done to an object.
    struct OfObject: Sendable {
        var isInserted = false
        var isDeleted = false
        /// The fields that were written; `nil` where nobody knows.
        var fields: Set<String>? = []
        /// Its place among the objects that were changed.
        var order = Int.max

        /// Something that nobody knows.
        static let unknown = OfObject(fields: nil)
    }

    /// What was done to the objects of a class.
    struct OfClass: Sendable {
        var objects: [KeyValue: OfObject] = [:]
        /// Whether objects were changed of which nobody knows which.
        var isUnknown = false
    }

    private(set) var classes: [String: OfClass] = [:]
    private var count = 0

    /// Something that nobody knows happened to objects of classes.
    init(unknownOf names: [String]) {
        for name in names { classes[name] = OfClass(isUnknown: true) }
    }

    init(_ sets: [ChangeSet]) {
        for change in sets.lazy.flatMap(\.changes) { add(change) }
    }

    /// How many objects were changed.
    var objectCount: Int { classes.values.reduce(0) { $0 + $1.objects.count } }

    /// Adds what later transactions did.
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
        case .delete: isDeleted = true
        case .update, .unknown: fields?.formUnion(change.properties)
        }
    }
}
