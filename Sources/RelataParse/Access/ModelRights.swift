import Relata
import RelataCore
import RelataEngine

/// The rights of a caller to the objects of an app's models, which are objects of classes.
struct ModelRights: CallerRights {
    let read, update, delete, create: Access
    private let transaction: ParseTransaction
    private let caller: Caller
    /// The names of the classes, by those of the models.
    private let names: [String: String]
    /// The models with properties that are hidden from the caller, at least in some objects.
    private let hiding: Set<String>
    /// A relationship of the models with a rule that deletes objects which the classes' own rules keep.
    private let deletingLink: String?

    /// - Parameters:
    ///   - transaction: The transaction of the caller.
    ///   - models: The schema of the models.
    ///   - classes: The classes of the models.
    /// - Throws: `RelataError.invalidUse` for a model that can't be without a property which is hidden from the caller.
    init(
        _ transaction: ParseTransaction, _ caller: Caller, _ models: Schema, _ classes: ModelClasses.Known
    ) throws {
        let names = classes.names
        self.transaction = transaction
        self.caller = caller
        self.names = names
        deletingLink = classes.deletingLink
        let known = transaction.caller
        let (schema, dialect) = (transaction.storedClasses.schema, transaction.connection.dialect)
        var read = known.read
        var creatable: [String: ExpressionNode] = [:]
        for name in Set(names.values) {
            let permissions = transaction.storedClasses.permissions[name]
            read = try read.hiding(
                Self.hiddenFields(of: name, transaction).filter { schema[name]?.canMask($0) == true }, of: name,
                in: schema, dialect: dialect)
            // A request is refused before it finds any of them; here they may be at the end of a link.
            if case .nothing = known.permission(.find, on: permissions) {
                read = try read.guarding(name, by: ConditionReader.nothing, in: schema, dialect: dialect)
            }
            let mayCreate = known.permission(.create, on: permissions)
            if case .objects = mayCreate {
                creatable[name] = known.condition(
                    [mayCreate], onObjectsOf: name, transaction.storedClasses[name], nil)
            }
        }
        self.read = read.renamed(names, from: schema)
        update = known.write.renamed(names, from: schema)
        delete = known.delete.renamed(names, from: schema)
        create = try Access(creatable, in: schema, dialect: dialect).renamed(names, from: schema)
        hiding = try Self.hiding(models, names, transaction)
    }

    // MARK: Hidden properties

    /// The fields of a class that all objects hide from the caller, or that no client sees.
    private static func hiddenFields(of name: String, _ transaction: ParseTransaction) -> Set<String> {
        if transaction.caller.isMaster { return [] }
        let hidden = transaction.caller.hiddenFields[name] ?? []
        guard name.hasPrefix("_"), let entity = transaction.storedClasses.schema[name]?.entity else { return hidden }
        return hidden.union(entity.properties.map(\.name).filter { $0.hasPrefix("_") })
    }

    /// The models with properties that are hidden, at least in some objects.
    ///
    /// - Throws: `RelataError.invalidUse` for one that must have a value, that a search reads, or that no object can hide.
    private static func hiding(
        _ models: Schema, _ names: [String: String], _ transaction: ParseTransaction
    ) throws(RelataError) -> Set<String> {
        let classes = transaction.storedClasses.schema
        var hiding: Set<String> = []
        for table in models.tables {
            guard let name = names[table.name], let own = classes[name] else { continue }
            let hidden = hiddenFields(of: name, transaction)
                .union(transaction.caller.fieldsHidden(inSomeOf: name))
            let columns = own.columns.filter { hidden.contains($0.property) }.map(\.name)
            for column in table.columns where columns.contains(where: { $0.isSameName(as: column.name) }) {
                hiding.insert(table.name)
                if !column.isOptional { throw refusal(table.name, column.property, "declare it optional") }
                guard table.entity.search?.contains(column.property) != true else {
                    throw refusal(table.name, column.property, "leave it out of the search")
                }
            }
        }
        for join in models.joins {
            guard let own = classes.join(ofTable: join.table) else { continue }
            let ends = [(own.source, own.property)] + (own.inverse.map { [(own.target, $0)] } ?? [])
            for (end, property) in ends {
                guard hiddenFields(of: classes.tables[end].name, transaction).contains(property) else { continue }
                throw refusal(models.tables[join.source].name, join.property, "use models without it")
            }
        }
        return hiding
    }

    private static func refusal(_ model: String, _ property: String, _ mend: String) -> RelataError {
        .invalidUse("\(model).\(property) is hidden from the caller, at least in some objects: \(mend)")
    }

    func hidesProperties(of model: String) -> Bool { hiding.contains(model) }

    var hidesProperties: Bool { !hiding.isEmpty }

    // MARK: Operations

    func check(_ operation: CallerOperation, on model: String) throws {
        guard let name = names[model], let parseClass = transaction.storedClasses[name] else { return }
        if operation.isWriting {
            if caller.isReadOnly { throw ParseError.readOnlyMasterKey("a change") }
            if case .role? = caller.subject { throw ParseError.roleOnlyReads }
            if name.hasPrefix("_") {
                throw ParseError(.operationForbidden, "objects of \(name) are written by requests: use send(_:_:_:)")
            }
        }
        if case .delete = operation, let deletingLink {
            throw RelataError.invalidUse(
                "\(deletingLink) has a rule to delete objects that the server's classes don't have, and it would pass by the caller's rights: give the class the same rule, or use the store itself"
            )
        }
        for operation in operation.onClasses { try transaction.check(operation, on: parseClass) }
    }

    func refusal(of operation: CallerOperation, on model: String) -> any Error {
        ParseError.notAllowed(operation.onClasses[0], names[model] ?? model)
    }

    // MARK: New objects

    /// Gives new objects the default access list of their class.
    func complete(_ keys: [KeyValue], of table: Table, on connection: Connection) throws {
        guard let name = names[table.name], let parseClass = transaction.storedClasses[name],
            let list = parseClass.options.permissions?.defaultAccess(for: transaction.caller.session?.user),
            !list.isOpen
        else { return }
        guard let column = parseClass.accessColumn else {
            throw ParseError(
                .operationForbidden,
                "no object of \(name) has an ACL yet, which new ones get by default: create the first one by a request")
        }
        let value = try connection.writingByOtherSchema { try transaction.stored(list) }
        let (dialect, rowSQL) = (connection.dialect, connection.rowSQL)
        let sql =
            "UPDATE \(dialect.quote(table.sqlName)) "
            + "SET \(dialect.quote(parseClass.table.columns[column].name)) = \(dialect.parameter(1)) "
            + "WHERE \(rowSQL.matches(table.keyColumnNames, from: 2))"
        for key in keys { try connection.run(SQLStatement(sql, ([value] + key.values).map(Parameter.value))) }
    }
}

extension CallerOperation {
    fileprivate var isWriting: Bool { [.create, .update, .delete].contains(self) }

    /// The operations that a class must allow. A store finds objects that may be both found and fetched one by one.
    fileprivate var onClasses: [ClassPermissions.Operation] {
        switch self {
        case .find: [.find, .get]
        case .count: [.count]
        case .create: [.create]
        case .update: [.update]
        case .delete: [.delete]
        }
    }
}

extension ParseError {
    /// The error for a write by a subject that is a role.
    static let roleOnlyReads = ParseError(.operationForbidden, "a role can only read: act as one of its users")
}
