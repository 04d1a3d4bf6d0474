#if PostgreSQL
import RelataCore
import RelataEngine

/// The tables and views of all schemas in the server's catalog.
///
/// Functions have their schema, and names are cast to the type of their parameters, so that a better matching function
/// of another user is never called.
struct Catalog {
    /// A table or a view.
    struct Relation {
        let schema: String
        let name: String
        let kind: TableSource.Kind
        /// Whether its name without a schema finds it.
        let isVisible: Bool
        /// Whether it is in the schema of a store's own tables.
        let isInOwnSchema: Bool
        /// Whether it is a part of another.
        let isPartition: Bool
        /// The table that it is a part of.
        let root: Int64
        /// Whether rows of other tables are treated as its own.
        let hasHeirs: Bool
        /// The tables that it takes columns from.
        var parents: [Int64] = []
        /// Whether the role may read a column of it.
        let isReadable: Bool
        /// Whether the role may read whole rows, and so the location of a row.
        let isReadableInWhole: Bool
        /// Whether row-level security hides rows from the role.
        let hidesRows: Bool
        var columns: [Column] = []
        var indexes: [Index] = []
        var triggers: [String] = []
        /// The names of the rules that rewrite deletions, and changes.
        var deletionRules: [String] = []
        var updateRules: [String] = []
        /// The rights that the role has to change rows.
        let canDelete: Bool

        var fullName: String { "\(schema).\(name)" }

        /// It in SQL.
        var sql: String { Dialect.postgres.quote(name, in: schema) }
        /// Its own rows in SQL, without those of tables that inherit its columns.
        var ownRows: String { (hasHeirs ? "ONLY " : "") + sql }

        func column(_ number: Int64) -> Column? { columns.first { $0.number == number } }
    }

    struct Column {
        let number: Int64
        let name: String
        let declaredType: String
        /// Whether that is a domain: a type of the database's own with rules for its values.
        let isDomain: Bool
        let reading: ColumnReading
        let isRequired: Bool
        let defaultSQL: String?
        let isGenerated: Bool
        /// Whether the database numbers it.
        let isAssigned: Bool
        let isIdentity: Bool
        let isReadable: Bool

        var sql: String { Dialect.postgres.quote(name) }
    }

    struct Index {
        let name: String
        let isUnique: Bool
        let isPrimary: Bool
        /// Whether it covers whole columns of all rows, and refuses equal values at once.
        let isPlain: Bool
        var columns: [Int64] = []
    }

    struct ForeignKey {
        let holder: Int64
        let target: Int64
        let name: String
        let action: ForeignKeyDescription.Action
        /// The columns that become unset when the target is deleted; empty for all.
        let unset: [Int64]
        var pairs: [(own: Int64, target: Int64, condition: String)] = []
    }

    private(set) var relations: [Int64: Relation] = [:]
    /// The numbers of the relations. Relations that unqualified names find come first.
    private(set) var order: [Int64] = []
    private(set) var foreignKeys: [ForeignKey] = []

    /// Reads the catalog.
    ///
    /// - Parameter including: The server's own schemas that are looked at as well.
    init(_ connection: Connection, including schemas: [String]) throws(RelataError) {
        let parameters: [Parameter] = [.list(schemas.map { .text($0) })]
        try readRelations(connection, parameters)
        try readColumns(connection, parameters)
        try readIndexes(connection, parameters)
        try readForeignKeys(connection)
        try readHeirs(connection)
        try readTriggers(connection)
    }

    /// The relations that are looked at, as `c` in the schema `n`.
    private static let from = """
        FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
            AND (pg_catalog.left(n.nspname::text, 3) <> 'pg_' AND n.nspname <> 'information_schema'
                OR n.nspname = ANY (pg_catalog.current_schemas(false)) OR n.nspname = ANY ($1::text[]))
            AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
        """

    private mutating func readRelations(
        _ connection: Connection, _ parameters: [Parameter]
    ) throws(RelataError) {
        let sql = """
            SELECT c.oid::bigint, n.nspname::text, c.relname::text, c.relkind::text,
                pg_catalog.pg_table_is_visible(c.oid),
                coalesce(n.nspname = pg_catalog.current_schema(), false), c.relispartition,
                coalesce(pg_catalog.pg_partition_root(c.oid)::oid::bigint, c.oid::bigint),
                c.relkind IN ('r', 'f') AND EXISTS (SELECT 1 FROM pg_catalog.pg_inherits WHERE inhparent = c.oid),
                pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND (pg_catalog.has_table_privilege(c.oid, 'SELECT')
                    OR pg_catalog.has_any_column_privilege(c.oid, 'SELECT')),
                pg_catalog.row_security_active(c.oid), pg_catalog.has_table_privilege(c.oid, 'DELETE'),
                pg_catalog.has_table_privilege(c.oid, 'SELECT')
            \(Self.from)
            ORDER BY NOT coalesce(n.nspname = pg_catalog.current_schema(), false),
                NOT pg_catalog.pg_table_is_visible(c.oid),
                n.nspname COLLATE "C", c.oid
            """
        try connection.rows(SQLStatement(sql, parameters)) { row in
            let kind: TableSource.Kind =
                switch row.text(at: 3) {
                case "p": .partitionedTable
                case "v": .view
                case "m": .materializedView
                case "f": .foreignTable
                default: .table
                }
            order.append(row.integer(at: 0))
            relations[row.integer(at: 0)] = Relation(
                schema: row.text(at: 1), name: row.text(at: 2), kind: kind, isVisible: row.integer(at: 4) == 1,
                isInOwnSchema: row.integer(at: 5) == 1, isPartition: row.integer(at: 6) == 1, root: row.integer(at: 7),
                hasHeirs: row.integer(at: 8) == 1, isReadable: row.integer(at: 9) == 1,
                isReadableInWhole: row.integer(at: 12) == 1,
                hidesRows: row.integer(at: 10) == 1, canDelete: row.integer(at: 11) == 1)
        }
    }

    private mutating func readColumns(_ connection: Connection, _ parameters: [Parameter]) throws(RelataError) {
        let sql = """
            WITH RECURSIVE base (type, base, required) AS (
                SELECT oid, oid, false FROM pg_catalog.pg_type WHERE typtype <> 'd'
                UNION ALL SELECT t.oid, b.base, b.required OR t.typnotnull
                FROM base AS b JOIN pg_catalog.pg_type AS t ON t.typbasetype = b.type AND t.typtype = 'd')
            SELECT c.oid::bigint, a.attnum::bigint, a.attname::text, pg_catalog.format_type(a.atttypid, a.atttypmod),
                CASE WHEN t.typnamespace = 'pg_catalog'::pg_catalog.regnamespace THEN t.typname::text END,
                t.typtype = 'e',
                coalesce(l.collisdeterministic, true), a.attnotnull OR b.required,
                pg_catalog.pg_get_expr(d.adbin, d.adrelid), a.attgenerated::text, a.attidentity::text,
                pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT'), b.type <> b.base
            \(Self.from)
            JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
                AND a.attname <> '\(SearchIndex.column)'
            JOIN base AS b ON b.type = a.atttypid JOIN pg_catalog.pg_type AS t ON t.oid = b.base
            LEFT JOIN pg_catalog.pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
            LEFT JOIN pg_catalog.pg_collation AS l ON l.oid = a.attcollation
            ORDER BY c.oid, a.attnum
            """
        try connection.rows(SQLStatement(sql, parameters)) { row in
            let isGenerated = row.text(at: 9) != ""
            let isIdentity = row.text(at: 10) != ""
            relations[row.integer(at: 0)]?.columns.append(
                Column(
                    number: row.integer(at: 1), name: row.text(at: 2), declaredType: row.text(at: 3),
                    isDomain: row.integer(at: 12) == 1,
                    reading: ColumnReading(
                        base: row.isNull(at: 4) ? nil : row.text(at: 4), isEnum: row.integer(at: 5) == 1,
                        isDeterministic: row.integer(at: 6) == 1),
                    isRequired: row.integer(at: 7) == 1,
                    defaultSQL: row.isNull(at: 8) || isGenerated ? nil : row.text(at: 8), isGenerated: isGenerated,
                    isAssigned: isIdentity || row.text(at: 8).hasPrefix("nextval("), isIdentity: isIdentity,
                    isReadable: row.integer(at: 11) == 1))
        }
    }

    private mutating func readIndexes(_ connection: Connection, _ parameters: [Parameter]) throws(RelataError) {
        let sql = """
            SELECT c.oid::bigint, i.relname::text, x.indisunique, x.indisprimary,
                x.indpred IS NULL AND x.indexprs IS NULL AND x.indimmediate, p.number::bigint
            \(Self.from)
            JOIN pg_catalog.pg_index AS x ON x.indrelid = c.oid AND x.indisvalid
                AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_attribute AS s WHERE s.attrelid = c.oid
                    AND s.attnum = ANY (x.indkey::smallint[]) AND s.attname = '\(SearchIndex.column)')
            JOIN pg_catalog.pg_class AS i ON i.oid = x.indexrelid
            JOIN pg_catalog.unnest(x.indkey::smallint[]) WITH ORDINALITY AS p (number, place)
                ON p.place <= x.indnkeyatts
            ORDER BY c.oid, i.oid, p.place
            """
        try connection.rows(SQLStatement(sql, parameters)) { row in
            let number = row.integer(at: 0)
            if relations[number]?.indexes.last?.name != row.text(at: 1) {
                relations[number]?.indexes.append(
                    Index(
                        name: row.text(at: 1), isUnique: row.integer(at: 2) == 1, isPrimary: row.integer(at: 3) == 1,
                        isPlain: row.integer(at: 4) == 1))
            }
            guard let last = relations[number]?.indexes.indices.last else { return }
            relations[number]?.indexes[last].columns.append(row.integer(at: 5))
        }
    }

    /// Foreign keys as they were declared. A foreign key that a partition has from its table belongs to the table.
    private mutating func readForeignKeys(_ connection: Connection) throws(RelataError) {
        // As the server's own actions compare: the target on the left, by the operator and the types of the constraint.
        let sql = """
            SELECT k.oid::bigint, k.conrelid::bigint, k.confrelid::bigint, k.conname::text, k.confdeltype::text,
                coalesce((pg_catalog.to_jsonb(k) -> 'confdelsetcols')::text, '[]'), p.own::bigint,
                k.confkey[p.place]::bigint,
                'r.' || pg_catalog.quote_ident(b.attname::text)
                    || CASE WHEN lt.typtype = 'p' THEN '' ELSE '::' || pg_catalog.format_type(o.oprleft, -1) END
                    || ' OPERATOR(' || pg_catalog.quote_ident(s.nspname::text) || '.' || o.oprname::text
                    || ') o.' || pg_catalog.quote_ident(a.attname::text)
                    || CASE WHEN rt.typtype = 'p' THEN '' ELSE '::' || pg_catalog.format_type(o.oprright, -1) END
                    || CASE WHEN b.attcollation = 0 THEN '' ELSE
                        (SELECT ' COLLATE ' || pg_catalog.quote_ident(ln.nspname::text) || '.'
                            || pg_catalog.quote_ident(l.collname::text)
                        FROM pg_catalog.pg_collation AS l JOIN pg_catalog.pg_namespace AS ln ON ln.oid = l.collnamespace
                        WHERE l.oid = b.attcollation) END
            FROM pg_catalog.pg_constraint AS k
                JOIN pg_catalog.unnest(k.conkey) WITH ORDINALITY AS p (own, place) ON true
                JOIN pg_catalog.pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = p.own
                JOIN pg_catalog.pg_attribute AS b ON b.attrelid = k.confrelid AND b.attnum = k.confkey[p.place]
                JOIN pg_catalog.pg_operator AS o ON o.oid = k.conpfeqop[p.place]
                JOIN pg_catalog.pg_namespace AS s ON s.oid = o.oprnamespace
                JOIN pg_catalog.pg_type AS lt ON lt.oid = o.oprleft JOIN pg_catalog.pg_type AS rt ON rt.oid = o.oprright
            WHERE k.contype = 'f' AND k.conparentid = 0 ORDER BY k.conrelid, k.oid, p.place
            """
        var last: Int64?
        try connection.rows(SQLStatement(sql)) { row in
            if last != row.integer(at: 0) {
                last = row.integer(at: 0)
                let unset = row.text(at: 5).split { !$0.isNumber }.compactMap { Int64($0) }
                foreignKeys.append(
                    ForeignKey(
                        holder: row.integer(at: 1), target: row.integer(at: 2), name: row.text(at: 3),
                        action: ForeignKeyDescription.Action(catalog: row.text(at: 4)), unset: unset))
            }
            foreignKeys[foreignKeys.count - 1].pairs.append(
                (own: row.integer(at: 6), target: row.integer(at: 7), condition: row.text(at: 8)))
        }
    }

    /// The foreign keys to tables of the own schema that readable tables of other schemas hold. The server refuses
    /// tables that the role can't read.
    var keysOfOtherSchemas: [ForeignTables.Stray] {
        foreignKeys.compactMap { key in
            guard let holder = relations[key.holder], let target = relations[key.target], target.isInOwnSchema,
                !holder.isInOwnSchema, holder.isReadable
            else { return nil }
            let columns = key.pairs.compactMap { holder.column($0.own) }
            guard columns.count == key.pairs.count, columns.allSatisfy(\.isReadable) else { return nil }
            return ForeignTables.Stray(
                table: holder.fullName, columns: columns.map(\.name), target: target.name, owner: holder.fullName,
                native: key.native(from: holder, to: target), reason: nil)
        }
    }

    private mutating func readHeirs(_ connection: Connection) throws(RelataError) {
        let sql = """
            SELECT i.inhrelid::bigint, i.inhparent::bigint FROM pg_catalog.pg_inherits AS i
            JOIN pg_catalog.pg_class AS c ON c.oid = i.inhrelid
            WHERE NOT c.relispartition ORDER BY i.inhrelid, i.inhseqno
            """
        try connection.rows(SQLStatement(sql)) { row in
            relations[row.integer(at: 0)]?.parents.append(row.integer(at: 1))
        }
    }

    private mutating func readTriggers(_ connection: Connection) throws(RelataError) {
        // The triggers of a table with partitions are listed again at each partition.
        let triggers = """
            SELECT t.tgrelid::bigint, t.tgname::text FROM pg_catalog.pg_trigger AS t
            WHERE NOT t.tgisinternal AND t.tgenabled <> 'D' ORDER BY t.tgrelid, t.tgname
            """
        try connection.rows(SQLStatement(triggers)) { row in
            guard let root = relations[row.integer(at: 0)]?.root else { return }
            let name = row.text(at: 1)
            if relations[root]?.triggers.contains(name) == false { relations[root]?.triggers.append(name) }
        }
        let rules = """
            SELECT ev_class::bigint, rulename::text, ev_type::text FROM pg_catalog.pg_rewrite
            WHERE ev_type IN ('2', '4') AND ev_enabled <> 'D' ORDER BY ev_class, rulename
            """
        try connection.rows(SQLStatement(rules)) { row in
            guard let root = relations[row.integer(at: 0)]?.root else { return }
            if row.text(at: 2) == "4" {
                relations[root]?.deletionRules.append(row.text(at: 1))
            } else {
                relations[root]?.updateRules.append(row.text(at: 1))
            }
        }
    }
}

extension Catalog.ForeignKey {
    /// The key as the server compares it.
    func native(from holder: Catalog.Relation, to target: Catalog.Relation) -> NativeKey {
        NativeKey(
            holder: holder.ownRows, target: target.ownRows, columns: pairs.compactMap { holder.column($0.own)?.sql },
            condition: pairs.map(\.condition).joined(separator: " AND "))
    }
}
#endif
