#if PostgreSQL
import RelataCore
import RelataEngine

/// The tables that a statement names.
struct NamedTables {
    /// The kinds of changes to the rows of a table.
    enum Operation: Hashable { case update, deletion }

    /// The tables that it reads.
    private(set) var read: Set<String> = []
    /// The tables that it writes, and the possible changes there besides insertions.
    private(set) var written: [String: Set<Operation>] = [:]

    init(written: [String: Set<Operation>]) { self.written = written }

    /// The tables of a plan, as `EXPLAIN` gives it.
    init(plan: Any) { add(plan) }

    /// All tables that are read or written.
    var tables: Set<String> { read.union(written.keys) }

    private mutating func add(_ node: Any) {
        if let list = node as? [Any] {
            for part in list { add(part) }
            return
        }
        guard let fields = node as? [String: Any] else { return }
        if fields["Node Type"] as? String == "ModifyTable" {
            let operations: Set<Operation> =
                switch fields["Operation"] as? String {
                case "Delete": [.deletion]
                case "Merge": [.deletion, .update]
                default: [.update]
                }
            // A statement on a table with children or partitions names these too.
            let targets = fields["Target Tables"] as? [[String: Any]] ?? []
            for target in [fields] + targets {
                if let table = target["Relation Name"] as? String { written[table, default: []].formUnion(operations) }
            }
        } else if let table = fields["Relation Name"] as? String {
            read.insert(table)
        }
        for (name, part) in fields where name != "Target Tables" { add(part) }
    }
}

/// The server's implicit effects when tables are written. The effects of triggers and rules are unknown, and foreign
/// keys write the tables that declare them. All effects are those of tables that unqualified names find.
struct WriteEffects {
    private struct Step: Hashable {
        let table: String
        let operation: NamedTables.Operation
    }

    /// Tables whose name in a statement is enough to determine its effects.
    private var plain: Set<String> = []
    /// Tables with triggers or rules of any origin.
    private var triggered: Set<String> = []
    /// The table that a name represents: the table to which a partition belongs, or the named table.
    private var roots: [String: Set<String>] = [:]
    /// The effects of a change of rows through the actions of foreign keys.
    private var actions: [Step: Set<Step>] = [:]

    /// Asks the server.
    init(_ driver: PostgresDriver) throws(RelataError) {
        let tables = """
            SELECT c.relname::text, c.relkind = 'r' AND NOT c.relispartition AND NOT c.relhassubclass,
                c.relkind IN ('r', 'p') AND c.relhasrules OR EXISTS (
                    SELECT 1 FROM pg_trigger AS t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal AND t.tgenabled <> 'D'),
                r.relname::text
            FROM pg_class AS c LEFT JOIN pg_class AS r ON c.relispartition AND r.oid = pg_partition_root(c.oid)
                JOIN pg_namespace AS n ON n.oid = coalesce(r.relnamespace, c.relnamespace)
            WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname = ANY(current_schemas(false))
            """
        let keys = """
            SELECT f.relname::text, c.relname::text, k.confdeltype::text, k.confupdtype::text
            FROM pg_constraint AS k JOIN pg_class AS c ON c.oid = k.conrelid JOIN pg_class AS f ON f.oid = k.confrelid
                JOIN pg_namespace AS n ON n.oid = c.relnamespace
            WHERE k.contype = 'f' AND n.nspname = ANY(current_schemas(false))
                AND (k.confdeltype IN ('c', 'n', 'd') OR k.confupdtype IN ('c', 'n', 'd'))
            """
        func values(_ sql: String) throws(RelataError) -> [[Value]] {
            let rows = try driver.run { (session) throws(PostgresFailure) in try session.execute(SQLStatement(sql)) }
            return try rows.values()
        }
        for row in try values(tables) {
            let name = row[0].description
            if row[1] == .integer(1) { plain.insert(name) }
            let root = if case .text(let root) = row[3] { root } else { name }
            roots[name, default: []].insert(root)
            // A statement on the whole table runs the triggers of its parts.
            if row[2] == .integer(1) { triggered.formUnion([name, root]) }
        }
        for row in try values(keys) {
            let (target, table) = (row[0].description, row[1].description)
            switch row[2] {
            case "c": add(.deletion, of: target, .deletion, of: table)
            case "n", "d": add(.deletion, of: target, .update, of: table)
            default: break
            }
            if ["c", "n", "d"].contains(row[3]) { add(.update, of: target, .update, of: table) }
        }
        plain.subtract(triggered)
    }

    private mutating func add(
        _ cause: NamedTables.Operation, of target: String, _ effect: NamedTables.Operation, of table: String
    ) {
        actions[Step(table: target, operation: cause), default: []].insert(Step(table: table, operation: effect))
    }

    /// Whether a table existed when the server was queried. The server's own tables aren't queried again.
    func knows(_ table: String) -> Bool { roots[table] != nil || table.hasPrefix("pg_") }

    /// Whether a statement that names a table writes only that table, apart from the actions of foreign keys.
    func isPlain(_ table: String) -> Bool { plain.contains(table) }

    /// The tables that a statement with these names reads and writes.
    func access(of named: NamedTables) -> StatementAccess {
        var access = StatementAccess()
        for table in whole(named.read) { access.reads.add(rowsOf: table) }
        // No plan shows the reads of a function, or of a table without partitions so far.
        if named.tables.isEmpty { access.reads = .everything }
        for table in whole(named.written.keys) { access.writes.add(rowsOf: table) }
        if !triggered.isDisjoint(with: named.written.keys) { access.writes.formUnion(.everything) }
        let reached = Set(consequences(of: named.written).map(\.table)).subtracting(named.written.keys)
        for table in whole(reached) { access.actions.add(rowsOf: table) }
        if !triggered.isDisjoint(with: reached) { access.actions.formUnion(.everything) }
        return access
    }

    /// Tables without partitions: reading or writing one of these reads or writes the table.
    private func whole(_ tables: some Sequence<String>) -> Set<String> {
        tables.reduce(into: []) { $0.formUnion(roots[$1] ?? [$1]) }
    }

    /// The effects of foreign keys when rows are written.
    private func consequences(of written: [String: Set<NamedTables.Operation>]) -> Set<Step> {
        var found: Set<Step> = []
        var open = written.flatMap { table, operations in operations.map { Step(table: table, operation: $0) } }
        while let step = open.popLast() {
            for next in actions[step] ?? [] where found.insert(next).inserted { open.append(next) }
        }
        return found
    }
}
#endif
