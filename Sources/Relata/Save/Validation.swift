import RelataCore

/// Declared limits, checked before anything is written.
enum Validation {
    /// Checks objects against their limits and their own rules.
    static func check<M: Model>(_ objects: [M], _ table: Table, _ failures: inout [ValidationFailure]) {
        guard table.entity.attributes.contains(where: { !$0.limits.isEmpty }) else {
            return checkRules(objects, table, &failures)
        }
        for (index, object) in objects.enumerated() {
            let count = failures.count
            checkLimits(object, table, &failures)
            checkRules([object], table, &failures)
            if objects.count > 1 { name(object, index, table, in: &failures, from: count) }
        }
    }

    /// Adds the name of the object to failures of one of several objects.
    private static func name<M: Model>(
        _ object: M, _ index: Int, _ table: Table, in failures: inout [ValidationFailure], from first: Int
    ) {
        for number in first..<failures.count {
            failures[number].object =
                object.primaryKey == nil ? "\(table.name) no. \(index + 1)" : "\(object.reference())"
        }
    }

    /// Refuses a save for the failures that were found in it.
    ///
    /// - Throws: ``RelataError/validation(_:)`` if there are any; `CancellationError` for a cancelled task, whose
    ///   interrupted searches in texts may have reported false failures.
    static func refuse(_ failures: [ValidationFailure]) throws {
        if failures.isEmpty { return }
        try Task.checkCancellation()
        throw RelataError.validation(failures)
    }

    /// Has objects check themselves.
    static func checkRules<M: Model>(_ objects: [M], _ table: Table, _ failures: inout [ValidationFailure]) {
        guard M.validatesItself else { return }
        var loop = ValidationLoop(objects)
        while loop.next < objects.count {
            let count = failures.count
            do {
                try M.validate(&loop)
                return
            } catch RelataError.validation(let own) {
                failures += own
            } catch {
                failures.append(
                    ValidationFailure(
                        entity: table.name, property: nil, key: objects[loop.next].reference().key, message: "\(error)")
                )
            }
            if objects.count > 1 { name(objects[loop.next], loop.next, table, in: &failures, from: count) }
            loop.next += 1
        }
    }

    /// Checks all limited attributes of an object.
    static func checkLimits<M: Model>(_ object: M, _ table: Table, _ failures: inout [ValidationFailure]) {
        let values: [Value]
        do {
            values = try object.columnValues(table)
        } catch RelataError.validation(let own) {
            failures += own
            return
        } catch {
            failures.append(ValidationFailure(entity: table.name, property: nil, key: nil, message: "\(error)"))
            return
        }
        for (index, column) in table.columns.enumerated() where column.reference == nil {
            table.checkLimits(of: values[index], column, key: object.reference().key, into: &failures)
        }
    }
}

/// Asks objects of one model to validate themselves; `Model.validate(_:)` runs it.
@_documentation(visibility: internal)
@frozen
public struct ValidationLoop<M: Model> {
    @usableFromInline let objects: [M]
    /// The next object to check: after a failure, its cause.
    @usableFromInline var next = 0

    init(_ objects: [M]) { self.objects = objects }

    @inlinable
    mutating func run() throws {
        while next < objects.count {
            _ = try objects[next].validate()
            next += 1
        }
    }
}
