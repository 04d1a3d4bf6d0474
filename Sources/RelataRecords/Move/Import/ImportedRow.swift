import Foundation
import RelataCore

/// A row that passed all checks that need no database.
struct ImportedRow {
    /// A value for each column.
    var values: [Value]
    /// Whether the file gives it.
    let isGiven: [Bool]
    /// Whether the database assigns its key.
    let isKeyAssigned: Bool
    /// Its position: the number of the file, and the line.
    let file: Int
    let line: Int
    /// Its number among the rows of the import.
    let number: Int
}

/// Makes rows from the contents of files.
struct RowReader {
    let table: MovedTable
    let dialect: Dialect
    let objectIDs: ObjectIDGenerator
    let now: Date

    /// Makes one.
    ///
    /// - Parameter number: Its number among the rows of the import.
    func row(
        _ raw: RawRow, in bytes: UnsafeBufferPointer<UInt8>, file: Int, number: Int
    ) throws(RowProblem) -> ImportedRow {
        var values: [Value] = []
        values.reserveCapacity(table.fields.count)
        var isKeyAssigned = false
        for (field, rawField) in zip(table.fields, raw.fields) {
            var value = try field.value(of: rawField, in: bytes)
            if rawField.form == .absent || value.isNull && field.isKey {
                value = try self.value(ofAbsent: field, &isKeyAssigned)
            } else if value.isNull, !field.isOptional {
                // JSON has a value of that name.
                guard field.type == .json, rawField.form == .null else { throw Self.missing(field) }
                value = .text("null")
            }
            try check(value, field)
            values.append(value)
        }
        return ImportedRow(
            values: values, isGiven: raw.fields.map { $0.form != .absent }, isKeyAssigned: isKeyAssigned, file: file,
            line: raw.line, number: number)
    }

    private static func missing(_ field: MovedField) -> RowProblem {
        RowProblem(
            "has no value, and must have one" + (field.type == .text ? ": empty text is written as \"\"" : ""),
            field: field.name)
    }

    private func value(ofAbsent field: MovedField, _ isKeyAssigned: inout Bool) throws(RowProblem) -> Value {
        switch field.absence {
        case .value(let value): return value
        case .now: return field.type.stamp(now)
        // Only the database knows the last one.
        case .position: return .null
        case .assigned:
            isKeyAssigned = true
            return .null
        case .newUUID: return Value.uuid(UUID()).stored(as: field.type) ?? .null
        case .newObjectID: return .text(objectIDs.next())
        case .refused: throw Self.missing(field)
        }
    }

    private func check(_ value: Value, _ field: MovedField) throws(RowProblem) {
        if case .real(let number) = value, number.isNaN, dialect == .sqlite {
            throw RowProblem("is not a number, which a file can't contain", field: field.name)
        }
        if let refusal = dialect.refusal(of: value, as: field.type) { throw RowProblem(refusal, field: field.name) }
        guard let attribute = field.attribute, !value.isNull else { return }
        for limit in attribute.limits {
            if let failure = limit.failure(of: value, type: field.type) { throw RowProblem(failure, field: field.name) }
        }
        if let cases = attribute.allowedValues, !cases.isEmpty, !cases.contains(value) {
            throw RowProblem(
                "\"\(value)\" isn't one of \(cases.map(\.description).joined(separator: ", "))", field: field.name)
        }
    }
}
