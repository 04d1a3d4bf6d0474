/// The rows of a join table that belong to one object, seen from its side.
struct JoinRows {
    private let session: SaveSession
    private let join: Join
    private let isSource: Bool
    private let owner: KeyValue
    private let link: String
    private let side: JoinSide
    /// Inserts a row: its text depends on the join alone, and a list may have many members.
    private let insertion: String

    init(session: SaveSession, join: Join, isSource: Bool, owner: KeyValue, link: String) {
        self.session = session
        self.join = join
        self.isSource = isSource
        self.owner = owner
        self.link = link
        side = JoinSide(join, isSource: isSource)
        insertion = side.insertion(into: join)
    }

    /// Makes an object a member; nothing happens if it is one.
    func add(_ member: KeyValue) throws {
        note(member)
        let values = owner.values + member.values
        do {
            if try session.connection.run(SQLStatement(insertion, values.map(Parameter.value))) > 0 {
                record([member])
            }
        } catch {
            guard case .database(let code, _, _) = error, Int32(code) == SQLITE_CONSTRAINT_FOREIGNKEY_ else {
                throw error
            }
            throw RelataError.invalidReference(
                entity: session.catalog.schema.tables[isSource ? join.source : join.target].name, property: link,
                key: member)
        }
    }

    /// Makes an object no member.
    func remove(_ member: KeyValue) throws {
        note(member)
        let removed = try session.connection.run(
            SQLStatement(
                "DELETE FROM \(RowSQL.quote(join.table)) WHERE " + RowSQL.matches(side.own + side.other, from: 1),
                (owner.values + member.values).map(Parameter.value)))
        if removed > 0 { record([member]) }
    }

    /// Makes all objects but these no members.
    func removeAll(except keys: [KeyValue]) throws {
        let columns = side.other.map(RowSQL.quote).joined(separator: ", ")
        let list = Dialect.sqlite.rows(ofParameter: owner.values.count + 1, columns: side.other.count)
        let (condition, parameters): (String, [Parameter]) =
            keys.isEmpty ? ("", []) : (" AND (\(columns)) NOT IN \(list)", [.keys(keys)])
        let target = session.catalog.schema.tables[isSource ? join.target : join.source]
        let removed = try session.connection.values(
            SQLStatement(
                "DELETE FROM \(RowSQL.quote(join.table)) WHERE " + RowSQL.matches(side.own, from: 1) + condition
                    + " RETURNING " + columns, owner.values.map(Parameter.value) + parameters),
            types: target.keyColumns.map { target.columns[$0].type })
        for key in removed { note(KeyValue(key)) }
        record(removed.map { KeyValue($0) })
    }

    /// Writes a member's position.
    func move(_ member: KeyValue, to position: Int64) throws {
        guard let order = side.order else { return }
        try session.connection.run(
            SQLStatement(
                "UPDATE \(RowSQL.quote(join.table)) SET \(RowSQL.quote(order)) = ?1 WHERE "
                    + RowSQL.matches(side.own + side.other, from: 2),
                ([.integer(position)] + owner.values + member.values).map(Parameter.value)))
        session.connection.recorder?.record(
            .update, isSource ? join.source : join.target, owner, properties: [link])
    }

    /// Says that objects were linked, or are no longer.
    private func record(_ members: [KeyValue]) {
        guard let recorder = session.connection.recorder, recorder.listsRows, !members.isEmpty else { return }
        let (own, others) = (KeyList([owner]), KeyList(members))
        recorder.recordLink(join, sources: isSource ? own : others, targets: isSource ? others : own)
    }

    private func note(_ member: KeyValue) {
        session.counted.noteSides(of: join, isSource ? nil : member, isSource ? member : nil)
    }
}

/// A join table seen from one side.
struct JoinSide {
    let own: [String]
    let other: [String]
    /// The column that orders the members of this side's object, and the one that orders a member's own list.
    let order: String?
    let otherOrder: String?

    init(_ join: Join, isSource: Bool) {
        own = isSource ? join.sourceColumns : join.targetColumns
        other = isSource ? join.targetColumns : join.sourceColumns
        order = isSource ? join.orderColumn : join.inverseOrderColumn
        otherOrder = isSource ? join.inverseOrderColumn : join.orderColumn
    }

    /// The statement that inserts a row, the own key's parameters first. In the member's own list the owner comes last.
    func insertion(into join: Join) -> String {
        var columns = own + other
        var terms = columns.indices.map { "?\($0 + 1)" }
        if let otherOrder {
            let column = RowSQL.quote(otherOrder)
            let list = RowSQL.matches(other, from: own.count + 1)
            columns.append(otherOrder)
            terms.append(
                "(SELECT coalesce(max(\(column)), 0) + \(OrderedList.gap) FROM \(RowSQL.quote(join.table)) WHERE \(list))"
            )
        }
        return "INSERT INTO \(RowSQL.quote(join.table)) (\(columns.map(RowSQL.quote).joined(separator: ", "))) VALUES ("
            + terms.joined(separator: ", ") + ") ON CONFLICT DO NOTHING"
    }
}
