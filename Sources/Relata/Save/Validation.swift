/// Declared limits, checked before anything is written.
enum Validation {
    /// Checks objects against their limits and their own rules.
    static func check<M: Model>(_ objects: [M], _ table: Table, _ failures: inout [ValidationFailure]) {
        let isLimited = table.entity.attributes.contains { !$0.limits.isEmpty }
        for object in objects {
            if isLimited { checkLimits(object, table, &failures) }
            do {
                try object.validate()
            } catch RelataError.validation(let own) {
                failures += own
            } catch {
                failures.append(
                    ValidationFailure(
                        entity: table.name, property: nil, key: object.reference().key, message: "\(error)"))
            }
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
            for limit in table.entity.attribute(column.property)?.limits ?? [] {
                guard let message = limit.failure(of: values[index]) else { continue }
                failures.append(
                    ValidationFailure(
                        entity: table.name, property: column.property, key: object.reference().key, message: message))
            }
        }
    }
}
