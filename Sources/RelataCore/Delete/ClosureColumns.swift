/// The columns of a closure after the entity's number, which are shared by the keys of several entities.
struct ClosureColumns {
    /// The columns' names.
    let names: [String]
    /// The columns of an entity's key, by the entity's number.
    let places: [Int: [Int]]
    private let types: [AttributeType]

    /// Columns for the keys of some entities. A column holds values of any type on SQLite, and of one on PostgreSQL.
    init(of group: [Int], in schema: Schema, _ dialect: Dialect) {
        var types: [AttributeType] = []
        var places: [Int: [Int]] = [:]
        for entity in group {
            var own: [Int] = []
            for type in schema.tables[entity].keyTypes {
                let name = dialect.type(of: type)
                let place = types.indices.first {
                    !own.contains($0) && (dialect == .sqlite || dialect.type(of: types[$0]) == name)
                }
                if place == nil { types.append(type) }
                own.append(place ?? types.count - 1)
            }
            places[entity] = own
        }
        self.types = types
        self.places = places
        names = types.indices.map { "k\($0)" }
    }

    /// The names of the columns of an entity's key.
    func names(of entity: Int) -> [String] { (places[entity] ?? []).map { names[$0] } }

    /// A row: the entity's number, its key, and nothing in the columns of others.
    func row(_ entity: Int, _ key: [String], _ dialect: Dialect) -> String {
        (["\(entity)"] + values(entity, key, dialect)).joined(separator: ", ")
    }

    /// A row without the entity's number.
    func values(_ entity: Int, _ key: [String], _ dialect: Dialect) -> [String] {
        var values = types.map(dialect.null)
        for (place, value) in zip(places[entity] ?? [], key) { values[place] = value }
        return values
    }
}
