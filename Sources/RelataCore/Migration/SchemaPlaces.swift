/// The positions of the entities and columns of a schema, by their names in the database: a planner looks up each
/// column.
struct SchemaPlaces {
    private let schema: Schema
    private var columns: [Int: [FoldedName: Int]] = [:]

    /// - Parameter part: The names of the tables that are asked about most; `nil` for all.
    init(_ schema: Schema, among part: Set<FoldedName>?) {
        self.schema = schema
        for table in schema.tables(among: part) {
            columns[table.index] = Dictionary(
                table.columns.enumerated().map { ($1.name.foldedName, $0) }, uniquingKeysWith: { first, _ in first })
        }
    }

    /// The number of the entity of a table.
    func number(of table: String) -> Int? { schema.index(ofTable: table) }

    /// A column of an entity.
    func column(_ name: String, of entity: Int) -> Column? {
        let all = schema.tables[entity].columns
        guard let numbers = columns[entity] else { return all.first { $0.name.isSameName(as: name) } }
        return numbers[name.foldedName].map { all[$0] }
    }
}
