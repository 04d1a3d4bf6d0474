import Foundation
import RelataCore
import RelataEngine

/// Sets properties of all objects of a query in one statement.
struct QueryUpdate {
    let transaction: WriteTransaction

    func update<M: Model>(_ query: Query<M>, _ assignments: [Assignment]) throws -> Int {
        let (connection, catalog) = (transaction.connection, transaction.catalog)
        let table = try catalog.table(M.self)
        try transaction.requireOwner(for: "an update by query", "save or delete the objects themselves")
        for assignment in assignments {
            let counted = catalog.schema.references.contains {
                $0.source == table.index && $0.property == assignment.property
                    && ($0.minimumCount != nil || $0.maximumCount != nil)
            }
            if counted {
                throw RelataError.invalidUse(
                    "\(M.entityName).\(assignment.property) counts towards a list with a minimum or maximum: update the objects one by one"
                )
            }
        }
        let checked = try checkedColumns(assignments, table)
        // Without limits, rules or observers one statement is all, and no row is read.
        let returnsKeys = !checked.isEmpty || M.validatesItself || connection.recorder?.listsRows == true
        let compiled = try transaction.compiler.update(
            try transaction.plan(query), assignments + stamps(table), returnsKeys: returnsKeys, returned: checked)
        return try transaction.atomically {
            guard returnsKeys else {
                return try explaining(assignments, table) { try connection.run(compiled.statement) }
            }
            // Limits are checked on the updated rows; the savepoint rolls them back.
            var keys: [KeyValue] = []
            var failures: [ValidationFailure] = []
            try explaining(assignments, table) {
                try connection.rows(compiled.statement) { row in
                    let key = KeyValue(
                        table.keyColumns.enumerated().map { row.value(at: $0, as: table.columns[$1].type) })
                    keys.append(key)
                    for (index, number) in checked.enumerated() {
                        let column = table.columns[number]
                        let value = row.value(at: table.keyColumns.count + index, as: column.type)
                        check(value, column, of: key, table, &failures)
                    }
                }
            }
            try Validation.refuse(failures)
            if M.validatesItself {
                let changed = Query<M>().where { _ in Condition(.keyIn(FieldPath().object, keys)) }
                // Including those that the update has hidden.
                let all = ReadTransaction(connection, catalog, access: .everything)
                try all.forEach(changed) { object in
                    let count = failures.count
                    Validation.checkRules([object], table, &failures)
                    for number in count..<failures.count { failures[number].object = "\(object.reference())" }
                }
                try Validation.refuse(failures)
            }
            connection.recorder?.record(
                .update, table.index, KeyList(keys), properties: assignments.map(\.property) + table.stampProperties)
            return keys.count
        }
    }

    /// Runs the statement, and names object and property in its error.
    private func explaining<Result>(
        _ assignments: [Assignment], _ table: Table, _ body: () throws -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch {
            let object = ObjectReference(entity: table.name, key: KeyValue(.null))
            // A failed transaction on another engine answers no queries: the error itself names the columns.
            let isAsked = transaction.connection.driver.capabilities.survivesErrors
            if isAsked, let missing = try missingTarget(assignments, table) { throw missing }
            let translated = try ConstraintErrors(transaction.connection, schema: transaction.catalog.schema).translate(
                error, object: object, table: table
            ) { values(assignments, table) }
            throw unset(translated, assignments) ?? translated
        }
    }

    /// The keys that assignments give to columns.
    private func values(_ assignments: [Assignment], _ table: Table) -> [Value] {
        var values = [Value](repeating: .null, count: table.columns.count)
        for assignment in assignments {
            guard case .key(let key?) = assignment.value else { continue }
            for (column, value) in zip(table.columnIndexes(of: assignment.property), key.values) {
                values[column] = value
            }
        }
        return values
    }

    // MARK: Checks

    /// The columns whose new values must be checked: those with a limit that a value may break, and those whose type
    /// may not hold the computed value.
    private func checkedColumns(_ assignments: [Assignment], _ table: Table) throws -> [Int] {
        assignments.compactMap { assignment in
            guard case .expression(let node) = assignment.value,
                let attribute = table.entity.attribute(assignment.property),
                let column = table.columns.firstIndex(where: { $0.property == assignment.property })
            else { return nil }
            if case .value(let value) = node {
                return attribute.limits.contains { $0.failure(of: value, type: attribute.type) != nil } ? column : nil
            }
            return !attribute.limits.isEmpty || node.calculates && !holdsEveryNumber(attribute) ? column : nil
        }
    }

    /// Whether an attribute's type holds every result of a calculation.
    private func holdsEveryNumber(_ attribute: Attribute) -> Bool {
        attribute.valueType.wrapped == Double.self || attribute.valueType.wrapped == String.self
    }

    /// Checks a new value against limits and type.
    private func check(
        _ value: Value, _ column: Column, of key: KeyValue, _ table: Table, _ failures: inout [ValidationFailure]
    ) {
        let count = failures.count
        defer {
            let object = ObjectReference(entity: table.name, key: key)
            for number in count..<failures.count { failures[number].object = "\(object)" }
        }
        let type = table.entity.attribute(column.property)?.valueType.wrapped as? any AttributeValue.Type
        if let type, !value.isNull, type.init(databaseValue: value) == nil {
            failures.append(
                ValidationFailure(
                    entity: table.name, property: column.property, key: key,
                    message: "the result \(value) doesn't fit \(type)"))
        } else {
            table.checkLimits(of: value, column, key: key, into: &failures)
        }
    }

    /// The error of a required attribute that is set to something which turned out to be unset.
    private func unset(_ error: any Error, _ assignments: [Assignment]) -> RelataError? {
        guard case RelataError.requiredReference(let entity, let property, _) = error,
            let assignment = assignments.first(where: { $0.property == property }), case .expression = assignment.value
        else { return nil }
        return .validation([
            ValidationFailure(
                entity: entity, property: property, key: nil,
                message:
                    "is required, but its new value is unset for an object, for example because of a division by zero: add .or(…) to it"
            )
        ])
    }

    /// The target of an assignment that isn't stored.
    private func missingTarget(_ assignments: [Assignment], _ table: Table) throws(RelataError) -> RelataError? {
        let schema = transaction.catalog.schema
        for assignment in assignments {
            guard case .key(let key?) = assignment.value,
                let reference = schema.references.first(where: {
                    $0.source == table.index && $0.property == assignment.property && $0.isEnforced
                })
            else { continue }
            if try !transaction.connection.isStored(key, in: schema.tables[reference.target]) {
                return .invalidReference(entity: table.name, property: assignment.property, key: key)
            }
        }
        return nil
    }

    /// The values that every write of a row also sets.
    private func stamps(_ table: Table) -> [Assignment] {
        var assignments: [Assignment] = []
        if let revision = table.entity.revision {
            assignments.append(
                Assignment(revision, .arithmetic(.add, .property(scope: 0, path: [revision]), .value(1))))
        }
        if let updatedAt = table.entity.updatedAt {
            assignments.append(
                Assignment(
                    updatedAt, .value(DateText.microseconds(of: transaction.stamp).map { .integer($0) } ?? .null)))
        }
        return assignments
    }
}

/// Collects the assignments of an update by query.
@resultBuilder
public enum AssignmentBuilder {
    /// One element of the list.
    public static func buildExpression(_ assignment: Assignment) -> [Assignment] { [assignment] }
    /// The elements one after the other.
    public static func buildBlock(_ assignments: [Assignment]...) -> [Assignment] { assignments.flatMap { $0 } }
    /// The elements of an `if`.
    public static func buildOptional(_ assignments: [Assignment]?) -> [Assignment] { assignments ?? [] }
    /// The elements of one branch.
    public static func buildEither(first assignments: [Assignment]) -> [Assignment] { assignments }
    /// The elements of one branch.
    public static func buildEither(second assignments: [Assignment]) -> [Assignment] { assignments }
}

extension AttributeField {
    private var assigned: String { Self.path(of: self) }

    /// Sets the attribute in an update by query.
    public func set(to value: QueryValue) -> Assignment { Assignment(assigned, coding.constant(value)) }

    /// Unsets an attribute that may be unset in an update by query: `$0.due.unset()`.
    public func unset<Wrapped>() -> Assignment where QueryValue == Wrapped? { Assignment(assigned, .value(.null)) }

    /// Sets an optional attribute to a value computed from the object in an update by query.
    public func set<Wrapped, Other: QueryExpression<Wrapped>>(to expression: Other) -> Assignment
    where QueryValue == Wrapped? { Assignment(assigned, expression.node) }

    /// Sets the attribute to a value computed from the object in an update by query.
    public func set<Other: QueryExpression<QueryValue>>(to expression: Other) -> Assignment {
        Assignment(assigned, expression.node)
    }
}

extension ToOneField {
    private var assigned: String { Self.path(of: self) }

    /// Links to an object, or to none, in an update by query.
    public func set(to object: Target?) -> Assignment {
        guard let object else { return unset() }
        guard let key = object.primaryKey else {
            return Assignment(assigned, .invalid("the new \(Target.entityName) isn't stored yet: save it first"))
        }
        return set(id: key)
    }

    /// Links to none in an update by query: `$0.genre.unset()`.
    public func unset() -> Assignment { Assignment(assigned, key: nil) }

    /// Links to the object with that key in an update by query. A `nil` key is an error when the update runs;
    /// ``unset()`` links to none.
    public func set(id: Target.Key?) -> Assignment {
        do {
            return Assignment(assigned, key: try Target.keyValue(Target.given(id)))
        } catch {
            return Assignment(assigned, .invalid("\(error)"))
        }
    }
}
