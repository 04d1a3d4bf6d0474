import RelataCore

/// Compares the contents of a database with its schema. Only reads.
///
/// Foreign keys, unique indexes and transactions keep a database consistent, except one that was written with foreign
/// keys turned off, that lost an index, or whose rules no index can enforce: counts, positions, references that may
/// dangle.
package struct IntegrityCheck {
    let connection: Connection
    let schema: Schema
    private let step: (String) -> Void
    var findings: [IntegrityFinding] = []

    /// The number of objects a message names.
    static let samples = 3

    /// Checks everything.
    ///
    /// - Parameters:
    ///   - connection: The database; call it within a read transaction if others write.
    ///   - schema: The declarations: ``Introspection`` reads them from the database itself.
    ///   - readsValues: Whether values are looked at as well: the cases of enums, and whether JSON is any.
    ///   - step: Called with the next check.
    package static func run(
        _ connection: Connection, schema: Schema, readsValues: Bool = true, step: (String) -> Void = { _ in }
    ) throws(RelataError) -> [IntegrityFinding] {
        try withoutActuallyEscaping(step) { (step) throws(RelataError) in
            var check = IntegrityCheck(connection, schema, step)
            try check.run(readsValues: readsValues)
            return check.findings
        }
    }

    private init(_ connection: Connection, _ schema: Schema, _ step: @escaping (String) -> Void) {
        self.connection = connection
        self.schema = schema
        self.step = step
    }

    private mutating func run(readsValues: Bool) throws(RelataError) {
        step("checking the file")
        guard try checkFile() else { return }
        // The contents of views are checked in their tables.
        for table in schema.tables where table.entity.source?.kind.isTable != false {
            step("checking \(table.name)")
            try checkKey(of: table)
            try checkUniques(of: table)
            if readsValues { try checkValues(of: table) }
            try checkSearch(of: table)
        }
        for reference in schema.references {
            step("checking \(schema.tables[reference.source].name).\(reference.property)")
            try checkTargets(of: reference)
            for list in lists(of: reference) { try checkCounts(of: list) }
            for list in lists(of: reference) { try checkPositions(of: list) }
        }
        for join in schema.joins {
            step("checking \(schema.tables[join.source].name).\(join.property)")
            try checkTargets(of: join)
            for list in lists(of: join) { try checkCounts(of: list) }
            for list in lists(of: join) { try checkPositions(of: list) }
        }
        step("checking foreign keys")
        try checkOtherForeignKeys()
        // Damaged data must be restored from a copy. Writing to the file may destroy readable data.
        guard findings.contains(where: { $0.kind == .damage && $0.repair == nil }) else { return }
        for index in findings.indices { findings[index].repair = nil }
    }

    /// Runs the engine's own check; `false` if nothing else can be read.
    private mutating func checkFile() throws(RelataError) -> Bool {
        let damage = try connection.driver.damage(connection)
        guard !damage.problems.isEmpty else { return true }
        add(
            .damage, "the file", damage.problems.count, sampled(damage.problems, of: damage.problems.count),
            fix: damage.fix, repair: damage.repair)
        return damage.isReadable
    }

    // MARK: Common parts of the checks

    /// The rows of a query: their number, and the first few as text.
    func list(
        _ sql: String, _ types: [AttributeType?], _ text: ([Value]) -> String
    ) throws(RelataError) -> (count: Int, samples: [String]) {
        var count = 0
        var samples: [String] = []
        try connection.rows(SQLStatement(sql)) { row in
            count += 1
            guard samples.count < Self.samples else { return }
            samples.append(
                text((0..<row.columnCount).map { row.value(at: $0, as: $0 < types.count ? types[$0] : nil) }))
        }
        return (count, samples)
    }

    func sampled(_ samples: [String], of count: Int) -> String {
        samples.prefix(Self.samples).joined(separator: ", ") + (count > Self.samples ? ", …" : "")
    }

    mutating func add(
        _ kind: IntegrityFinding.Kind, _ subject: String, _ count: Int, _ message: String, fix: String,
        repair: IntegrityRepair? = nil
    ) {
        findings.append(
            IntegrityFinding(
                kind: kind, subject: subject, count: count, message: message, fix: fix, repair: repair))
    }

    var dialect: Dialect { connection.dialect }
    func quote(_ name: String) -> String { dialect.quote(name) }
    func list(_ columns: [String], of alias: String) -> String { dialect.list(columns, of: alias) }

    func keyTypes(_ table: Table) -> [AttributeType?] { table.keyColumns.map { table.columns[$0].type } }

    /// `Book 7` of the first values of a row.
    func object(_ values: some Collection<Value>, _ table: Table) -> String {
        "\(table.name) \(KeyValue(Array(values.prefix(table.keyColumns.count))))"
    }
}
