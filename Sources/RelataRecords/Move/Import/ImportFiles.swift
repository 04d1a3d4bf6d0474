import RelataCore

/// The files of an import and the tables of their rows, in an order in which most rows precede those that refer to
/// them.
struct ImportFiles {
    let tables: [MovedTable]
    let files: [(file: ImportedFile, table: Int?)]
    private let schema: Schema

    /// - Throws: ``RelataError/invalidUse(_:)`` for a CSV file of a missing class.
    init(_ files: [ImportedFile], _ classes: RecordClasses) throws(RelataError) {
        schema = classes.schema
        let tables = try MovedTable.tables(of: classes)
        self.tables = tables
        var found: [(file: ImportedFile, table: Int?)] = []
        for file in files {
            let table = Self.table(of: file, tables, classes)
            if table == nil, file.format == .csv || file.isNamed {
                throw .invalidUse(
                    "\(file.name): there is no class \(file.className)"
                        + NameSuggestion.hint(for: file.className, among: tables.map(\.name))
                        + ": name the file after its class, or the class with the import; or have it created")
            }
            found.append((file, table))
        }
        let order = Self.order(of: tables, in: classes.schema)
        self.files = found.enumerated().sorted {
            let (left, right) = ($0.element.table.map { order[$0] } ?? -1, $1.element.table.map { order[$0] } ?? -1)
            return left == right ? $0.offset < $1.offset : left < right
        }.map(\.element)
    }

    /// The table that a file is named after.
    static func table(of file: ImportedFile, _ tables: [MovedTable], _ classes: RecordClasses) -> Int? {
        if let number = tables.firstIndex(where: { $0.name == file.className }) { return number }
        guard let entity = classes.names.entity(file.className) else {
            return tables.firstIndex { $0.name.lowercased() == file.className.lowercased() }
        }
        return tables.firstIndex { $0.owner == .entity(entity.index) }
    }

    /// For each table its position in an order in which classes precede those that refer to them, except in cycles, and
    /// lists are last.
    private static func order(of tables: [MovedTable], in schema: Schema) -> [Int] {
        var places: [Int: Int] = [:]
        var begun: Set<Int> = []
        func visit(_ entity: Int) {
            guard begun.insert(entity).inserted else { return }
            for key in schema.foreignKeys where key.source == entity { visit(key.target) }
            places[entity] = places.count
        }
        for entity in schema.tables.indices { visit(entity) }
        return tables.map { table in
            switch table.owner {
            case .entity(let number): places[number] ?? 0
            case .join(let number): schema.tables.count + number
            }
        }
    }

    /// Begins to read a file.
    func source(_ number: Int) throws -> any RowSource {
        let (file, table) = files[number]
        let input = try DataInput(file.path, name: file.name)
        switch (file.format, table) {
        case (.csv, let table?): return try CSVSource(input, tables[table], number: table, schema: schema)
        default: return JSONLinesSource(input, tables, table: table, schema: schema)
        }
    }
}
