import Relata
import RelataCore

/// One model of a sample: its stored objects and its new objects.
final class SampleEntity {
    let model: any Model.Type
    let table: Table
    /// The keys that the store has.
    let stored: [KeyValue]
    /// The number of objects to create.
    var wanted = 0
    /// The new rows, with a value for each column.
    var rows: [[Value]] = []
    /// The unique sets, as columns, and the values that each already has.
    private var uniques: [(columns: [Int], taken: Set<[Value]>)]
    private let largestKey: Int64
    /// The columns of attributes that order a list.
    private let positions: Set<String>
    /// The attributes, with the places of their columns.
    let samplers: [(column: Int, sampler: AttributeSampler)]

    init(_ model: any Model.Type, _ table: Table, in transaction: WriteTransaction) throws {
        self.model = model
        self.table = table
        let entity = table.entity
        positions = Set(
            transaction.schema.references.filter { $0.source == table.index && !$0.isOrderStored }
                .compactMap(\.orderColumn))
        samplers = table.columns.enumerated().compactMap { index, column in
            entity.attribute(column.property).map { (index, AttributeSampler($0, of: entity)) }
        }
        stored = try transaction.rows(try transaction.all(of: table, table.keyColumnNames)).map { KeyValue($0) }
        largestKey = stored.reduce(0) { largest, key in
            if case .integer(let number)? = key.values.first { max(largest, number) } else { largest }
        }
        uniques = []
        for set in entity.uniques + [entity.key] {
            let columns = set.flatMap { table.columnIndexes(of: $0) }
            let names = columns.map { table.columns[$0].name }
            let rows = stored.isEmpty ? [] : try transaction.rows(try transaction.all(of: table, names))
            uniques.append((columns, []))
            for row in rows { uniques[uniques.count - 1].taken.insert(read(row, columns)) }
        }
    }

    /// The total number of objects.
    var total: Int { stored.count + wanted }

    /// The key of an object: stored objects come first.
    func key(_ index: Int) -> KeyValue {
        if index < stored.count { return stored[index] }
        return KeyValue(table.keyColumns.map { rows[index - stored.count][$0] })
    }

    /// A row with its attributes only.
    func attributes(attempt: Int, _ random: inout SampleRandom) throws -> [Value] {
        var row = Array(repeating: Value.null, count: table.columns.count)
        let number = stored.count + rows.count + 1
        for (column, sampler) in samplers {
            row[column] =
                try stamp(sampler.attribute, number)
                ?? sampler.value(number: number, attempt: attempt, &random)
        }
        // A stamp of insertion has a past date, and the stamp of the last update is equal to it.
        if let updated = table.entity.updatedAt, let created = table.entity.createdAt {
            let columns = [updated, created].compactMap { table.columnIndexes(of: $0).first }
            if columns.count == 2, table.columns[columns[0]].type == table.columns[columns[1]].type {
                row[columns[0]] = row[columns[1]]
            }
        }
        return row
    }

    /// The value that the store itself would write, instead of a random one.
    private func stamp(_ attribute: Attribute, _ number: Int) -> Value? {
        if attribute.name == table.entity.revision { return 1 }
        guard attribute.type == .integer else { return nil }
        let value: Value
        if table.entity.key == [attribute.name] {
            value = .integer(largestKey + Int64(rows.count) + 1)
        } else if positions.contains(attribute.column) {
            value = .integer(Int64(number) * Relationship.Order.gap)
        } else {
            return nil
        }
        return attribute.limits.allSatisfy { $0.failure(of: value, type: .integer) == nil } ? value : nil
    }

    /// Writes the rows, with the places in lists that the store keeps an order of.
    func insert(in transaction: WriteTransaction) throws {
        let references = transaction.schema.references.filter { $0.source == table.index && $0.isOrderStored }
        var columns = table.columns.map(\.name)
        var lists: [(isSet: Int, position: Int64)] = []
        for reference in references {
            guard let order = reference.orderColumn, let column = table.columnIndexes(of: reference.property).first
            else { continue }
            columns.append(order)
            lists.append((column, try transaction.largest(order, in: table.sqlName)))
        }
        for row in rows {
            let places = lists.indices.map { index -> Value in
                lists[index].position += Relationship.Order.gap
                return row[lists[index].isSet].isNull ? .null : .integer(lists[index].position)
            }
            try transaction.execute(.insert(into: table.sqlName, columns, row + places))
        }
    }

    // MARK: Unique sets

    /// The first unique set whose values in the row another object already has, if one exists; `old` is the row as its
    /// values were recorded.
    func collision(of row: [Value], replacing old: [Value]? = nil) -> [String]? {
        for (columns, taken) in uniques {
            let values = read(columns.map { row[$0] }, columns)
            if let old, read(columns.map { old[$0] }, columns) == values { continue }
            if !values.contains(.null), taken.contains(values) { return columns.map { table.columns[$0].property } }
        }
        return nil
    }

    /// Records the values of a row's unique sets.
    func take(_ row: [Value]) {
        for index in uniques.indices {
            let columns = uniques[index].columns
            uniques[index].taken.insert(read(columns.map { row[$0] }, columns))
        }
    }

    private func read(_ values: [Value], _ columns: [Int]) -> [Value] {
        zip(values, columns).map { $0.read(as: table.columns[$1].type) }
    }
}

extension WriteTransaction {
    /// Columns of all rows, in an order that is equal in every run.
    func all(of table: Table, _ columns: [String]) throws -> SQL {
        let dialect = Dialect.sqlite
        return SQL(
            stringLiteral: "SELECT \(dialect.list(columns)) FROM \(dialect.quote(table.sqlName)) ORDER BY "
                + (try stableOrder(of: table)))
    }

    /// The largest value of a column of integers; 0 if it has none.
    func largest(_ column: String, in table: String) throws -> Int64 {
        let rows = try rows("SELECT max(\(name: column)) FROM \(name: table)")
        guard case .integer(let largest)? = rows.first?.first else { return 0 }
        return largest
    }

    /// The number of rows a table has.
    func count(of table: String) throws -> Int {
        guard case .integer(let count)? = try rows("SELECT count(*) FROM \(name: table)").first?.first else { return 0 }
        return Int(count)
    }

    /// The number of rows for each key in columns.
    func counts(of columns: [String], in table: String) throws -> [KeyValue: Int] {
        let dialect = Dialect.sqlite
        let list = dialect.list(columns)
        let sql = "SELECT \(list), count(*) FROM \(dialect.quote(table)) GROUP BY \(list)"
        let counts = try rows(SQL(stringLiteral: sql)).map { row in
            var count = 0
            if case .integer(let number)? = row.last { count = Int(number) }
            return (KeyValue(row.dropLast()), count)
        }
        return Dictionary(counts, uniquingKeysWith: +)
    }
}

extension SQL {
    /// A row inserted into a table.
    static func insert(into table: String, _ columns: [String], _ values: [Value]) -> SQL {
        let dialect = Dialect.sqlite
        let head = "INSERT INTO \(dialect.quote(table)) (\(dialect.list(columns))) VALUES ("
        return SQL(stringInterpolation: list(head, values, ")"))
    }

    private static func list(_ head: String, _ values: [Value], _ tail: String) -> Interpolation {
        var sql = Interpolation(literalCapacity: head.utf8.count, interpolationCount: values.count)
        sql.appendLiteral(head)
        for (index, value) in values.enumerated() {
            if index > 0 { sql.appendLiteral(", ") }
            sql.appendInterpolation(value)
        }
        sql.appendLiteral(tail)
        return sql
    }
}
