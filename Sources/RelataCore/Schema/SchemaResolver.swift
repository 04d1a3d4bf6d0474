struct SchemaResolver {
    let entities: [Entity]
    var tables: [Table] = []
    var references: [Reference] = []
    var joins: [Join] = []
    var tableIndex: [String: Int] = [:]
    mutating func resolve() throws(RelataError) {}
}
