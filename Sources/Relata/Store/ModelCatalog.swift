import RelataCore
import RelataEngine
import Synchronization

/// The models of a store: their schema, and which table each type is.
final class ModelCatalog: Sendable {
    let schema: Schema
    let types: [any Model.Type]
    private let indexes: [ObjectIdentifier: Int]
    /// For each table, the target table and resolved link of each relationship, in order.
    let links: [[PlannedLink]]

    /// The existing catalogs, by their models.
    private static let made = Mutex<[[ObjectIdentifier]: ModelCatalog]>([:])

    /// The catalog of models: made once, because models don't change while a program runs, and resolving many takes
    /// longer than opening their file.
    ///
    /// - Throws: ``RelataError/schemaMismatch(_:)``.
    static func of(_ models: [any Model.Type]) throws(RelataError) -> ModelCatalog {
        let key = models.map { ObjectIdentifier($0) }
        if let known = made.withLock({ $0[key] }) { return known }
        let catalog = try ModelCatalog(models)
        made.withLock { $0[key] = catalog }
        return catalog
    }

    /// Finds all models that are linked to the given ones and checks that they fit.
    ///
    /// - Throws: ``RelataError/schemaMismatch(_:)``.
    private convenience init(_ models: [any Model.Type]) throws(RelataError) {
        var types: [any Model.Type] = []
        var indexes: [ObjectIdentifier: Int] = [:]
        var open = models[...]
        while let type = open.popFirst() {
            guard indexes[ObjectIdentifier(type)] == nil else { continue }
            indexes[ObjectIdentifier(type)] = types.count
            types.append(type)
            open.append(contentsOf: type.linkedModels)
        }
        let schema = try Schema(types.map { $0.entity })
        try Self.checkOrders(schema)
        self.init(schema, types, indexes)
    }

    /// The models on a file whose tables compare foreign keys by other rules.
    ///
    /// - Parameter entities: The models' entities with these rules; `nil` for none.
    func comparing(_ entities: [Entity]?) throws(RelataError) -> ModelCatalog {
        guard let entities else { return self }
        return ModelCatalog(try Schema(entities, since: schema), types, indexes)
    }

    private init(_ schema: Schema, _ types: [any Model.Type], _ indexes: [ObjectIdentifier: Int]) {
        self.schema = schema
        self.types = types
        self.indexes = indexes
        links = schema.tables.map { table in
            table.entity.relationships.compactMap { relationship in
                guard let link = table.links[relationship.name], let target = schema.index(of: relationship.target)
                else {
                    return nil
                }
                return PlannedLink(relationship.name, target, link, schema)
            }
        }
    }

    /// Edits of a list that is ordered by an attribute write places, which are whole numbers.
    private static func checkOrders(_ schema: Schema) throws(RelataError) {
        for reference in schema.references where !reference.isOrderStored {
            let source = schema.tables[reference.source]
            guard let column = source.columns.first(where: { $0.name == reference.orderColumn }),
                column.type != .integer
            else { continue }
            throw .schemaMismatch([
                SchemaProblem(
                    entity: schema.tables[reference.target].name, property: reference.inverse,
                    message: "it is ordered by \(source.name).\(column.property), which isn't an integer attribute: "
                        + "declare `var \(column.property): Int` there, or use `ordered: true`")
            ])
        }
    }

    /// The table of a model.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` if the store wasn't opened for it.
    func table<M: Model>(_ model: M.Type) throws(RelataError) -> Table { schema.tables[try index(of: model)] }

    /// The number of a model's table.
    func index<M: Model>(of model: M.Type) throws(RelataError) -> Int {
        guard let index = indexes[ObjectIdentifier(model)] else {
            throw .invalidUse("the store wasn't opened for \(M.entityName): give it to Store.open(for:)")
        }
        return index
    }
}
