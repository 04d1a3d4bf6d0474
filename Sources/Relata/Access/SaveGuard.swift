import RelataCore
import RelataEngine

/// The checks of a save against the rights of the store's caller.
struct SaveGuard {
    let rights: any CallerRights
    let transaction: WriteTransaction
    /// The nodes of the new objects.
    private var created: [Int] = []

    init(_ rights: any CallerRights, _ transaction: WriteTransaction) {
        self.rights = rights
        self.transaction = transaction
    }

    private var schema: Schema { transaction.catalog.schema }
    private var connection: Connection { transaction.connection }

    private func compiler(_ access: Access) -> QueryCompiler {
        QueryCompiler(schema: schema, access: access, dialect: connection.dialect)
    }

    // MARK: Before

    /// Checks everything that the save is going to write.
    ///
    /// - Throws: The errors of the rights; ``RelataError/notFound(_:)`` for an object that the caller may not change;
    ///   ``RelataError/invalidReference(entity:property:key:)`` for a link to one that it doesn't see;
    ///   ``RelataError/invalidUse(_:)`` for an edit that would write what the caller may not.
    mutating func check(_ session: SaveSession) throws {
        created = []
        for edit in session.run.plan.edits { try check(edit, of: session) }
        for node in session.run.plan.rows.indices {
            let bucket = session.bucketOf(node)
            let row = session.run.plan.rows[node].row
            try check(node, bucket.role(of: row), bucket, row, key: session.run.key(row: node))
        }
    }

    private mutating func check(
        _ node: Int, _ role: SaveRole, _ bucket: any AnyBucket, _ row: Int, key: KeyValue?
    ) throws {
        let table = bucket.table
        let stored = try storedRow(key, of: table)
        switch role {
        case .link where stored != nil:
            // It stays as it is, unless another object gives it a reference.
            guard bucket.isGivenReferences(row) else { return }
        case .update, .updateColumns:
            if stored == nil { return }  // the save reports that it isn't there
        case .insert where stored != nil: return  // so it does for one that is
        default: break
        }
        try refuseExchange(of: table)
        guard let stored, let key else {
            try rights.check(.create, on: table.name)
            created.append(node)
            return try checkLinks(of: table, try bucket.values(of: row), before: nil)
        }
        try rights.check(.update, on: table.name)
        if try !connection.isSeen(key, of: table, compiler(rights.update))
            || !connection.isSeen(key, of: table, transaction.compiler)
        {
            throw RelataError.notFound(ObjectReference(entity: table.name, key: key))
        }
        if rights.hidesProperties(of: table.name), role == .save || role == .update {
            throw RelataError.invalidUse(
                "\(table.name) has properties that the caller doesn't see, and saving a whole object would unset them: use update(_:id:_:), which writes only what it changes"
            )
        }
        var (values, before) = (try bucket.values(of: row), stored)
        if case .updateColumns(let columns) = role {
            for column in values.indices where !columns.contains(column) { values[column] = stored[column] }
            // They differ from what the caller sees: a hidden link isn't kept by being guessed.
            for column in columns { before[column] = .null }
        }
        if role == .link { values = stored }
        try checkLinks(of: table, values, before: before)
    }

    /// The row as it is stored, for any caller.
    private func storedRow(_ key: KeyValue?, of table: Table) throws -> [Value]? {
        guard let key else { return nil }
        return try connection.row(key, of: table, compiler(.everything))
    }

    /// Refuses new links to objects that the caller doesn't see: whether they exist is hidden, too.
    private func checkLinks(of table: Table, _ values: [Value], before: [Value]?) throws {
        for reference in schema.references where reference.source == table.index {
            let target = schema.tables[reference.target]
            let columns = table.columnIndexes(of: reference.property)
            let key = KeyValue(columns.map { values[$0] })
            let isKept = before.map { before in columns.allSatisfy { before[$0] == values[$0] } } ?? false
            if isKept || key.values.contains(.null) || !rights.read.guards(target) { continue }
            guard try connection.firstHidden(of: [key], in: target, transaction.compiler) == nil else {
                throw RelataError.invalidReference(entity: table.name, property: reference.property, key: key)
            }
        }
    }

    /// Refuses edits of lists in which other objects may be hidden or protected: an edit writes, or counts, all of
    /// them.
    private func check(_ edit: LinkEdits, of session: SaveSession) throws {
        let target = schema.tables[edit.link.target]
        let deletes = edit.link.inverse.map { schema.references[$0].removeRule == .delete } ?? false
        let isLimited =
            rights.read.guards(target) || rights.update.guards(target) || deletes && rights.delete.guards(target)
        guard isLimited else {
            if deletes { try rights.check(.delete, on: target.name) }
            return try rights.check(.update, on: target.name)
        }
        throw RelataError.invalidUse(
            "\(edit.link.name) can't be edited in a caller's name, because rights limit its \(target.name) objects: set the link in each of them, or use the store itself"
        )
    }

    /// Refuses to take the partner of a one-to-one from an object that the caller may not change.
    private func refuseExchange(of table: Table) throws {
        guard rights.update.guards(table) else { return }
        let taken = schema.references.first {
            $0.source == table.index && $0.isUnique && $0.inverse != nil && $0.isOptional
        }
        guard let taken else { return }
        throw RelataError.invalidUse(
            "\(table.name).\(taken.property) can be taken from an object that the caller may not change: use the store itself"
        )
    }

    // MARK: After

    /// Checks and completes the new objects.
    ///
    /// - Throws: The errors of the rights; then nothing of the save stays.
    func complete(_ session: SaveSession) throws {
        var keys: [Int: [KeyValue]] = [:]
        for node in created {
            guard let key = session.run.key(row: node) else { continue }
            keys[session.bucketOf(node).tableIndex, default: []].append(key)
        }
        for (index, keys) in keys.sorted(by: { $0.key < $1.key }) {
            let table = schema.tables[index]
            if try connection.firstHidden(of: keys, in: table, compiler(rights.create)) != nil {
                throw rights.refusal(of: .create, on: table.name)
            }
            try rights.complete(keys, of: table, on: connection)
        }
    }
}
