import RelataCore

/// Checks for values that no model can read, by the declarations in the file.
extension IntegrityCheck {
    mutating func checkValues(of table: Table) throws(RelataError) {
        for attribute in table.entity.attributes {
            let column = "x.\(quote(attribute.column))"
            let isWrong: String
            if let values = attribute.allowedValues, !values.isEmpty {
                let allowed = values.compactMap(literal)
                guard allowed.count == values.count else { continue }
                isWrong = "\(column) NOT IN (\(allowed.joined(separator: ", ")))"
            } else if attribute.type == .boolean, dialect == .sqlite {
                isWrong = "typeof(\(column)) NOT IN ('integer', 'null')"
            } else if attribute.type == .json, dialect == .sqlite {
                isWrong = "typeof(\(column)) IN ('text', 'integer', 'real') AND NOT json_valid(\(column))"
            } else {
                continue
            }
            let key = table.keyColumnNames
            let from = "FROM \(table.rows(dialect)) AS x WHERE \(isWrong)"
            let (count, samples) = try list(
                "SELECT \(list(key, of: "x")), \(column) \(from)", keyTypes(table)
            ) { "\(object($0, table)) holds \($0[key.count].description.prefix(40))" }
            guard count > 0 else { continue }
            let what =
                attribute.allowedValues != nil
                ? "a value that its enum doesn't have"
                : attribute.type == .json ? "invalid JSON" : "a value that is neither true nor false"
            add(
                .undecodable, "\(table.name).\(attribute.name)", count,
                "\(count) \(count == 1 ? "object holds" : "objects hold") \(what) "
                    + "(\(sampled(samples, of: count)))",
                fix: "correct the rows that SELECT * \(from) shows, or change the model to fit them")
        }
    }

    /// A constant in SQL.
    private func literal(_ value: Value) -> String? {
        switch value {
        case .integer: SchemaDDL.literal(value)
        case .text(let text) where !text.unicodeScalars.contains("\0"): SchemaDDL.literal(value)
        default: nil
        }
    }
}
