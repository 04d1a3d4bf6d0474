import RelataCore

/// Values as they stand in objects and arrays that are stored.
extension JSONValue {
    /// What is stored of a value that a client sends: operations in it are what they make of nothing, and dates have one
    /// form, so that equal ones are equal texts and earlier ones come first.
    ///
    /// - Throws: ``ParseError`` 121 for names in it that no query could tell from paths and operators, 107, 108 and 111 for
    ///   operations that aren't any or need more than a value.
    func stored(in field: String) throws(ParseError) -> JSONValue {
        try isStored(in: field) ? self : rewritten(in: field)
    }

    /// Most values are stored as they are, and needn't be made anew.
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

    /// The value with its dates as they are stored: what queries compare with.
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

    /// Whether arrays and objects lie in each other more than so many levels deep.
    func isDeeper(than depth: Int) -> Bool {
        switch self {
        case .null, .bool, .integer, .double, .string: false
        case .array(let elements): depth == 0 || elements.contains { $0.isDeeper(than: depth - 1) }
        case .object(let members): depth == 0 || members.contains { $0.value.isDeeper(than: depth - 1) }
        }
    }
}
