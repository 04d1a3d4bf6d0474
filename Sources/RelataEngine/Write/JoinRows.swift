import RelataCore

/// Writes the edits of a many-to-many, seen from one side, as rows of its join table.
final class JoinRows {
    private let run: WriteRun
    private let join: Join
    private let isSource: Bool
    private let link: String
    private let side: JoinSide
    private let hasCounts: Bool
    /// Whether the plan has edits on the other side, which may have linked objects already.
    private let isEditedFromOtherSide: Bool
    /// The slot of the statement that inserts a row.
    private let slot: Int
    private var rowSQL: RowSQL { run.rowSQL }

    /// `nil` for a link that isn't a many-to-many.
    init?(_ run: WriteRun, _ link: PlannedLink) {
        guard case .join(let number, let isSource) = link.link else { return nil }
        let schema = run.schema
        self.run = run
        self.isSource = isSource
        self.link = link.name
        join = schema.joins[number]
        side = JoinSide(join, isSource: isSource, in: schema, run.rowSQL)
        hasCounts =
            [join.minimumCount, join.maximumCount, join.inverseMinimumCount, join.inverseMaximumCount] != [
                nil, nil, nil, nil,
            ]
        let other = Link.join(number, isSource: !isSource)
        isEditedFromOtherSide = run.plan.edits.contains { $0.link.link == other }
        slot = RowSQL.Slot.number(join, isSource: isSource, in: schema)
    }

    // MARK: Many together

    /// Whether many rows may be inserted with one statement.
    var areInsertedTogether: Bool { side.isInsertedTogether }

    private var targets: (own: Table, other: Table) {
        let (source, target) = (run.schema.tables[join.source], run.schema.tables[join.target])
        return isSource ? (source, target) : (target, source)
    }

    /// The statement that inserts many rows.
    func insertTogether(isPlaced: Bool, tells: Bool) -> String {
        side.insertTogether(targets.own.keyTypes + targets.other.keyTypes, isPlaced: isPlaced, tells: tells)
    }

    /// Records the links of a statement that returns its rows.
    func recordReturned(_ rows: RemoteRows) throws {
        var (owners, members) = (KeyList(width: side.own.count), KeyList(width: side.other.count))
        for row in 0..<rows.returnedCount {
            let own = KeyValue(try side.own.indices.map { try rows.returnedValue(row: row, column: $0) })
            if owners.last != own { owners.append(own) }
            members.append(
                KeyValue(
                    try side.other.indices.map { try rows.returnedValue(row: row, column: side.own.count + $0) }))
        }
        guard let recorder = run.connection.recorder, recorder.listsRows, !members.isEmpty else { return }
        recorder.recordLink(join, sources: isSource ? owners : members, targets: isSource ? members : owners)
    }

    /// Records the lists of an owner and its member, if their lengths matter.
    func noteCounts(owner: PlannedKey, member: PlannedKey) throws {
        if hasCounts { note(owner: try run.key(owner), member: try run.key(member)) }
    }

    /// Adds one object to the members of another.
    func insert(_ member: PlannedKey, to owner: PlannedKey, at place: Int64?) throws {
        try noteCounts(owner: owner, member: member)
        try withInsertion { insertion in
            var binder = Binder(insertion)
            guard try run.bind(owner, to: &binder) else { throw Self.withoutKey }
            try add(member, to: owner, insertion)
        }
        if let place { try move(try run.key(member), to: place, of: try run.key(owner)) }
    }

    /// Whether this save inserted an object, which therefore has no members yet.
    func isNew(_ owner: PlannedKey) -> Bool { run.isInserted(owner) && !isEditedFromOtherSide }

    // MARK: One object

    /// Writes the edits of one object's link.
    func write(_ edits: LinkEdits, _ list: OrderedList?) throws {
        // One statement for all added members. The owner's key is bound to it once.
        try withInsertion { insertion in
            var binder = Binder(insertion)
            guard try run.bind(edits.owner, to: &binder) else { throw Self.withoutKey }
            try write(edits, list, insertion)
        }
    }

    private func withInsertion(_ body: (RunningStatement) throws -> Void) throws {
        if run.isSchemaFixed {
            return try run.connection.withStatement(slot: slot, { side.insertion }, body)
        }
        try run.connection.withStatement(side.insertion, body)
    }

    private func write(_ edits: LinkEdits, _ list: OrderedList?, _ insertion: RunningStatement) throws {
        var list = list
        let owner = edits.owner
        if hasCounts { note(owner: try run.key(owner), member: nil) }
        // A newly inserted object is in no list.
        let isNew = isNew(edits.owner)
        for (number, change) in edits.changes.enumerated() {
            switch change {
            case .add(let member):
                try add(member, to: owner, insertion)
                list?.append(try run.key(member))
            case .place(let member, let after):
                try add(member, to: owner, insertion)
                try list?.place(try run.key(member), after: try after.map(run.key), in: link)
            case .remove(let member):
                let key = try run.key(member)
                if !member.isDropped { try remove(key, from: try run.key(owner)) }
                list?.remove(key)
            case .set(let members):
                if number > 0 || !isNew {
                    let kept = members.filter { !$0.isDropped }
                    try removeAll(except: kept.map(run.key), from: try run.key(owner))
                }
                for member in members { try add(member, to: owner, insertion) }
                list?.set(try members.map(run.key))
            }
        }
        guard var list else { return }
        for (key, position) in list.changedPositions() { try move(key, to: position, of: try run.key(owner)) }
    }

    /// Adds a member, unless it is one.
    private func add(_ member: PlannedKey, to owner: PlannedKey, _ insertion: RunningStatement) throws {
        if member.isDropped { return }
        if hasCounts { note(owner: nil, member: try run.key(member)) }
        let connection = run.connection
        var binder = Binder(insertion, index: Int32(side.own.count + 1))
        guard try run.bind(member, to: &binder) else { throw Self.withoutKey }
        do {
            try connection.check(insertion.step(), insertion)
            insertion.reset()
            if connection.recorder?.listsRows == true, connection.changes > 0 {
                record([try run.key(member)], of: try run.key(owner))
            }
        } catch RelataError.database(ConstraintCode.foreignKey, _, _) {
            throw RelataError.invalidReference(
                entity: run.schema.tables[isSource ? join.source : join.target].name, property: link,
                key: try run.key(member))
        }
    }

    static var withoutKey: RelataError { .invalidUse("a linked object has no key after it was saved") }

    /// Makes an object no member.
    private func remove(_ member: KeyValue, from owner: KeyValue) throws {
        if hasCounts { note(owner: nil, member: member) }
        let removed = try run.connection.run(
            SQLStatement(
                "DELETE FROM \(rowSQL.quote(join.table)) WHERE \(isMember(of: owner, from: 1))",
                (owner.values + member.values).map(Parameter.value)))
        if removed > 0 { record([member], of: owner) }
    }

    private func isMember(of owner: KeyValue, from first: Int) -> String {
        side.isOwn(from: first) + " AND " + side.isOther(from: first + owner.values.count)
    }

    /// Removes all members except these.
    private func removeAll(except keys: [KeyValue], from owner: KeyValue) throws {
        let target = run.schema.tables[join.entity(isSource: !isSource)]
        let columns = side.quoted(side.other)
        let list = rowSQL.dialect.rows(ofParameter: owner.values.count + 1, types: target.keyTypes)
        let parameters = owner.values.map(Parameter.value)
        let spared: [Parameter] = keys.isEmpty ? [] : [.keys(keys)]
        let condition = keys.isEmpty ? "" : " AND (\(columns)) NOT IN \(list)"
        let start = "DELETE FROM \(rowSQL.quote(join.table)) WHERE "
        let types = target.keyColumns.map { target.columns[$0].type as AttributeType? }
        let removed: [KeyValue]
        if join.comparesAsDeclared {
            removed = try run.connection.values(
                SQLStatement(
                    start + rowSQL.matches(side.own, from: 1) + condition + " RETURNING " + columns,
                    parameters + spared), types: types
            ).map { KeyValue($0) }
        } else {
            // A deletion returns the stored values.
            removed = try run.connection.values(
                SQLStatement(
                    "SELECT \(columns) FROM \(side.rows) AS r WHERE " + rowSQL.matches(side.own, from: 1) + condition,
                    parameters + spared), types: types
            ).map { KeyValue($0) }
            if removed.isEmpty { return }
            try run.connection.run(
                SQLStatement(
                    start + side.isOwn(from: 1) + " AND " + side.isOther(in: list), parameters + [.keys(removed)]))
        }
        if hasCounts { for key in removed { note(owner: nil, member: key) } }
        record(removed, of: owner)
    }

    /// Writes a member's position.
    private func move(_ member: KeyValue, to position: Int64, of owner: KeyValue) throws {
        guard let order = side.order else { return }
        try run.connection.run(
            SQLStatement(
                "UPDATE \(rowSQL.quote(join.table)) SET \(rowSQL.quote(order)) = \(rowSQL.dialect.parameter(1)) WHERE "
                    + isMember(of: owner, from: 2),
                ([.integer(position)] + owner.values + member.values).map(Parameter.value)))
        run.connection.recorder?.record(
            .update, isSource ? join.source : join.target, owner, properties: [link])
    }

    /// Records that objects were linked, or unlinked.
    private func record(_ members: [KeyValue], of owner: KeyValue) {
        guard let recorder = run.connection.recorder, recorder.listsRows, !members.isEmpty else { return }
        let (own, others) = (KeyList([owner]), KeyList(members))
        recorder.recordLink(join, sources: isSource ? own : others, targets: isSource ? others : own)
    }

    private func note(owner: KeyValue?, member: KeyValue?) {
        run.counted.noteSides(of: join, isSource ? owner : member, isSource ? member : owner)
    }
}
