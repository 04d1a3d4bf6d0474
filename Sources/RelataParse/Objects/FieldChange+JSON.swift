extension FieldChange {
    /// What becomes of a JSON value; `null` is an unset one.
    func applied(to old: JSONValue, of field: String) throws(ParseError) -> JSONValue {
        switch self {
        case .set(let value): return value
        case .unset: return .null
        case .increment(let amount):
            guard let sum = (old.isNull ? 0 : old.number).flatMap({ old in amount.number.map { old + $0 } }),
                sum.isFinite
            else { throw ParseError(.incorrectType, "\(field): incrementing needs a number") }
            return JSONValue(number: sum)
        case .add(let objects): return .array(try elements(old, field) + objects)
        case .addUnique(let objects):
            var elements = try elements(old, field)
            var known = Set(elements)
            for object in objects where known.insert(object).inserted { elements.append(object) }
            return .array(elements)
        case .remove(let objects):
            let removed = Set(objects)
            return .array(try elements(old, field).filter { !removed.contains($0) })
        case .member(let path, let change):
            guard let name = path.first else { return try change.applied(to: old, of: field) }
            guard var members = old.isNull ? [:] : old.object else {
                throw ParseError(.incorrectType, "\(field) isn't an object, so it has no member \(name.prefix(64))")
            }
            let rest: FieldChange = path.count == 1 ? change : .member(Array(path.dropFirst()), change)
            let new = try rest.applied(to: members[name] ?? .null, of: field)
            members[name] = new.isNull ? nil : new
            return .object(members)
        case .addRelation, .removeRelation:
            throw ParseError(.incorrectType, "\(field) is no relation")
        }
    }

    private func elements(_ value: JSONValue, _ field: String) throws(ParseError) -> [JSONValue] {
        guard let elements = value.isNull ? [] : value.array else {
            throw ParseError(.incorrectType, "\(field) isn't an array")
        }
        return elements
    }
}
