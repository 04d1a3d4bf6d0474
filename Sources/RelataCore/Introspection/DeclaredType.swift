extension AttributeType {
    /// The type of a column in another program's database, by its declared type.
    ///
    /// Known type names are used directly; otherwise, SQLite's rules of column affinity apply. Dates are text, because
    /// their format isn't declared.
    package init(declaredType: String) {
        let type = declaredType.uppercased()
        if type.contains("BOOL") {
            self = .boolean
        } else if type == "JSON" {
            self = .json
        } else if type.contains("DATE") || type.contains("TIME") || type.contains("UUID") {
            self = .text
        } else {
            switch Affinity(declaredType: type) {
            case .integer: self = .integer
            case .text: self = .text
            case .real, .numeric: self = .real
            case .blob: self = type.isEmpty ? .text : .data
            }
        }
    }
}

/// SQLite's preferred storage for a column.
package enum Affinity: Hashable, Sendable {
    case integer, text, blob, real, numeric

    /// The affinity of a declared type.
    package init(declaredType: String) {
        let type = declaredType.uppercased()
        let holds = { (words: [String]) in words.contains { type.contains($0) } }
        self =
            if type.contains("INT") {
                .integer
            } else if holds(["CHAR", "CLOB", "TEXT"]) {
                .text
            } else if type.isEmpty || type.contains("BLOB") {
                .blob
            } else if holds(["REAL", "FLOA", "DOUB"]) {
                .real
            } else {
                .numeric
            }
    }
}
