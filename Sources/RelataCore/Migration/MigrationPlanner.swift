/// Plans the steps that give a database the tables that a schema needs.
///
/// Lossless changes are made automatically: first renames, new tables and new columns; then, after the migration steps,
/// all other changes. PostgreSQL alters a table for them, and SQLite rebuilds it. A harmless difference that another
/// program left stays.
package struct MigrationPlanner {
    let schema: Schema
    let dialect: Dialect
    let expected: [TableDescription]
    /// The models that the file was last opened with.
    let old: Schema?
    /// The positions of the entities of the schema and of the old models, and of their columns.
    let places: SchemaPlaces
    let oldPlaces: SchemaPlaces?
    /// Whether the file has tables, but none of Relata's.
    let isForeign: Bool
    let steps: [MigrationStepDeclaration]
    /// The names of the tables that are looked at, the others being as they should; `nil` for all.
    let part: Set<FoldedName>?
    let facts: (DataQuestion) throws(RelataError) -> Bool

    var plan = MigrationPlan()
    /// The tables as they are, after the renames so far, by name.
    var tables: [FoldedName: WorkingTable]
    /// The tables as the old models wanted them, with the same renames. Tables that equal them are Relata's.
    var oldTables: [FoldedName: TableDescription] = [:]
    /// Columns of former to-ones whose content moved to a join table, by the name of their table.
    var movedColumns: [FoldedName: Set<FoldedName>] = [:]
    /// The names of the rebuilt tables.
    var remade: Set<FoldedName> = []
    /// The final form of tables, by name, if the engine alters them.
    var finals: [FoldedName: TableDescription] = [:]
    /// The columns whose types are altered, by the name of their table.
    var retyped: [FoldedName: Set<FoldedName>] = [:]
    /// The names of the tables whose keys are replaced.
    var rekeyed: Set<FoldedName> = []
    /// The names of the tables that are dropped.
    var dropped: Set<FoldedName> = []
    var indexNames: IndexNames
    /// The renames, now or by earlier models.
    var history: RenameHistory
    /// The names of tables that were given others.
    var givenUp: Set<FoldedName> = []
    /// Columns under the names that newer models gave them, by the name of their table.
    var newerColumns: [FoldedName: Set<FoldedName>] = [:]

    /// A table of the file, and its name until the migration begins.
    struct WorkingTable {
        var description: TableDescription
        let originalName: String
        /// The old names of renamed columns, by the new name.
        var originalColumns: [FoldedName: String] = [:]
        /// The names of the columns that the migration adds.
        var added: Set<FoldedName> = []

        /// Whether the texts of indexes and triggers may contain outdated names.
        var isRenamed: Bool { originalName != description.name || !originalColumns.isEmpty }

        func originalColumn(_ name: String) -> String { originalColumns[name.foldedName] ?? name }
    }

    /// Prepares to compare a file with a schema.
    ///
    /// - Parameters:
    ///   - actual: The file's tables.
    ///   - declared: The entities with which the file was last opened, or `nil` if Relata never opened it or another
    ///     program made it.
    ///   - history: The renames that the file has recorded.
    ///   - steps: The migration steps that haven't been done.
    ///   - facts: Answers questions about rows.
    package init(
        schema: Schema, dialect: Dialect, actual: [TableDescription], declared: [Entity]?,
        history: RenameHistory = RenameHistory(), steps: [MigrationStepDeclaration],
        facts: @escaping (DataQuestion) throws(RelataError) -> Bool
    ) {
        self.init(
            schema: schema, dialect: dialect, actual: actual, old: declared.flatMap { try? Schema($0) },
            isForeign: declared == nil && !actual.isEmpty && !steps.contains { $0.changes.contains(.adopting) },
            history: history, steps: steps, part: nil, facts: facts)
    }

    /// Prepares to compare some tables of a file that a schema fits otherwise.
    ///
    /// - Parameters:
    ///   - part: The names of the tables that are compared.
    ///   - actual: These tables, if they exist.
    ///   - old: The schema that the file fits.
    package init(
        schema: Schema, dialect: Dialect, part: Set<String>, actual: [TableDescription], old: Schema,
        steps: [MigrationStepDeclaration],
        facts: @escaping (DataQuestion) throws(RelataError) -> Bool
    ) {
        self.init(
            schema: schema, dialect: dialect, actual: actual, old: old, isForeign: false, steps: steps,
            part: Set(part.map { $0.foldedName }), facts: facts)
    }

    private init(
        schema: Schema, dialect: Dialect, actual: [TableDescription], old: Schema?, isForeign: Bool,
        history: RenameHistory = RenameHistory(), steps: [MigrationStepDeclaration], part: Set<FoldedName>?,
        facts: @escaping (DataQuestion) throws(RelataError) -> Bool
    ) {
        self.schema = schema
        self.dialect = dialect
        self.steps = steps
        self.part = part
        self.facts = facts
        self.old = old
        self.isForeign = isForeign
        places = SchemaPlaces(schema, among: part)
        oldPlaces = old.map { SchemaPlaces($0, among: part) }
        let expected = SchemaDDL.tables(of: schema, among: part, dialect: dialect)
        self.expected = expected
        if let old {
            for table in SchemaDDL.tables(of: old, among: part, dialect: dialect) {
                oldTables[table.name.foldedName] = table
            }
        }
        // Two names that differ in case only are two on PostgreSQL: the wanted one counts.
        let names = Set(expected.map(\.name))
        tables = Dictionary(
            (old == nil ? actual : Self.own(actual, expected, oldTables, dialect)).map {
                ($0.name.foldedName, WorkingTable(description: $0, originalName: $0.name))
            }, uniquingKeysWith: { names.contains($1.originalName) ? $1 : $0 })
        indexNames = IndexNames(
            taken: actual.flatMap { [$0.name] + $0.indexes.map(\.name) } + expected.map(\.name))
        self.history = history
        // Files of earlier versions of Relata remember nothing else.
        if part == nil, let old { self.history.merge(RenameHistory(declaredBy: old)) }
        self.history = self.history.pruned(to: actual)
    }

    /// Compares the file with the schema.
    package func planned() throws(RelataError) -> MigrationPlan {
        var planner = self
        try planner.work()
        if part == nil { planner.history.merge(RenameHistory(declaredBy: schema)) }
        planner.plan.history = planner.history
        planner.plan.isForeign = isForeign
        return planner.plan
    }

    private mutating func work() throws(RelataError) {
        for table in expected where tables[table.name.foldedName] == nil { try checkName(of: table) }
        checkLengths()
        guard !tables.isEmpty || part != nil else {
            plan.isCreation = true
            for table in expected { report(place(of: table).whole, "a new table") }
            plan.preparation = SchemaDDL.creation(of: schema, dialect: dialect)
            return
        }
        plan.steps = steps.map(\.name).filter { !$0.isEmpty }
        matchCase()
        if !isForeign { rename() }
        checkSteps()
        let expected = expected.filter { !refuseFormerName(of: $0) }
        for table in expected {
            if tables[table.name.foldedName] == nil {
                try create(table)
            }
        }
        for table in expected {
            if let working = tables[table.name.foldedName] { try compare(table, working) }
        }
        dropTables()
        if dialect.altersTables { planReferences() }
        try planSearch()
    }

    /// Refuses a new name that would hide one of the database's own, or that this would hide: queries for one would find
    /// the other.
    private mutating func checkName(of table: TableDescription) throws(RelataError) {
        let isFunction = dialect == .sqlite && ReservedNames.isFunction(table.name)
        if !isFunction, try !facts(.isModule(name: table.name)) { return }
        let fix = join(of: table) == nil ? "`@Model(table:)`" : "`joinTable:`"
        note(
            place(of: table),
            "the table name \(table.name) belongs to a \(dialect == .sqlite ? "function" : "table") of the database: give another with \(fix)",
            .lossy)
    }

    private mutating func create(_ table: TableDescription) throws(RelataError) {
        guard !isForeign else { return refuseLack(place(of: table).whole, "the table \(table.name)") }
        report(place(of: table), "a new table")
        plan.preparation.append(SchemaDDL.createTable(table, dialect: dialect))
        for index in table.indexes where index.isUnique { checkDuplicates(index, of: table) }
        for index in table.indexes { plan.completion.append(try create(index, on: table.name)) }
        finals[table.name.foldedName] = table
        fillFromFormerToOne(table)
    }

    /// A table is dropped only by a step.
    private mutating func dropTables() {
        let wanted = Set(expected.map { $0.name.foldedName })
        for (name, table) in tables.sorted(by: { $0.key < $1.key }) where !wanted.contains(name) {
            let entity = oldEntity(named: table.description.name)?.name ?? table.description.name
            let change = [LossyChange.dropping(entity), .dropping(table.description.name)]
            guard let step = steps.first(where: { $0.covers(change) }) else { continue }
            note(Place(entity), "the table is dropped", .lossy, step: step.name)
            plan.completion.append("DROP TABLE \(quote(table.description.name))")
            dropped.insert(name)
            plan.mayBreakReferences = true
        }
    }

    mutating func create(_ index: IndexDescription, on table: String) throws(RelataError) -> String {
        SchemaDDL.createIndex(try named(index, of: table), on: table, dialect: dialect)
    }

    /// An index under a name that nothing else has.
    mutating func named(_ index: IndexDescription, of table: String) throws(RelataError) -> IndexDescription {
        var index = index
        let facts = facts
        index.name = try indexNames.name(table: table, columns: index.columns, isUnique: index.isUnique) {
            (name) throws(RelataError) in try facts(.isTaken(name: name))
        }
        return index
    }

    func quote(_ name: String) -> String { dialect.quote(name) }

    // MARK: Reporting

    /// The subject of a change in reports.
    struct Place: CustomStringConvertible {
        let entity: String
        let property: String?

        var description: String { property.map { "\(entity).\($0)" } ?? entity }

        init(_ entity: String, _ property: String? = nil) {
            self.entity = entity
            self.property = property
        }

        /// The entity as a whole.
        var whole: Place { Place(entity) }
    }

    private mutating func note(_ place: Place, _ message: String, _ kind: SchemaChange.Kind, step: String? = nil) {
        let change = SchemaChange(
            entity: place.entity, property: place.property, message: message, kind: kind, step: step)
        if !plan.changes.contains(change) { plan.changes.append(change) }
    }

    /// Records a change that is made automatically.
    mutating func report(_ place: Place, _ message: String) { note(place, message, .additive) }

    /// Records a lossy change; returns whether a step handles it.
    mutating func reportLossy(
        _ place: Place, column: String? = nil, _ message: String, isDropping: Bool = false
    ) -> Bool {
        let properties = [place.property, column].compactMap { $0 }
        let names = properties.map { "\(place.entity).\($0)" } + (place.property == nil ? [place.entity] : [])
        let owners = stepNames(of: place.entity)
        let spellings =
            owners.flatMap { owner in properties.map { "\(owner).\($0)" } } + (place.property == nil ? owners : [])
        let wanted = spellings.map { isDropping ? LossyChange.dropping($0) : .changing($0) }
        let step = steps.first { $0.covers(wanted) }
        let verb = isDropping ? "dropping" : "changing"
        let fix = step == nil ? "; or add a migration step with `.\(verb)(\"\(names[0])\")`" : ""
        note(place, message + fix, .lossy, step: step?.name)
        return step != nil
    }

    /// The names of an entity in a step: its own, such as `V2.Pet`, or its table's, `Pet`, unless another entity has
    /// that name.
    func stepNames(of entity: String) -> [String] {
        guard let table = schema[entity]?.sqlName, !table.isSameName(as: entity), schema[table] == nil else {
            return [entity]
        }
        return [entity, table]
    }

    /// Records a change that no step makes.
    mutating func refuse(_ place: Place, _ message: String) { note(place, message, .lossy) }

    /// A file of another program is used unchanged, or not at all.
    mutating func refuseLack(_ place: Place, _ what: String) {
        note(
            place,
            "the file was made by another program and lacks \(what): open the right file, "
                + "or add a migration step with `.adopting`", .lossy)
    }

    /// A question that must be answered with no once the steps have run.
    func check(_ question: DataQuestion, _ place: Place, _ finding: String, _ fix: String) -> MigrationCheck {
        MigrationCheck(
            question: question, entity: place.entity, property: place.property, finding: finding, fix: fix)
    }

    // MARK: Wanted tables

    /// The entity of a wanted table; `nil` for a join table.
    func entity(of table: TableDescription) -> Table? { places.number(of: table.name).map { schema.tables[$0] } }

    /// The old entity of a table that had this name.
    func oldEntity(named table: String) -> Table? { oldPlaces?.number(of: table).flatMap { old?.tables[$0] } }

    /// A column of an old entity.
    func oldColumn(_ name: String, of table: Table) -> Column? {
        oldPlaces?.column(name, of: table.index)
    }

    /// The many-to-many of a wanted table.
    func join(of table: TableDescription) -> Join? { schema.join(ofTable: table.name) }

    /// A wanted column, unless it is one that the store adds to those of the properties.
    func column(_ name: String, of table: TableDescription) -> Column? {
        places.number(of: table.name).flatMap { places.column(name, of: $0) }
    }

    /// The entity that a wanted table belongs to, and the many-to-many if it is a join table.
    func place(of table: TableDescription) -> Place {
        if let join = join(of: table) { return Place(schema.tables[join.source].name, join.property) }
        return Place(entity(of: table)?.name ?? table.name)
    }

    /// The property that a wanted column belongs to.
    func place(of name: String, in table: TableDescription) -> Place {
        let place = place(of: table)
        let property =
            place.property ?? column(name, of: table)?.property
            ?? entity(of: table).flatMap { entity in
                schema.references(of: entity.index).first { $0.orderColumn == name }?.property
            }
        return Place(place.entity, property)
    }
}
