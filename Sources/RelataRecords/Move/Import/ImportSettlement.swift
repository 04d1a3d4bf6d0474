import RelataCore
import RelataEngine

/// Checks of imported rows that are possible only at the end: whether their targets exist, and whether lists have valid
/// numbers of members.
struct ImportSettlement {
    private let pass: ImportPass
    private let wait: ForeignKeyWait
    /// The rows that were read in this transaction.
    private let start, end: ImportPlace
    private var connection: Connection { pass.transaction.connection }
    private var schema: Schema { pass.transaction.schema }

    /// Rows that are bad, by their tables and keys.
    private typealias Culprits = [Int: [KeyValue: RowProblem]]

    /// A bad row that this transaction has written.
    private struct Found {
        let table: Int
        let key: KeyValue
        let problem: RowProblem
        let file, line: Int
    }

    init(_ pass: ImportPass, _ wait: ForeignKeyWait, from start: ImportPlace, to end: ImportPlace) {
        self.pass = pass
        self.wait = wait
        (self.start, self.end) = (start, end)
    }

    /// Refuses rows, and removes them if others are imported without them.
    func run() throws {
        while true {
            let culprits = try self.culprits()
            if culprits.isEmpty { return }
            var found = try find(culprits)
            // An update can't be undone, and an object that existed before isn't the import's.
            guard pass.options.skipsBadRows, pass.options.onConflict != .update, !found.isEmpty else {
                try refuse(found)
                if found.isEmpty { try refuseUnfound(culprits) }
                guard pass.options.skipsBadRows else { return }
                throw refusal(culprits)
            }
            let stored = Self.without(found, culprits.mapValues { $0.filter { !$1.isReference } })
            guard stored.isEmpty else { throw refusal(stored) }
            found += try findThoseWhoLead(to: found)
            try refuse(found)
            try takeBack(found)
        }
    }

    private func refusal(_ culprits: Culprits) -> RelataError {
        let failures = culprits.flatMap { table, keys in
            keys.map { key, problem in
                ValidationFailure(
                    entity: pass.content.tables[table].name, property: problem.field, key: key, message: problem.reason)
            }
        }
        return .validation(failures)
    }

    /// The targets that weren't found.
    private static func without(_ found: [Found], _ culprits: Culprits) -> Culprits {
        var rest = culprits
        for row in found { rest[row.table]?[row.key] = nil }
        return rest.filter { !$0.value.isEmpty }
    }

    /// Removes rows, of lists first, and then of classes.
    private func takeBack(_ found: [Found]) throws {
        // From then on, the engine checks immediately.
        if try !connection.driver.referencesWait() { try connection.driver.setReferencesWait(true) }
        for row in found.sorted(by: { $0.table > $1.table }) { try pass.writer(of: row.table).takeBack(row.key) }
    }

    // MARK: Finding them

    private func culprits() throws -> Culprits {
        var culprits: Culprits = [:]
        if try wait.findDangling() {
            for table in pass.writers.keys { try findDangling(in: table, &culprits) }
            if culprits.isEmpty {
                throw RelataError.invalidUse(
                    "some of the rows refer to others that don't exist, by a foreign key without a relationship: nothing was imported"
                )
            }
        }
        do {
            try pass.counts.check(connection: connection, schema: schema)
        } catch RelataError.validation(let failures) {
            for failure in failures {
                guard let key = failure.key, let table = table(of: failure.entity) else { continue }
                culprits[table, default: [:]][key] = RowProblem(failure.message, field: failure.property)
            }
        }
        return culprits
    }

    private func table(of name: String) -> Int? { pass.content.tables.firstIndex { $0.name == name } }

    /// A foreign key of a table.
    private struct Key {
        let columns: [String]
        let target: Table
        let targetColumns: [String]
        let field: String
    }

    private func keys(of table: MovedTable) -> [Key] {
        switch table.owner {
        case .entity(let number):
            return schema.foreignKeys.filter { $0.source == number && $0.isEnforced }.map {
                Key(
                    columns: $0.columns, target: schema.tables[$0.target], targetColumns: $0.targetColumns,
                    field: $0.property)
            }
        case .join(let number):
            let join = schema.joins[number]
            return [(join.sourceColumns, join.source), (join.targetColumns, join.target)].map { columns, side in
                let target = schema.tables[side]
                return Key(
                    columns: columns, target: target, targetColumns: target.keyColumnNames,
                    field: columns.joined(separator: ", "))
            }
        }
    }

    /// Finds the rows of a table with dangling references.
    private func findDangling(in number: Int, _ culprits: inout Culprits) throws {
        let dialect = connection.dialect
        for key in keys(of: pass.content.tables[number]) {
            let condition =
                "\(dialect.areSet(key.columns, of: "s")) AND NOT EXISTS "
                + "(SELECT 1 FROM \(dialect.quote(key.target.sqlName)) AS t "
                + "WHERE \(dialect.matches(key.targetColumns, of: "t", key.columns, of: "s")))"
            try forEachRow(of: number, where: condition, [], key) { row, target in
                culprits[number, default: [:]][row] = RowProblem(
                    "leads to \(key.target.name) \(target), which doesn't exist", field: key.field, isReference: true)
            }
        }
    }

    /// Finds the rows that refer to bad ones, and so on: without those they would dangle.
    ///
    /// - Throws: ``RelataError/validation(_:)`` if one of them existed before.
    private func findThoseWhoLead(to found: [Found]) throws -> [Found] {
        var known: [Int: Set<KeyValue>] = [:]
        for row in found { known[row.table, default: []].insert(row.key) }
        var culprits: Culprits = [:]
        var next = known
        while !next.isEmpty {
            var reached: [Int: Set<KeyValue>] = [:]
            for number in pass.content.tables.indices {
                for key in keys(of: pass.content.tables[number]) {
                    guard let target = self.table(of: key.target.name), let bad = next[target],
                        key.targetColumns == key.target.keyColumnNames
                    else { continue }
                    let condition =
                        "(\(connection.dialect.list(key.columns, of: "s"))) IN "
                        + connection.dialect.rows(ofParameter: 1, types: key.target.keyTypes)
                    try forEachRow(of: number, where: condition, [.keys(Array(bad))], key) { row, target in
                        guard known[number, default: []].insert(row).inserted else { return }
                        reached[number, default: []].insert(row)
                        culprits[number, default: [:]][row] = RowProblem(
                            "leads to \(key.target.name) \(target), which is on a bad row", field: key.field)
                    }
                }
            }
            next = reached
        }
        if culprits.isEmpty { return [] }
        let leading = try find(culprits)
        let stored = Self.without(leading, culprits)
        guard stored.isEmpty else { throw refusal(stored) }
        return leading
    }

    /// Iterates over the rows of a table that meet a condition: the key of each, and the target of one of its foreign
    /// keys.
    private func forEachRow(
        of number: Int, where condition: String, _ parameters: [Parameter], _ key: Key,
        _ body: (_ row: KeyValue, _ target: KeyValue) -> Void
    ) throws {
        let table = pass.content.tables[number].copied
        let dialect = connection.dialect
        let own = table.key.map { table.columns[$0] }
        let sql =
            "SELECT \(dialect.list(own.map(\.name) + key.columns, of: "s")) FROM \(dialect.quote(table.table)) AS s "
            + "WHERE \(condition)"
        let types = own.map(\.type) + key.columns.map { name in table.columns.first { $0.name == name }?.type }
        try connection.rows(SQLStatement(sql, parameters)) { row throws(RelataError) in
            let values = (0..<row.columnCount).map { row.value(at: $0, as: types[$0]) }
            body(KeyValue(Array(values[..<own.count])), KeyValue(Array(values[own.count...])))
        }
    }

    // MARK: Finding their lines

    /// Reads the files of this transaction again, and finds the bad rows among the written ones.
    private func find(_ culprits: Culprits) throws -> [Found] {
        var rest = culprits
        var found: [Found] = []
        _ = try pass.forEachRow(from: start, rows: end.rows - start.rows) { result, source, place in
            guard case .row(let raw) = result, rest[raw.table]?.isEmpty == false, pass.written.contains(place.rows),
                !pass.isBad(file: place.file, line: raw.line)
            else { return }
            let reader = pass.reader(of: raw.table)
            let row = source.input.bytes.withUnsafeBufferPointer {
                try? reader.row(raw, in: $0, file: place.file, number: place.rows)
            }
            guard let row, !row.isKeyAssigned else { return }
            let key = reader.table.key(row.values)
            guard let problem = rest[raw.table]?.removeValue(forKey: key) else { return }
            found.append(Found(table: raw.table, key: key, problem: problem, file: place.file, line: raw.line))
        }
        return found
    }

    /// Records bad rows with their lines.
    private func refuse(_ found: [Found]) throws {
        for row in found.sorted(by: { ($0.file, $0.line) < ($1.file, $1.line) }) {
            try pass.refuse(row.problem, table: row.table, file: row.file, line: row.line)
        }
    }

    /// Records rows whose keys the database assigned, and objects that existed before: their lines can't be found.
    private func refuseUnfound(_ culprits: Culprits) throws {
        for (table, keys) in culprits {
            for (key, problem) in keys {
                let problem = RowProblem(
                    "\(ObjectReference(entity: pass.content.tables[table].name, key: key)) \(problem.reason)",
                    field: problem.field)
                let file = pass.content.files.firstIndex { $0.table == table } ?? 0
                try pass.refuse(problem, table: table, file: file, line: nil)
            }
        }
    }
}
