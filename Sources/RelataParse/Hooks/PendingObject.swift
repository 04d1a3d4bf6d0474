import Relata
import RelataCore
import RelataEngine

/// An object that is about to be written.
struct PendingObject {
    let parseClass: ParseClass
    /// The object's key, if it is known.
    let key: KeyValue?
    /// The object's row before the change; `nil` for a new object.
    let row: [Value]?
    /// The object's row after the change.
    let values: [Value]

    /// A new object.
    init(_ parseClass: ParseClass, key: KeyValue?, values: [Value]) {
        self.parseClass = parseClass
        self.key = key
        self.values = values
        row = nil
    }

    /// An existing object.
    ///
    /// - Parameter changes: New values by column.
    init(_ parseClass: ParseClass, key: KeyValue, row: [Value], changes: [Int: Value]) {
        self.parseClass = parseClass
        self.key = key
        self.row = row
        var values = row
        for (column, value) in changes { values[column] = value }
        if !changes.isEmpty, let column = parseClass.revision, case .integer(let revision) = row[column] {
            values[column] = .integer(revision &+ 1)
        }
        self.values = values
    }

    /// The app's changes, by column. The store's stamps stay unchanged.
    ///
    /// - Throws: `RelataError.invalidUse` if the app changes the key.
    fileprivate func changes(
        from given: any Model, to object: any Model, in transaction: WriteTransaction
    ) throws -> [Int: Value] {
        let (before, after) = (try transaction.values(of: given), try transaction.values(of: object))
        let stamps = [parseClass.createdAt, parseClass.updatedAt, parseClass.revision]
        var changes: [Int: Value] = [:]
        for (column, value) in after.enumerated() where value != before[column] && !stamps.contains(column) {
            guard !parseClass.table.keyColumns.contains(column) else {
                throw RelataError.invalidUse(
                    "beforeSave gave \(parseClass.name.withArticle) another key, which an object keeps: insert another object in the transaction"
                )
            }
            changes[column] = value
        }
        return changes
    }
}

extension ParseTransaction {
    /// The transaction as an app's models see it.
    var typed: WriteTransaction? { models?.store.transaction(on: connection, now: now) }

    /// Writes an object after the app's hooks have changed it and its model has validated it.
    ///
    /// - Parameters:
    ///   - object: The object; `nil` for a class without a model.
    ///   - write: Writes the row with the app's changes, by column, and returns the key.
    /// - Returns: The key.
    @discardableResult
    func save(_ object: PendingObject?, write: ([Int: Value]) throws -> KeyValue) throws -> KeyValue {
        guard let object, let typed, let binding = models?.bindings[object.parseClass.name] else {
            return try write([:])
        }
        let given = try binding.object(values: object.values, in: typed)
        let result = try binding.checked(given, original: object.row, in: typed)
        let place = agenda.events.count
        guard !ModelBinding.isEqual(result, given) else {
            let key = try write([:])
            note(key, binding, at: place)
            return key
        }
        let changes = try object.changes(from: given, to: result, in: typed)
        var stored = object.key
        let counts = try typed.save(
            result, key: object.key, isNew: object.row == nil, columns: Set(changes.keys)
        ) { keys in
            let key = try write(changes.merging(keys) { $1 })
            stored = key
            return key
        }
        agenda.counts.merge(counts)
        guard let key = stored else { throw RelataError.invalidUse("\(object.parseClass.name) has no key") }
        note(key, binding, at: place)
        return key
    }

    /// Records that an object was saved. It precedes the objects that were saved with it.
    private func note(_ key: KeyValue, _ binding: ModelBinding, at place: Int) {
        if !binding.afterSave.isEmpty { agenda.events.insert(.saved(binding, key), at: place) }
    }

    /// The hooks to call after the transaction, for the objects saved and deleted so far. The objects are read at its
    /// end, because later requests of a batch may have changed them again.
    func actions() throws -> [Action] {
        guard !agenda.events.isEmpty, let typed else { return [] }
        var actions: [Action] = []
        for event in agenda.events {
            switch event {
            case .saved(let binding, let key):
                guard let object = try binding.object(key, typed) else { continue }
                actions += binding.afterSave.map { hook in { await hook(object) } }
            case .deleted(let binding, let object):
                actions += binding.afterDelete.map { hook in { await hook(object) } }
            }
        }
        return actions
    }
}
