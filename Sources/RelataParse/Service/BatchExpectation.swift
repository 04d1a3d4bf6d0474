import RelataCore

/// The state of an object that the sender of a batch expects: if it differs, nothing is changed.
struct BatchExpectation: Sendable {
    private let className: String
    private let objectID: String
    /// The values of fields; of a relation, its first objects in their order.
    private let fields: JSONObject

    /// Reads the member `expected` of a batch.
    ///
    /// - Throws: ``ParseError`` 107 for an invalid list of expectations, and 403 without the master key: it reveals
    ///   values of fields.
    static func list(_ call: ParseCall) throws(ParseError) -> [BatchExpectation] {
        guard let value = call.body["expected"], !value.isNull else { return [] }
        guard call.isMaster else { throw .masterKeyRequired }
        guard call.body["transaction"] == true, let elements = value.array else { throw malformed }
        var list: [BatchExpectation] = []
        for element in elements {
            guard let className = element["className"]?.string, let objectID = element["objectId"]?.string,
                let fields = element["fields"]?.object
            else { throw malformed }
            list.append(BatchExpectation(className: className, objectID: objectID, fields: fields))
        }
        return list
    }

    private static let malformed = ParseError(
        .invalidJSON,
        """
        expected must be a list of {"className": …, "objectId": …, "fields": {…}}, in a batch with "transaction": true
        """)

    /// - Throws: ``ParseError`` 119 with the status 409 if the object doesn't exist, or a field has another value.
    func check(in transaction: ParseTransaction) throws {
        guard let parseClass = transaction.classes[className], let key = try transaction.key(objectID, of: parseClass),
            let row = try transaction.connection.row(key, of: parseClass.table, transaction.compiler)
        else { throw Self.conflict("\(className.prefix(64)) \(objectID.prefix(64)) no longer exists") }
        for (name, expected) in fields {
            guard let field = parseClass[name] else {
                throw ParseError(.invalidQuery, "\(className) has no field \(name.prefix(64))")
            }
            let isKept: Bool
            if case .relation = field.storage, let expected = expected.array {
                let found = try members(expected.count, of: field, key, parseClass, in: transaction)
                isKept = found == expected.map { Pointer($0) }
            } else {
                isKept = (parseClass.json(field, of: row, in: transaction.classes) ?? .null) == expected
            }
            guard isKept else {
                throw Self.conflict("\(name.prefix(64)) of \(className) \(objectID.prefix(64)) has changed since")
            }
        }
    }

    /// The first objects of a relation, in its order.
    private func members(
        _ count: Int, of field: Field, _ key: KeyValue, _ parseClass: ParseClass, in transaction: ParseTransaction
    ) throws -> [Pointer] {
        guard let target = field.type.targetClass.flatMap({ transaction.classes[$0] }) else { return [] }
        return try transaction.members(of: key, field, of: parseClass, limit: count).map {
            Pointer(className: target.name, objectID: target.objectID.text($0))
        }
    }

    private static func conflict(_ message: String) -> ParseError {
        ParseError(.operationForbidden, message + ": no object was written", status: 409)
    }
}
