import RelataCore
import RelataEngine

/// One save: the records that are given and the new ones that they link to, from being gathered to being written.
///
/// Gathering first creates missing classes and fields, if use creates them, and then finds the objects. Their rows and
/// links are planned and checked, and a ``WriteRun`` writes them.
final class RecordSave {
    /// An object to save.
    struct Node {
        let layout: RecordLayout
        /// The records of the object; several if it is saved twice at once.
        var records: [Record]
        /// The key, if it is known.
        var key: KeyValue?
        /// Whether an object with that key may be stored.
        let mayBeStored: Bool
        /// The values that fields have in columns.
        var columns: [Int: Value]
        /// To-ones that lead to other nodes, by the number of the reference.
        var references: [Int: Int] = [:]
        /// References that other nodes' lists give the object.
        var given: Set<Int> = []
        /// The set relationships, by field.
        var members: [String: [Member]]
        /// The additions to lists and removals from them, by field.
        var listChanges: [String: [(isAdded: Bool, member: Member)]]
        /// The number of its row in the plan.
        var row = 0
    }

    /// An object that a node links to.
    enum Member {
        case stored(RecordLink)
        case node(Int)
    }

    let transaction: RecordWriteTransaction
    let run: WriteRun
    var nodes: [Node] = []
    /// The rows by table.
    var batches: [Int: ValueBatch] = [:]
    /// Whether a new object updates the one that has its key.
    let mayExist: Bool
    /// The nodes with known keys.
    private(set) var nodesOfObjects: [ObjectReference: Int] = [:]
    private var finished: [Int: Record] = [:]

    private init(_ transaction: RecordWriteTransaction, mayExist: Bool) {
        self.transaction = transaction
        self.mayExist = mayExist
        run = WriteRun(transaction.connection, schema: transaction.schema, isSchemaFixed: false, now: transaction.now)
    }

    /// Saves records.
    ///
    /// - Parameter mayExist: Whether a new object updates the stored one that has its key.
    /// - Returns: The objects as they are stored.
    static func save(
        _ records: [Record], in transaction: RecordWriteTransaction, mayExist: Bool
    ) throws -> [Record] {
        for record in records { try makeClasses(of: record, in: transaction) }
        let save = RecordSave(transaction, mayExist: mayExist)
        let given = try records.map { try save.gather($0) }
        try save.plan()
        try save.run.run()
        return try given.map { try save.finished($0) }
    }

    // MARK: Gathering

    /// Creates the classes and fields of a record, and of new linked ones, if use creates them.
    private static func makeClasses(of record: Record, in transaction: RecordWriteTransaction) throws {
        // Classes of linked objects come first, because fields lead to them.
        var fields = record.edits
        for (name, changes) in record.listEdits { fields[name] = .links(changes.map(\.link)) }
        for (_, value) in fields.sorted(by: { $0.key < $1.key }) {
            for linked in value.linked.compactMap(\.record) {
                guard let reference = linked.reference else {
                    try makeClasses(of: linked, in: transaction)
                    continue
                }
                guard let field = linked.editedFields.min() else { continue }
                throw RelataError.invalidUse(
                    "\(field) of \(reference) was set, which a link doesn't write: save that object too, or link to it by its key"
                )
            }
        }
        _ = try ClassDemand(record.className, fields).met(in: transaction)
    }

    /// Finds the node of a record, after those of the records that it links to: new objects get their keys in a fixed
    /// order.
    private func gather(_ record: Record) throws -> Int {
        try Task.checkCancellation()
        var members: [String: [Member]] = [:]
        for (name, value) in record.edits.sorted(by: { $0.key < $1.key }) {
            switch value {
            case .link, .links, .null:
                // A list has each object once.
                var seen: Set<RecordLink> = []
                members[name] = try value.linked.filter { $0.key == nil || seen.insert($0).inserted }.map(member)
            default: break
            }
        }
        var listChanges: [String: [(isAdded: Bool, member: Member)]] = [:]
        for (name, changes) in record.listEdits.sorted(by: { $0.key < $1.key }) {
            listChanges[name] = try changes.map { change in
                switch change {
                case .add(let link): (true, try member(link))
                case .remove(let link): (false, .stored(link))
                }
            }
        }
        var node = try node(of: record, members)
        node.listChanges = listChanges
        guard let key = node.key else { return append(node) }
        let object = ObjectReference(entity: record.className, key: key)
        guard let number = nodesOfObjects[object], record.isStored || mayExist else {
            nodesOfObjects[object] = nodes.count
            return append(node)
        }
        merge(node, into: number)
        return number
    }

    private func member(_ link: RecordLink) throws -> Member {
        guard let record = link.record, !record.isStored else { return .stored(link) }
        return .node(try gather(record))
    }

    private func append(_ node: Node) -> Int {
        nodes.append(node)
        return nodes.count - 1
    }

    /// Merges a later node of an object: its values count.
    private func merge(_ node: Node, into number: Int) {
        let table = node.layout.table
        for column in node.columns.keys {
            if let reference = table.columns[column].reference { nodes[number].references[reference] = nil }
        }
        nodes[number].records += node.records
        nodes[number].columns.merge(node.columns) { $1 }
        nodes[number].references.merge(node.references) { $1 }
        nodes[number].members.merge(node.members) { $1 }
        for name in node.members.keys { nodes[number].listChanges[name] = nil }
        nodes[number].listChanges.merge(node.listChanges) { $0 + $1 }
    }

    // MARK: Results

    /// An object as it is stored.
    private func finished(_ number: Int) throws -> Record {
        if let record = finished[number] { return record }
        let node = nodes[number]
        let table = node.layout.table
        guard let row = batches[table.index]?.rows[run.plan.rows[node.row].row] else { return node.records[0] }
        var values = row.values
        // The database may store a computed value in another form.
        let isComputed = row.columns == nil && table.columns.contains { $0.defaultSQL != nil }
        if let key = row.key, isComputed || run.touched[table.index]?.contains(key) == true {
            values = try run.connection.row(key, of: table, transaction.compiler) ?? values
        }
        // It may be among the objects that it links to.
        finished[number] = Record(node.layout, row: values)
        let record = Record(node.layout, row: values, loaded: try loaded(node))
        finished[number] = record
        return record
    }

    /// The known relationships of the saved object: loaded ones, and set ones.
    private func loaded(_ node: Node) throws -> [String: LoadedRecords] {
        var loaded = node.records.reduce(into: [:]) { all, record in all.merge(record.loaded) { $1 } }
        for (name, members) in node.members {
            let records = try members.map { try link(to: $0).record }
            if case .related(_, _, isToMany: true)? = node.layout[name] {
                loaded[name] = records.contains(nil) ? nil : .many(records.compactMap(\.self))
            } else {
                loaded[name] = records.first?.map { .one($0) }
            }
        }
        for (name, changes) in node.listChanges {
            guard case .many(let records)? = loaded[name] else { continue }
            var links = records.map { RecordLink($0) }
            for (isAdded, member) in changes {
                let link = try link(to: member)
                (isAdded ? ListEdit.add(link) : .remove(link)).apply(to: &links)
            }
            loaded[name] = links.allSatisfy { $0.record != nil } ? .many(links.compactMap(\.record)) : nil
        }
        return loaded
    }

    private func link(to member: Member) throws -> RecordLink {
        switch member {
        case .node(let number): RecordLink(try finished(number))
        case .stored(let link): try link.record.map { RecordLink(try current($0)) } ?? link
        }
    }

    /// The stored member: being in a list may change its own row.
    private func current(_ record: Record) throws -> Record {
        guard let layout = record.layout, let key = record.key,
            run.touched[layout.table.index]?.contains(key) == true,
            let row = try run.connection.row(key, of: layout.table, transaction.compiler)
        else { return record }
        return Record(layout, row: row, loaded: record.loaded)
    }
}

extension RecordValue {
    /// The links of a relationship that was set.
    fileprivate var linked: [RecordLink] {
        switch self {
        case .link(let link): [link]
        case .links(let links): links
        default: []
        }
    }
}
