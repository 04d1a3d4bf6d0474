import RelataCore
import RelataEngine

/// What can be told of imported rows only when all are there: whether the objects that they lead to are, and whether lists
/// have as many members as they must and may.
struct ImportSettlement {
    private let pass: ImportPass
    private let wait: ForeignKeyWait
    private var connection: Connection { pass.transaction.connection }
    private var schema: Schema { pass.transaction.schema }

    /// Rows that are bad, by their tables and keys.
    private typealias Culprits = [Int: [KeyValue: RowProblem]]

    init(_ pass: ImportPass, _ wait: ForeignKeyWait) {
        self.pass = pass
        self.wait = wait
    }

    /// Refuses rows, and takes them back where others are imported without them.
    func run() throws {
        while true {
            var culprits = try self.culprits()
            if culprits.isEmpty { return }
            if pass.options.skipsBadRows { try addThoseWhoLead(to: &culprits) }
            let found = try refuse(culprits)
            guard pass.options.skipsBadRows else { return }
            // An object that was updated can't be taken back, and one that nobody finds in the files isn't the import's.
            guard pass.options.onConflict != .update, !found.isEmpty else { throw refusal(culprits) }
            // An engine that was asked checks at once from then on.
            if try !connection.driver.referencesWait() { try connection.driver.setReferencesWait(true) }
            for (table, keys) in found {
                let writer = pass.writer(of: table)
                for key in keys { try writer.takeBack(key) }
            }
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

    // MARK: Finding them

    private func culprits() throws -> Culprits {
        var culprits: Culprits = [:]
        if try wait.findDangling() {
            for table in pass.writers.keys { try findDangling(in: table, &culprits) }
            if culprits.isEmpty {
                throw RelataError.invalidUse(
                    "some of the rows refer to others that aren't there, by a foreign key that no relationship stands for: nothing was imported"
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

    /// Finds the rows of a table that lead to what isn't there.
    private func findDangling(in number: Int, _ culprits: inout Culprits) throws {
        let table = pass.content.tables[number]
        let dialect = connection.dialect
        for key in keys(of: table) {
            let own = table.copied.key.map { table.copied.columns[$0] }
            let sql =
                "SELECT \(dialect.list(own.map(\.name) + key.columns, of: "s")) FROM \(dialect.quote(table.copied.table)) AS s "
                + "WHERE \(dialect.areSet(key.columns, of: "s")) AND NOT EXISTS "
                + "(SELECT 1 FROM \(dialect.quote(key.target.sqlName)) AS t "
                + "WHERE \(dialect.matches(key.targetColumns, of: "t", key.columns, of: "s")))"
            let types =
                own.map(\.type) + key.columns.map { name in table.copied.columns.first { $0.name == name }?.type }
            try connection.rows(SQLStatement(sql)) { row throws(RelataError) in
                let values = (0..<row.columnCount).map { row.value(at: $0, as: types[$0]) }
                let target = KeyValue(Array(values[own.count...]))
                culprits[number, default: [:]][KeyValue(Array(values[..<own.count]))] = RowProblem(
                    "leads to \(key.target.name) \(target), which isn't there", field: key.field)
            }
        }
    }

    /// Finds the rows that lead to bad ones, and so on: without those they would lead nowhere.
    private func addThoseWhoLead(to culprits: inout Culprits) throws {
        var next = culprits
        while !next.isEmpty {
            var found: Culprits = [:]
            for number in pass.writers.keys {
                let table = pass.content.tables[number]
                for key in keys(of: table) {
                    guard let target = self.table(of: key.target.name), let bad = next[target],
                        key.targetColumns == key.target.keyColumnNames
                    else { continue }
                    for value in bad.keys {
                        for row in try rows(of: table, leadingTo: value, by: key) where culprits[number]?[row] == nil {
                            found[number, default: [:]][row] = RowProblem(
                                "leads to \(key.target.name) \(value), which is on a bad row", field: key.field)
                        }
                    }
                }
            }
            culprits.merge(found) { $0.merging($1) { first, _ in first } }
            next = found
        }
    }

    private func rows(of table: MovedTable, leadingTo value: KeyValue, by key: Key) throws(RelataError) -> [KeyValue] {
        let dialect = connection.dialect
        let own = table.copied.key.map { table.copied.columns[$0] }
        let condition = key.columns.enumerated().map { number, name in
            let type = table.copied.columns.first { $0.name == name }?.type ?? .integer
            return "\(dialect.quote(name)) = \(dialect.parameter(number + 1, as: type))"
        }.joined(separator: " AND ")
        let sql = "SELECT \(dialect.list(own.map(\.name))) FROM \(dialect.quote(table.copied.table)) WHERE \(condition)"
        return try connection.values(SQLStatement(sql, value.values.map(Parameter.value)), types: own.map(\.type)).map {
            KeyValue($0)
        }
    }

    // MARK: Finding their lines

    /// Reads the files again and notes the bad rows with their lines.
    ///
    /// - Returns: The keys that were found, those first that lead to others.
    private func refuse(_ culprits: Culprits) throws -> [(table: Int, keys: [KeyValue])] {
        var rest = culprits
        var found: [Int: [KeyValue]] = [:]
        for file in pass.content.files.indices {
            let source = try pass.content.source(file)
            var number = 0
            while let result = try source.next() {
                number += 1
                guard case .row(let raw) = result, rest[raw.table]?.isEmpty == false,
                    !pass.isBad(file: file, line: raw.line)
                else { continue }
                let reader = pass.reader(of: raw.table)
                let row = source.input.bytes.withUnsafeBufferPointer {
                    try? reader.row(raw, in: $0, file: file, number: number)
                }
                guard let row, !row.isKeyAssigned else { continue }
                let key = reader.table.key(row.values)
                guard let problem = rest[raw.table]?.removeValue(forKey: key) else { continue }
                try pass.refuse(problem, table: raw.table, file: file, line: raw.line)
                found[raw.table, default: []].append(key)
            }
        }
        if found.isEmpty { try refuseUnfound(rest) }
        // Lists first, and then classes, those that lead to others before these.
        return found.sorted { $0.key > $1.key }.map { ($0.key, $0.value) }
    }

    /// Notes rows whose keys the database assigned: no line tells them.
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
