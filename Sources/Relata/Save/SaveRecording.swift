import RelataCore
import RelataEngine

// The reports of saves to observers of the store. Without observers, each costs one check of `recorder`.

extension RowWriter {
    /// Records that rows were inserted.
    func noteInserted(_ objects: [M]) throws {
        guard let recorder = connection.recorder, recorder.listsRows else { return }
        var binder = Binder(collecting: objects.count * M.keyColumnCount)
        for index in objects.indices { _ = try M.bindKey(of: objects, at: index, to: &binder) }
        recorder.record(.insert, table.index, KeyList(values: binder.values, width: M.keyColumnCount))
    }

    /// Reports that a row was inserted, or written; its key may come from the database or from linked objects.
    func note(
        _ kind: Change.Kind, _ object: M, _ overrides: Overrides, columns: [Int]? = nil, rowID: Int64? = nil
    ) throws {
        guard let recorder = connection.recorder, recorder.listsRows else { return }
        if columns?.isEmpty == true { return }  // only edits on its links, which are told by themselves
        let key = try rowID.map { KeyValue(.integer($0)) } ?? key(of: object, overrides)
        let properties = kind == .update ? table.properties(of: columns ?? RowSQL.written(table)) : []
        recorder.record(kind, table.index, key, properties: properties)
    }
}
