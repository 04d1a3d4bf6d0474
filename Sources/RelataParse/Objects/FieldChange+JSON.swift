extension FieldChange {
    /// Applies the change to a JSON value, in place; `null` is an unset one.
    func apply(to value: inout JSONValue, of field: String) throws(ParseError) {
        switch self {
        case .set(let new): value = new
        case .unset: value = .null
        case .increment(let amount):
            guard let sum = (value.isNull ? 0 : value).adding(amount), !sum.isNull else {
                throw ParseError(.incorrectType, "\(field): incrementing needs a number")
            }
            value = sum
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
        case .member(let path, let change): try change.apply(to: &value, at: path, 0, of: field)
        case .addRelation, .removeRelation, .placeRelation:
            throw ParseError(.incorrectType, "\(field) isn't a relation")
        }
    }

    /// Applies the change at a path, from the given position on: through members of objects and elements of arrays.
    private func apply(
        to value: inout JSONValue, at path: [String], _ depth: Int, of field: String
    ) throws(ParseError) {
        guard depth < path.count else { return try apply(to: &value, of: field) }
        let name = path[depth]
        func place() -> String { ([field] + path[..<depth]).joined(separator: ".") }
        // The value has no other owner during the change, so that it isn't copied.
        switch value {
        case .array(var elements):
            guard let index = Self.index(name) else {
                throw ParseError(.incorrectType, "\(place()) is an array, so it has no member \(name.prefix(64))")
            }
            // Null and undefined are equal: a missing value needn't be removed.
            if index >= elements.count, depth + 1 == path.count, case .unset = self { return }
            guard index <= elements.count else {
                throw ParseError(
                    .incorrectType,
                    "\(place()) has \(elements.count) elements: one can be added at its end, not at \(index)")
            }
            value = .null
            if index == elements.count { elements.append(.null) }
            var element = elements[index]
            elements[index] = .null
            try apply(to: &element, at: path, depth + 1, of: field)
            elements[index] = element
            value = .array(elements)
        case .null, .object:
            var members = value.object ?? [:]
            value = .null
            var member = members[name] ?? .null
            if !member.isNull { members[name] = .null }
            try apply(to: &member, at: path, depth + 1, of: field)
            members[name] = member.isNull ? nil : member
            value = .object(members)
        default:
            throw ParseError(.incorrectType, "\(place()) isn't an object, so it has no member \(name.prefix(64))")
        }
    }

    /// The index of an element; `nil` for a name that isn't one.
    static func index(_ name: String) -> Int? { name.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(name) : nil }

    /// Moves the elements out of a value, so that they have no other owner.
    private static func takeElements(of value: inout JSONValue, _ field: String) throws(ParseError) -> [JSONValue] {
        guard let elements = value.isNull ? [] : value.array else {
            throw ParseError(.incorrectType, "\(field) isn't an array")
        }
        value = .null
        return elements
    }
}
