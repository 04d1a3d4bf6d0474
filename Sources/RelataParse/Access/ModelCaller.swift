import Relata
import RelataCore
import RelataEngine
import RelataRecords
import Synchronization

/// The sender of a request, or a subject, as the caller of a store of models. Each transaction looks up its rights.
struct ModelCaller: StoreCaller {
    let store: ParseStore
    let caller: Caller
    let models: ModelClasses

    init(_ caller: Caller, of store: ParseStore, models: Schema) {
        self.store = store
        self.caller = caller
        self.models = store.classes(ofModels: models)
    }

    func standing(on connection: Connection) throws -> CallerStanding {
        let transaction = try store.transaction(on: connection, caller)
        let known = try models.known(in: transaction.storedClasses, on: connection)
        let mayDoEverything = transaction.caller.isMaster && !store.isLimited && !caller.isReadOnly
        return CallerStanding(
            rights: mayDoEverything ? nil : try ModelRights(transaction, caller, models.schema, known),
            reported: known.reported)
    }

    func reportedName(of table: Table) -> String {
        let classes = store.currentClasses.schema
        return classes.index(ofTable: table.sqlName).map { classes.tables[$0].name } ?? table.sqlName
    }
}

/// The classes whose objects an app's models are.
final class ModelClasses: Sendable {
    /// The schema of the models.
    let schema: Schema
    /// Whether they are the server's classes.
    private let areServed: Bool
    private let last = Mutex<Known?>(nil)

    struct Known {
        /// The number of the tables that the models were compared with.
        let version: Int64
        /// The names of the classes, by those of the models.
        let names: [String: String]
        /// The models' entities, with the names of classes.
        let reported: ChangeEntities
        /// A relationship with a rule that deletes objects which the classes' own rules keep; `nil` for none.
        let deletingLink: String?
    }

    init(_ schema: Schema, areServed: Bool) {
        self.schema = schema
        self.areServed = areServed
    }

    /// The classes of the models.
    ///
    /// - Throws: `RelataError.schemaMismatch` if there is no such class, or a model doesn't fit; `.invalidUse` for a
    ///   class of the server's own.
    func known(in classes: ClassSet, on connection: Connection) throws -> Known {
        if let last = last.withLock({ $0 }), last.version == classes.version { return last }
        var names: [String: String] = [:]
        var problems: [SchemaProblem] = []
        for table in schema.tables {
            guard let index = classes.schema.index(ofTable: table.sqlName) else {
                problems.append(
                    SchemaProblem(
                        entity: table.name,
                        message: "the server has no class \(table.sqlName) yet: create it, or write an object of it"))
                continue
            }
            let name = classes.schema.tables[index].name
            guard !name.hasPrefix("_") || [InternalClasses.user, InternalClasses.role].contains(name) else {
                throw RelataError.invalidUse("\(table.name): the class \(name) is the server's own, and has no models")
            }
            names[table.name] = name
        }
        if problems.isEmpty, !areServed {
            let wanted = try Schema(entities(keptAs: classes.schema), since: schema)
            problems = try Migrator.prepare(connection, schema: wanted).changes.map { change in
                SchemaProblem(
                    entity: change.entity, property: change.property,
                    message: "the server's classes don't fit the models (\(change.message)): change one of them")
            }
        }
        if !problems.isEmpty { throw RelataError.schemaMismatch(problems) }
        let known = Known(
            version: classes.version, names: names, reported: ChangeEntities(try reported(by: names)),
            deletingLink: deletingLink(besides: classes.schema))
        last.withLock { $0 = known }
        return known
    }

    /// The schema of the models, with the names of classes.
    private func reported(by names: [String: String]) throws(RelataError) -> Schema {
        if names.allSatisfy({ $0.key == $0.value }) { return schema }
        return try Schema(
            schema.tables.map { table in
                var entity = table.entity
                entity.name = names[table.name] ?? table.name
                for (place, property) in entity.properties.enumerated() {
                    guard case .relationship(var relationship) = property else { continue }
                    relationship.target = names[relationship.target] ?? relationship.target
                    entity.properties[place] = .relationship(relationship)
                }
                return entity
            })
    }

    /// The first relationship whose rule deletes objects that the rules of classes keep.
    private func deletingLink(besides classes: Schema) -> String? {
        func isSame(_ table: Int, _ own: Int) -> Bool {
            schema.tables[table].sqlName.isSameName(as: classes.tables[own].sqlName)
        }
        func areSame(_ columns: [String], _ own: [String]) -> Bool {
            columns.elementsEqual(own) { $0.isSameName(as: $1) }
        }
        for reference in schema.references {
            let own = classes.references.first {
                isSame(reference.source, $0.source) && areSame(reference.columns, $0.columns)
            }
            let deletes =
                reference.onTargetDelete == .cascade && own?.onTargetDelete != .cascade
                || reference.onSourceDelete == .cascade && own?.onSourceDelete != .cascade
            if deletes { return "\(schema.tables[reference.source].name).\(reference.property)" }
        }
        for join in schema.joins {
            let own = classes.join(ofTable: join.table)
            let isTurned = own.map { !areSame(join.sourceColumns, $0.sourceColumns) } ?? false
            let (source, target) =
                isTurned
                ? (own?.onTargetDelete, own?.onSourceDelete) : (own?.onSourceDelete, own?.onTargetDelete)
            let deletes =
                join.onSourceDelete == .cascade && source != .cascade
                || join.onTargetDelete == .cascade && target != .cascade
            if deletes { return "\(schema.tables[join.source].name).\(join.property)" }
        }
        return nil
    }

    /// The models' entities, with numbers that are kept as those of classes are: models read either kind.
    private func entities(keptAs classes: Schema) -> [Entity] {
        schema.tables.map { table in
            guard let own = classes.index(ofTable: table.sqlName).map({ classes.tables[$0] }) else {
                return table.entity
            }
            var entity = table.entity
            for (place, property) in entity.properties.enumerated() {
                guard case .attribute(var attribute) = property, attribute.type == .real,
                    let column = own.columns.first(where: { $0.name.isSameName(as: attribute.column) }),
                    column.type == .real
                else { continue }
                attribute.keepsIntegers = column.keepsIntegers
                entity.properties[place] = .attribute(attribute)
            }
            return entity
        }
    }
}
