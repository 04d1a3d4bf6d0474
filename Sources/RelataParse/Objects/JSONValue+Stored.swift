import RelataCore

/// Values inside stored objects and arrays.
extension JSONValue {
    /// The stored form of a client's value: operations in it are applied to an unset value, and dates have one form, so
    /// that equal dates are equal texts and sort by time.
    ///
    /// - Throws: ``ParseError`` 121 for names that queries would read as paths or operators; 107, 108 and 111 for
    ///   invalid operations, and those that need an existing value.
    func stored(in field: String) throws(ParseError) -> JSONValue {
        try isStored(in: field) ? self : rewritten(in: field)
    }

    /// Most values are stored unchanged, and needn't be rebuilt.
    private func isStored(in field: String) throws(ParseError) -> Bool {
        var isStored = true
        switch self {
        case .null, .bool, .integer, .double, .string: break
        case .array(let elements):
            for element in elements where try !element.isStored(in: field) { isStored = false }
        case .object(let members):
            if members["__op"] != nil { return false }
            if let date { return date == self }
            for (name, value) in members {
                try Self.checkName(name)
                if try !value.isStored(in: field) { isStored = false }
            }
        }
        return isStored
    }

    private func rewritten(in field: String) throws(ParseError) -> JSONValue {
        switch self {
        case .null, .bool, .integer, .double, .string: return self
        case .array(let elements):
            var stored: [JSONValue] = []
            for element in elements { stored.append(try element.rewritten(in: field)) }
            return .array(stored)
        case .object(let members):
            if members["__op"] != nil {
                var value = JSONValue.null
                for change in try FieldChange.changes(self, of: field) {
                    try change.apply(to: &value, of: field)
                }
                return value
            }
            if let date { return date }
            var stored = JSONObject()
            for (name, value) in members {
                let new = try value.rewritten(in: field)
                if value.isNull || !new.isNull { stored[name] = new }
            }
            return .object(stored)
        }
    }

    /// - Throws: ``ParseError`` 121 for a name that is an operator or a path in queries.
    static func checkName(_ name: String) throws(ParseError) {
        guard !name.utf8.contains(where: { $0 == UInt8(ascii: "$") || $0 == UInt8(ascii: ".") }) else {
            throw ParseError(.invalidNestedKey, "Nested keys should not contain the '$' or '.' characters")
        }
    }

    /// The value with its dates in stored form, for comparisons in queries.
    var withStoredDates: JSONValue {
        switch self {
        case .null, .bool, .integer, .double, .string: self
        case .array(let elements): .array(elements.map(\.withStoredDates))
        case .object(let members): date ?? .object(JSONObject(members.lazy.map { ($0.key, $0.value.withStoredDates) }))
        }
    }

    /// The date that it is, as Parse writes it; `nil` for anything else.
    private var date: JSONValue? {
        guard self["__type"] == "Date", let microseconds = FieldDecoder.microseconds(self),
            DateText.textRange.contains(microseconds)
        else { return nil }
        return ["__type": "Date", "iso": .string(DateText.parseText(microseconds: microseconds))]
    }

    /// Whether arrays and objects are nested deeper than a number of levels.
    func isDeeper(than depth: Int) -> Bool {
        switch self {
        case .null, .bool, .integer, .double, .string: false
        case .array(let elements): depth == 0 || elements.contains { $0.isDeeper(than: depth - 1) }
        case .object(let members): depth == 0 || members.contains { $0.value.isDeeper(than: depth - 1) }
        }
    }
}
