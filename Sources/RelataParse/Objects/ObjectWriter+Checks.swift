import RelataCore

/// Checks of the values of an object's fields.
extension ObjectWriter {
    /// - Throws: ``ParseError`` 142 for a field that lacks its value or has one it doesn't accept.
    func checkValues(of fields: [Field]) throws(ParseError) {
        for field in fields {
            switch field.storage {
            case .column(let column):
                let value = current(column)
                if field.isRequired, value.isNull { throw required(field) }
                if field.needsText, value == .text("") { throw required(field) }
                for limit in field.limits {
                    if let message = limit.failure(of: value, type: table.columns[column].type) {
                        throw ParseError(.validationError, "\(parseClass.name).\(field.name) \(message)")
                    }
                }
            case .pointer(_, let indexes):
                if field.isRequired, indexes.contains(where: { current($0).isNull }) { throw required(field) }
            case .objectID, .relation, .access: break
            }
        }
    }

    private func required(_ field: Field) -> ParseError {
        ParseError(.validationError, "\(field.name) is required")
    }
}
