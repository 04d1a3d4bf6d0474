extension FieldChange {
    /// Does it to a JSON value, in place; `null` is an unset one.
    func apply(to value: inout JSONValue, of field: String) throws(ParseError) {
        switch self {
        case .set(let new): value = new
        case .unset: value = .null
        case .increment(let amount):
            guard let sum = (value.isNull ? 0 : value.number).flatMap({ old in amount.number.map { old + $0 } }),
                sum.isFinite
            else { throw ParseError(.incorrectType, "\(field): incrementing needs a number") }
            value = JSONValue(number: sum)
        case .add(let objects):
            var elements = try Self.takeElements(of: &value, field)
            elements += objects
            value = .array(elements)
        case .addUnique(let objects):
            var elements = try Self.takeElements(of: &value, field)
            var known = Set(elements)
            for object in objects where known.insert(object).inserted { elements.append(object) }
            value = .array(elements)
        case .remove(let objects):
            var elements = try Self.takeElements(of: &value, field)
            let removed = Set(objects)
            elements.removeAll { removed.contains($0) }
            value = .array(elements)
        case .member(let path, let change): try change.apply(to: &value, at: path[...], of: field)
        case .addRelation, .removeRelation:
            throw ParseError(.incorrectType, "\(field) is no relation")
        }
    }

    /// Does it to a member of an object, or a member of a member.
    private func apply(to value: inout JSONValue, at path: ArraySlice<String>, of field: String) throws(ParseError) {
        guard let name = path.first else { return try apply(to: &value, of: field) }
        guard var members = value.isNull ? [:] : value.object else {
            throw ParseError(.incorrectType, "\(field) isn't an object, so it has no member \(name.prefix(64))")
        }
        // Nobody else holds them meanwhile, so that they aren't copied.
        value = .null
        var member = members[name] ?? .null
        if !member.isNull { members[name] = .null }
        try apply(to: &member, at: path.dropFirst(), of: field)
        members[name] = member.isNull ? nil : member
        value = .object(members)
    }

    /// Takes the elements out of a value, so that nobody else holds them.
    private static func takeElements(of value: inout JSONValue, _ field: String) throws(ParseError) -> [JSONValue] {
        guard let elements = value.isNull ? [] : value.array else {
            throw ParseError(.incorrectType, "\(field) isn't an array")
        }
        value = .null
        return elements
    }
}
