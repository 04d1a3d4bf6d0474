import Foundation
import RelataCore

/// Translates a violated constraint into the terms of the models.
package struct ConstraintErrors {
    private let connection: Connection
    private let schema: Schema

    package init(_ connection: Connection, schema: Schema) {
        self.connection = connection
        self.schema = schema
    }

    /// The error that names object and properties, for the database's error about a constraint.
    ///
    /// - Parameter values: The row's column values, only called if they help.
    package func translate(
        _ error: any Error, object: ObjectReference, table: Table, isInsert: Bool = false, values: () throws -> [Value]
    ) throws -> any Error {
        if case RelataError.fileAccess = error, let refusal = try keysAreUsedUp(table) { return refusal }
        if case RelataError.invalidUse = error, let refusal = try unstorable(object, table, values()) { return refusal }
        guard case RelataError.database(let code, let message, _) = error, Self.isOfConstraint(error) else {
            return error
        }
        switch code {
        case ConstraintCode.primaryKey, ConstraintCode.rowID: return RelataError.alreadyExists(object)
        case ConstraintCode.unique:
            let properties = properties(in: message, table)
            // After a failure within a transaction, another engine answers no queries; but its errors distinguish keys.
            let canAsk = isInsert && connection.driver.capabilities.survivesErrors
            if try Set(properties) == Set(table.entity.key) || canAsk && connection.isStored(object.key, in: table) {
                return RelataError.alreadyExists(object)
            }
            if let reference = schema.references.first(where: {
                $0.source == table.index && [$0.property] == properties && $0.inverse != nil
            }), !reference.isOptional {
                return RelataError.requiredReference(
                    entity: table.name, property: reference.property,
                    hint:
                        "another \(table.name) has that \(schema.tables[reference.target].name) and can't be without one: give it another first, or delete it; save objects that exchange theirs in one batch"
                )
            }
            return RelataError.uniqueViolation(entity: table.name, properties: properties)
        case ConstraintCode.notNull:
            let property = properties(in: message, table).first ?? "a property"
            return RelataError.requiredReference(entity: table.name, property: property, hint: "set it before saving")
        case ConstraintCode.foreignKey:
            let named = columns(in: message, table)
            return try
                (connection.driver.capabilities.survivesErrors
                ? culprit(table, values()) : culprit(table, named, values())) ?? error
        default: return error
        }
    }

    /// The error of values that models allow and the engine has no room for.
    private func unstorable(_ object: ObjectReference, _ table: Table, _ values: [Value]) -> RelataError? {
        let failures = zip(table.columns, values).compactMap { column, value in
            connection.dialect.refusal(of: value, as: column.type).map {
                ValidationFailure(entity: table.name, property: column.property, key: object.key, message: $0)
            }
        }
        return failures.isEmpty ? nil : .validation(failures)
    }

    /// The error of a table without free keys. SQLite reports a full disk.
    private func keysAreUsedUp(_ table: Table) throws(RelataError) -> RelataError? {
        // Another engine reports it correctly.
        guard connection.driver.capabilities.takesUsedUpKeysForFullDisk, table.entity.isKeyAssigned else { return nil }
        // SQLite has rolled back, and the connection would refuse to read outside of the transaction.
        let neededTransaction = connection.needsTransaction
        connection.needsTransaction = false
        defer { connection.needsTransaction = neededTransaction }
        guard try connection.driver.lastAssignedKey(of: table.sqlName, connection) == .max else { return nil }
        return .invalidUse(
            "\(table.name.withArticle) had the key \(Int64.max), so the database has no greater key for a new one: "
                + "give new objects their own keys")
    }

    /// Whether an error is about a row, and not about the connection or the file.
    package static func isOfConstraint(_ error: any Error) -> Bool {
        guard case RelataError.database(let code, _, _) = error else { return false }
        return ConstraintCode.isAny(code)
    }

    /// `UNIQUE constraint failed: Book.title, Book.year` → the names of these columns.
    private func columns(in message: String, _ table: Table) -> [String] {
        // A server's own message comes first.
        guard let start = message.range(of: "constraint failed: ", options: .backwards)?.upperBound else { return [] }
        return message[start...].components(separatedBy: ", ").map { part in
            part.hasPrefix(table.sqlName + ".") ? String(part.dropFirst(table.sqlName.count + 1)) : part
        }
    }

    /// The properties of the columns that a message names.
    private func properties(in message: String, _ table: Table) -> [String] {
        var properties: [String] = []
        for name in columns(in: message, table) {
            let property = table.columns.first { $0.name == name }?.property ?? name
            if !properties.contains(property) { properties.append(property) }
        }
        return properties
    }

    /// The reference of these columns, whose target doesn't exist.
    private func culprit(_ table: Table, _ columns: [String], _ values: [Value]) -> RelataError? {
        for reference in schema.references where reference.source == table.index && reference.columns == columns {
            let key = table.columns.indices.filter { table.columns[$0].reference == reference.index }.map {
                $0 < values.count ? values[$0] : .null
            }
            return .invalidReference(entity: table.name, property: reference.property, key: KeyValue(key))
        }
        return nil
    }

    /// The reference whose target doesn't exist.
    package func culprit(_ table: Table, _ values: [Value]) throws(RelataError) -> RelataError? {
        for reference in schema.references where reference.source == table.index && reference.isEnforced {
            let key = table.columns.indices.filter { table.columns[$0].reference == reference.index }.map {
                $0 < values.count ? values[$0] : .null
            }
            guard !key.contains(.null) else { continue }
            if try !connection.isStored(KeyValue(key), in: schema.tables[reference.target]) {
                return .invalidReference(entity: table.name, property: reference.property, key: KeyValue(key))
            }
        }
        return nil
    }
}
