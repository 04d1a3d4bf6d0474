/// The rows that a caller may see. Every statement that reads is compiled under an access.
///
/// An entity without a condition is open: all of its rows are visible. A guarded entity shows the rows that meet its
/// condition. Other rows are invisible everywhere: in results, members and counts, and links to them read as dangling.
/// Only the key that a row itself holds stays in the row. A property may be masked: it is unset in rows that don't meet
/// its own condition.
///
/// A statement takes the name of each table that it reads from `ExpressionWriter.source(_:)`, which applies the
/// access. Delete rules, checks and migrations run as the schema's, and see everything.
package struct Access: Hashable, Sendable {
    /// All rows of all entities.
    package static let everything = Access(guards: [:])

    /// By the entity's name.
    private let guards: [String: Guard]
    /// The common part of accesses that differ in values only.
    package let shape: Shape

    /// The conditions on the rows of an entity, and on its properties.
    struct Guard: Hashable, Sendable {
        let condition: ExpressionNode
        /// The conditions of rows that show a property, by the property's name.
        let masks: [String: ExpressionNode]
        /// The conditions as SQL-independent text, outside of a statement.
        fileprivate let statement: SQLStatement
        /// The table that the conditions are written for, if it is an entity of another schema.
        fileprivate(set) var home: Home?

        /// An entity, and the schema that it belongs to.
        struct Home: Sendable {
            let table: Table
            let schema: Schema
        }

        static func == (one: Guard, other: Guard) -> Bool {
            one.condition == other.condition && one.masks == other.masks && one.statement == other.statement
                && one.home?.table.sqlName == other.home?.table.sqlName
        }

        func hash(into hasher: inout Hasher) { hasher.combine(statement) }

        fileprivate init(
            _ entity: String, _ condition: ExpressionNode, _ masks: [String: ExpressionNode], _ schema: Schema,
            _ dialect: Dialect
        ) throws(RelataError) {
            guard let table = schema[entity] else {
                throw .invalidUse(
                    "there is no entity \(entity)"
                        + NameSuggestion.hint(for: entity, among: schema.tables.map(\.name)))
            }
            guard condition.isOfOneRow, masks.values.allSatisfy(\.isOfOneRow) else {
                throw .invalidUse("the access condition of \(entity) may use only the row's own columns")
            }
            if let name = masks.keys.sorted().first(where: { !table.canMask($0) }) {
                throw .invalidUse("\(entity) has no property \(name) that some of its rows can hide")
            }
            var writer = ExpressionWriter(schema: schema, dialect: dialect, access: .everything)
            self.condition = condition
            self.masks = masks
            statement = try writer.condition(condition, masks, onRowsOf: table).statement
        }
    }

    private init(guards: [String: Guard]) {
        self.guards = guards
        shape = Shape(guards.mapValues(\.statement.sql))
    }

    /// Guards entities.
    ///
    /// - Parameters:
    ///   - conditions: The conditions of visible rows, by the entity's name. A condition uses only the row's own
    ///     columns: attributes, elements of arrays in them, and keys of to-ones.
    ///   - masks: The conditions of rows that show a property, by the names of the entity and of the property.
    /// - Throws: ``RelataError/invalidUse(_:)`` for names that the schema doesn't have, and for conditions on other
    ///   rows.
    package init(
        _ conditions: [String: ExpressionNode], masks: [String: [String: ExpressionNode]] = [:], in schema: Schema,
        dialect: Dialect = .sqlite
    ) throws(RelataError) {
        var guards: [String: Guard] = [:]
        for entity in Set(conditions.keys).union(masks.keys) {
            guards[entity] = try Guard(entity, conditions[entity] ?? .and([]), masks[entity] ?? [:], schema, dialect)
        }
        self.init(guards: guards)
    }

    /// A copy with another condition on the rows of one entity, or with none. Its masks stay.
    ///
    /// - Throws: the errors of ``init(_:in:dialect:)``.
    package func guarding(
        _ entity: String, by condition: ExpressionNode?, in schema: Schema, dialect: Dialect
    ) throws(RelataError) -> Access {
        var guards = guards
        let masks = guards[entity]?.masks ?? [:]
        guards[entity] =
            condition == nil && masks.isEmpty
            ? nil : try Guard(entity, condition ?? .and([]), masks, schema, dialect)
        return Access(guards: guards)
    }

    /// A copy that also hides properties in all rows of an entity.
    ///
    /// - Throws: the errors of ``init(_:in:dialect:)``.
    package func hiding(
        _ properties: Set<String>, of entity: String, in schema: Schema, dialect: Dialect
    ) throws(RelataError) -> Access {
        if properties.isEmpty { return self }
        var guards = guards
        let known = guards[entity]
        var masks = known?.masks ?? [:]
        for property in properties { masks[property] = .or([]) }
        guards[entity] = try Guard(entity, known?.condition ?? .and([]), masks, schema, dialect)
        return Access(guards: guards)
    }

    /// The access for a schema in which the same tables are other entities. Conditions may use properties that these
    /// don't have.
    ///
    /// - Parameters:
    ///   - names: The names of the entities in `schema`, by those of the other entities. No other entity is guarded.
    ///   - schema: The schema that the conditions are written for.
    package func renamed(_ names: [String: String], from schema: Schema) -> Access {
        var renamed: [String: Guard] = [:]
        for (name, own) in names {
            guard var known = guards[own], let table = schema[own] else { continue }
            known.home = Guard.Home(table: table, schema: schema)
            renamed[name] = known
        }
        return Access(guards: renamed)
    }

    /// Whether any entity is guarded.
    package var isLimited: Bool { !guards.isEmpty }

    /// Refuses operations that no condition can limit.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` if any entity is guarded.
    package func requireEverything(for what: String) throws(RelataError) {
        guard isLimited else { return }
        throw .invalidUse("\(what) shows every row: avoid it where rows are hidden")
    }

    /// Whether rows of an entity may be hidden.
    package func guards(_ table: Table) -> Bool { isLimited && guards[table.name] != nil }

    /// Whether rows of an entity of that name may be hidden.
    func isGuarded(_ entity: String) -> Bool { guards[entity] != nil }

    /// The conditions on rows of an entity; `nil` for an open one.
    func conditions(on table: Table) -> Guard? { isLimited ? guards[table.name] : nil }

    /// Whether some rows of an entity may hide a property.
    func masks(_ property: String, of table: Table) -> Bool {
        isLimited && guards[table.name]?.masks[property] != nil
    }

    /// The condition of rows that show a property; `nil` if all visible rows do.
    package func mask(_ property: String, of entity: String) -> ExpressionNode? { guards[entity]?.masks[property] }

    // MARK: Statements for many callers

    /// The part of an access that determines the text of a statement: the conditions without their values. Statements
    /// are cached by it.
    package struct Shape: Hashable, Sendable {
        private let conditions: [String: String]
        /// The hash of the conditions: each request looks for the statements of its shape.
        private let hash: Int

        fileprivate init(_ conditions: [String: String]) {
            self.conditions = conditions
            hash = conditions.hashValue
        }

        package func hash(into hasher: inout Hasher) { hasher.combine(hash) }
    }

    /// A value that a condition binds.
    func parameter(_ number: Int, of entity: String) -> Parameter? {
        guard let parameters = guards[entity]?.statement.parameters, parameters.indices.contains(number) else {
            return nil
        }
        return parameters[number]
    }
}

/// The place of a value in a statement that comes from the access it was compiled under.
package struct AccessParameter: Hashable, Sendable {
    /// Its number among the statement's parameters, from 0.
    package let place: Int
    /// The guarded entity, and the index of the value in its condition.
    let entity: String
    let number: Int
}

extension CompiledQuery {
    /// The bound values besides those of the access.
    package var ownParameters: [Parameter] {
        if accessParameters.isEmpty { return statement.parameters }
        let places = Set(accessParameters.map(\.place))
        return statement.parameters.indices.filter { !places.contains($0) }.map { statement.parameters[$0] }
    }

    /// The statement for another access of the same shape.
    ///
    /// - Parameters:
    ///   - own: The bound values besides those of the access, in order: as many as ``ownParameters``.
    ///   - access: The access whose values are bound.
    package func statement(binding own: [Parameter], under access: Access) -> SQLStatement {
        if accessParameters.isEmpty { return SQLStatement(statement.sql, own) }
        var parameters: [Parameter?] = Array(repeating: nil, count: statement.parameters.count)
        for value in accessParameters { parameters[value.place] = access.parameter(value.number, of: value.entity) }
        var rest = own[...]
        // A missing value hides all rows: nothing equals NULL.
        return SQLStatement(statement.sql, parameters.map { $0 ?? rest.popFirst() ?? .value(.null) })
    }
}

extension Table {
    /// Whether some rows can hide a property: it has columns besides the key's.
    package func canMask(_ property: String) -> Bool {
        let columns = columnIndexes(of: property)
        return !columns.isEmpty && Set(columns).isDisjoint(with: keyColumns)
    }
}

extension ExpressionNode {
    /// Whether it reads only columns of its own object.
    fileprivate var isOfOneRow: Bool {
        switch self {
        case .property(let scope, let path): scope == 0 && path.count < 2
        case .quantified, .aggregate, .groupAggregate, .inQuery, .sql, .found, .relevance: false
        default: parts.allSatisfy(\.isOfOneRow)
        }
    }
}
