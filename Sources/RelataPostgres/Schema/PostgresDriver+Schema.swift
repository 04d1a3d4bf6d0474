#if PostgreSQL
import RelataCore
import RelataEngine

/// The database's tables: those of the schema that unqualified names find.
extension PostgresDriver {
    package func hasTable(_ name: String, _ connection: Connection) throws(RelataError) -> Bool {
        let sql = """
            SELECT 1 FROM pg_class
            WHERE relname = $1::text AND relnamespace = to_regnamespace(quote_ident(current_schema()))
                AND relkind IN ('r', 'p')
            """
        return try connection.value(SQLStatement(sql, [.value(.text(name))])) != nil
    }

    package func tables(
        named names: [String]?, hidesReserved: Bool, _ connection: Connection
    ) throws(RelataError) -> [TableDescription] {
        var reader = PostgresTableReader(connection, names: names, hidesReserved: hidesReserved)
        try reader.read()
        return reader.tables
    }

    package func columnNames(of table: String, _ connection: Connection) throws(RelataError) -> [String] {
        let sql = """
            SELECT a.attname::text FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
            WHERE c.relname = $1::text AND c.relnamespace = to_regnamespace(quote_ident(current_schema()))
                AND a.attnum > 0 AND a.attname <> '\(SearchIndex.column)'
                AND NOT a.attisdropped ORDER BY a.attnum
            """
        return try connection.values(SQLStatement(sql, [.value(.text(table))])).map { $0[0].description }
    }

    package func otherTables(_ connection: Connection) throws(RelataError) -> [String: String] {
        var kinds: [String: String] = [:]
        let sql = """
            SELECT relname::text, relkind::text FROM pg_class
            WHERE relnamespace = to_regnamespace(quote_ident(current_schema())) AND relkind IN ('v', 'm', 'f')
            """
        try connection.rows(SQLStatement(sql)) { row in
            kinds[row.text(at: 0)] =
                switch row.text(at: 1) {
                case "v": "a view"
                case "m": "a materialized view"
                default: "a foreign table"
                }
        }
        return kinds
    }

    package func triggers(of table: String, _ connection: Connection) throws(RelataError) -> [String] {
        let sql = """
            SELECT t.tgname::text FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid
            WHERE c.relname = $1::text AND c.relnamespace = to_regnamespace(quote_ident(current_schema()))
                AND NOT t.tgisinternal
            ORDER BY t.tgname
            """
        return try connection.values(SQLStatement(sql, [.value(.text(table))])).map { $0[0].description }
    }

    /// Columns have the collation that they are compared by, in every index too.
    package func collation(of column: String, in table: String) -> String? { nil }

    package func comparesPlainly(
        _ column: String, of table: String, _ connection: Connection
    ) throws(RelataError) -> Bool {
        // Other types, such as citext, have a comparison of their own.
        let sql = """
            SELECT 1 FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
                JOIN pg_collation AS l ON l.oid = a.attcollation
            WHERE c.relname = $1::text AND c.relnamespace = to_regnamespace(quote_ident(current_schema()))
                AND a.attname = $2::text AND NOT a.attisdropped AND l.collisdeterministic
                AND a.atttypid IN ('text'::regtype, 'varchar'::regtype, 'bpchar'::regtype)
            """
        return try connection.value(SQLStatement(sql, [.value(.text(table)), .value(.text(column))])) != nil
    }

    package func lastAssignedKey(of table: String, _ connection: Connection) throws(RelataError) -> Int64 {
        let sql = """
            SELECT coalesce(max(pg_sequence_last_value(d.objid)), 0)::bigint
            FROM pg_depend AS d JOIN pg_class AS c ON c.oid = d.refobjid JOIN pg_class AS s ON s.oid = d.objid
            WHERE c.relname = $1::text AND c.relnamespace = to_regnamespace(quote_ident(current_schema()))
                AND s.relkind = 'S'
                AND d.classid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
            """
        guard case .integer(let key)? = try connection.value(SQLStatement(sql, [.value(.text(table))])) else {
            return 0
        }
        return key
    }

    package func estimatedRows(_ connection: Connection) throws(RelataError) -> [String: Int64] {
        // The rows of partitions are their table's. Without statistics, there are no rows, or −1 of them.
        let sql = """
            SELECT n.nspname::text, c.relname::text, coalesce(n.nspname = pg_catalog.current_schema(), false),
                pg_catalog.sum(p.reltuples::double precision)::bigint
            FROM pg_catalog.pg_class AS p
                JOIN pg_catalog.pg_class AS c ON c.oid = coalesce(pg_catalog.pg_partition_root(p.oid), p.oid)
                JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
            WHERE p.relkind IN ('r', 'm') AND p.reltuples > 0 GROUP BY c.oid, n.nspname, c.relname
            """
        var rows: [String: Int64] = [:]
        try connection.rows(SQLStatement(sql)) { row in
            let name = row.text(at: 1)
            rows["\(row.text(at: 0)).\(name)"] = row.integer(at: 3)
            if row.integer(at: 2) == 1 { rows[name] = row.integer(at: 3) }
        }
        return rows
    }

    package func indexes(
        of table: String, _ connection: Connection
    ) throws(RelataError) -> [(name: String, columns: [String])] {
        let sql = """
            SELECT i.relname::text, a.attname::text
            FROM pg_index AS x JOIN pg_class AS c ON c.oid = x.indrelid JOIN pg_class AS i ON i.oid = x.indexrelid
                JOIN unnest(x.indkey::smallint[]) WITH ORDINALITY AS n (number, place) ON n.place <= x.indnkeyatts
                LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = n.number AND n.number > 0
            WHERE c.relname = $1::text AND c.relnamespace = to_regnamespace(quote_ident(current_schema()))
                AND x.indisvalid
                AND x.indpred IS NULL ORDER BY i.oid, n.place
            """
        var indexes: [(name: String, columns: [String])] = []
        try connection.rows(SQLStatement(sql, [.value(.text(table))])) { row in
            if indexes.last?.name != row.text(at: 0) { indexes.append((row.text(at: 0), [])) }
            indexes[indexes.count - 1].columns.append(row.text(at: 1))
        }
        return indexes
    }

    /// The server looks after its own files.
    package func checkIsInPlace() throws(RelataError) {}

    /// The server reports damage when the data are read.
    package func damage(_ connection: Connection) throws(RelataError) -> EngineDamage { EngineDamage() }
}

/// Describes tables in the words of ``SchemaDDL``.
struct PostgresTableReader {
    private let connection: Connection
    private let names: [String]?
    private let hidesReserved: Bool
    private(set) var tables: [TableDescription] = []
    private var places: [String: Int] = [:]
    /// The columns whose values come from sequences, by their table.
    private var assigned: [Int: [Int]] = [:]

    init(_ connection: Connection, names: [String]?, hidesReserved: Bool) {
        self.connection = connection
        self.names = names
        self.hidesReserved = hidesReserved
    }

    /// The condition for tables that are read, with their alias.
    private var condition: String {
        "c.relnamespace = to_regnamespace(quote_ident(current_schema())) AND c.relkind IN ('r', 'p') "
            + "AND NOT c.relispartition"
            + (names == nil ? "" : " AND lower(c.relname) IN (SELECT lower(x) FROM unnest($1::text[]) AS x)")
    }

    private func query(_ sql: String) -> SQLStatement {
        SQLStatement(sql, names.map { [.list($0.map { .text($0) })] } ?? [])
    }

    mutating func read() throws(RelataError) {
        try connection.rows(query("SELECT c.relname::text FROM pg_class AS c WHERE \(condition) ORDER BY c.oid")) {
            row in
            let name = row.text(at: 0)
            let isHidden = hidesReserved ? ReservedNames.isInternal(name) : ReservedNames.isOwn(name)
            guard !isHidden else { return }
            places[name] = tables.count
            tables.append(TableDescription(name: name, columns: [], primaryKey: [], hasRowID: false))
        }
        try readColumns()
        try readKeys()
        for (place, columns) in assigned {
            let names = columns.map { tables[place].columns[$0].name }
            tables[place].isKeyAssigned =
                tables[place].primaryKey.count == 1 && names.contains(tables[place].primaryKey[0])
        }
        try readIndexes()
        // The words of a search aren't a declared column.
        for place in tables.indices { tables[place] = tables[place].without([SearchIndex.column]) }
        let triggers = """
            SELECT c.relname::text, pg_get_triggerdef(t.oid) FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid
            WHERE \(condition) AND NOT t.tgisinternal ORDER BY t.oid
            """
        try connection.rows(query(triggers)) { row in
            if let place = places[row.text(at: 0)] { tables[place].triggers.append(row.text(at: 1)) }
        }
    }

    private mutating func readColumns() throws(RelataError) {
        let sql = """
            SELECT c.relname::text, a.attname::text, format_type(a.atttypid, a.atttypmod), a.attnotnull,
                pg_get_expr(d.adbin, d.adrelid), a.attgenerated::text, a.attidentity::text, l.collname::text,
                t.typcollation <> 0
            FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid JOIN pg_type AS t ON t.oid = a.atttypid
                LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
                LEFT JOIN pg_collation AS l ON l.oid = a.attcollation
            WHERE \(condition) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY c.oid, a.attnum
            """
        try connection.rows(query(sql)) { row in
            guard let place = places[row.text(at: 0)] else { return }
            let collation = row.text(at: 7)
            let isGenerated = row.text(at: 5) != ""
            var column = ColumnDescription(
                name: row.text(at: 1),
                type: Self.type(row.text(at: 2), collation: row.integer(at: 8) == 1 ? collation : nil),
                isRequired: row.integer(at: 3) == 1,
                defaultSQL: row.isNull(at: 4) || isGenerated ? nil : row.text(at: 4),
                isGenerated: isGenerated, collation: "BINARY")
            // Another program's may have more digits than a floating-point number.
            if AttributeType(postgresType: column.type) == .decimal { column.valueType = .decimal }
            tables[place].columns.append(column)
            // Another program's key may be `serial`.
            let isCounted = row.text(at: 4).hasPrefix("nextval(")
            if row.text(at: 6) != "" || isCounted {
                assigned[place, default: []].append(tables[place].columns.count - 1)
            }
        }
    }

    /// The name of a type in statements that create tables.
    private static func type(_ name: String, collation: String?) -> String {
        let short = name == "timestamp with time zone" ? "timestamptz" : name
        return collation == "C" ? "\(short) COLLATE \"C\"" : short
    }

    private mutating func readKeys() throws(RelataError) {
        let sql = """
            SELECT c.relname::text, k.oid, k.contype::text, a.attname::text, f.relname::text, b.attname::text,
                k.confdeltype::text, k.conname::text,
                k.contype = 'f' AND k.confupdtype = 'a' AND k.confmatchtype = 's' AND k.convalidated
            FROM pg_constraint AS k JOIN pg_class AS c ON c.oid = k.conrelid
                JOIN unnest(k.conkey) WITH ORDINALITY AS n (number, place) ON true
                JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = n.number
                LEFT JOIN pg_class AS f ON f.oid = k.confrelid
                LEFT JOIN pg_attribute AS b ON b.attrelid = f.oid AND b.attnum = k.confkey[n.place]
            WHERE \(condition) AND k.contype IN ('p', 'f') ORDER BY c.oid, k.oid, n.place
            """
        var last: Int64?
        try connection.rows(query(sql)) { row in
            guard let place = places[row.text(at: 0)] else { return }
            guard row.text(at: 2) == "f" else {
                tables[place].primaryKey.append(row.text(at: 3))
                tables[place].primaryKeyName = row.text(at: 7)
                return
            }
            if last != row.integer(at: 1) {
                last = row.integer(at: 1)
                var key = ForeignKeyDescription(
                    columns: [], target: row.text(at: 4), targetColumns: [],
                    onDelete: ForeignKeyDescription.Action(catalog: row.text(at: 6)))
                key.name = row.text(at: 7)
                key.isWhole = row.integer(at: 8) == 1
                tables[place].foreignKeys.append(key)
            }
            let key = tables[place].foreignKeys.count - 1
            tables[place].foreignKeys[key].columns.append(row.text(at: 3))
            tables[place].foreignKeys[key].targetColumns.append(row.text(at: 5))
        }
    }

    private mutating func readIndexes() throws(RelataError) {
        let sql = """
            SELECT c.relname::text, i.relname::text, x.indisunique, a.attname::text,
                x.indpred IS NULL AND x.indexprs IS NULL, CASE WHEN EXISTS (SELECT 1 FROM pg_constraint AS k WHERE k.conindid = x.indexrelid AND k.contype IN ('u', 'x'))
                    THEN NULL ELSE pg_get_indexdef(x.indexrelid) END,
                x.indoption[n.place - 1]::bigint
            FROM pg_index AS x JOIN pg_class AS c ON c.oid = x.indrelid JOIN pg_class AS i ON i.oid = x.indexrelid
                JOIN unnest(x.indkey::smallint[]) WITH ORDINALITY AS n (number, place) ON n.place <= x.indnkeyatts
                LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = n.number AND n.number > 0
            WHERE \(condition) AND NOT x.indisprimary AND x.indisvalid ORDER BY c.oid, i.oid, n.place
            """
        try connection.rows(query(sql)) { row in
            guard let place = places[row.text(at: 0)] else { return }
            let name = row.text(at: 1)
            if tables[place].indexes.last?.name != name {
                tables[place].indexes.append(
                    IndexDescription(
                        name: name, columns: [], isUnique: row.integer(at: 2) == 1, isPlain: row.integer(at: 4) == 1,
                        sql: row.isNull(at: 5) ? nil : row.text(at: 5)))
            }
            let index = tables[place].indexes.count - 1
            guard !row.isNull(at: 3) else { return }
            tables[place].indexes[index].columns.append(row.text(at: 3))
            if row.integer(at: 6) & 2 != 0 { tables[place].indexes[index].nullsFirst.append(row.text(at: 3)) }
        }
    }
}

extension ForeignKeyDescription.Action {
    /// The action for a letter of `pg_constraint`.
    init(catalog letter: String) {
        switch letter {
        case "c": self = .cascade
        case "n": self = .setNull
        case "d": self = .setDefault
        case "r": self = .restrict
        default: self = .none
        }
    }
}
#endif
