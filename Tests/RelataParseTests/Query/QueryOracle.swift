import Foundation

@testable import RelataParse

/// Parse's rules for `where` on plain values: slow, simple, and written without regard to the SQL.
struct QueryOracle {
    /// Objects by class and id; a pointer is a pointer, a relation an array of ids under ``relations``.
    var objects: [String: [String: JSONObject]] = [:]
    /// The members of relations by `Class.field` and the owner's id.
    var relations: [String: [String: [String]]] = [:]
    /// The fields with arrays, as `Class.field`, and the targets of pointers and relations.
    var arrays: Set<String> = []
    var targets: [String: String] = [:]

    /// The ids of the objects that meet conditions.
    func ids(_ className: String, _ condition: JSONValue) -> Set<String> {
        Set((objects[className] ?? [:]).keys.filter { meets(condition, className, $0) })
    }

    private func meets(_ condition: JSONValue, _ className: String, _ id: String) -> Bool {
        (condition.object ?? [:]).allSatisfy { key, value in
            switch key {
            case "$and": return (value.array ?? []).allSatisfy { meets($0, className, id) }
            case "$or": return (value.array ?? []).contains { meets($0, className, id) }
            case "$nor": return !(value.array ?? []).contains { meets($0, className, id) }
            case "$relatedTo":
                guard let owner = value["object"].flatMap({ Pointer($0) }), let field = value["key"]?.string,
                    targets["\(owner.className).\(field)"] == className
                else { return false }
                return relations["\(owner.className).\(field)"]?[owner.objectID]?.contains(id) ?? false
            default:
                let slots = slots(key.split(separator: ".").map(String.init)[...], className, id)
                guard let members = value.object, members.keys.contains(where: { $0.hasPrefix("$") }) else {
                    return equals(value, slots)
                }
                return members.allSatisfy { holds($0, $1, members, slots) }
            }
        }
    }

    // MARK: Values

    /// A value that a key leads to: a pointer or the object itself, an array field, or any other value.
    private struct Slot {
        var value: JSONValue
        var isArrayField = false
        /// The class, if the value is an object's id.
        var className: String?
        var isPointer = false
        var isRelated = false
    }

    private func slots(_ path: ArraySlice<String>, _ className: String, _ id: String) -> [Slot] {
        guard let object = objects[className]?[id], let name = path.first else { return [] }
        let rest = path.dropFirst()
        if name == "objectId" { return rest.isEmpty ? [Slot(value: .string(id), className: className)] : [] }
        if let members = relations["\(className).\(name)"], let target = targets["\(className).\(name)"] {
            return (members[id] ?? []).flatMap { member in
                rest.isEmpty
                    ? [Slot(value: .string(member), className: target, isPointer: true, isRelated: true)]
                    : slots(rest, target, member)
            }
        }
        guard let value = object[name], !value.isNull else { return [] }
        if let target = targets["\(className).\(name)"], let pointer = Pointer(value) {
            return rest.isEmpty
                ? [Slot(value: .string(pointer.objectID), className: target, isPointer: true)]
                : slots(rest, target, pointer.objectID)
        }
        let isArray = arrays.contains("\(className).\(name)")
        if rest.isEmpty { return [Slot(value: value, isArrayField: isArray)] }
        var places = [value]
        var path = rest
        if isArray, let elements = value.array {
            if let index = Int(rest.first ?? "") {
                places = elements.indices.contains(index) ? [elements[index]] : []
                path = rest.dropFirst()
            } else {
                places = elements
            }
        }
        for name in path {
            places = places.flatMap { place -> [JSONValue] in
                guard let elements = place.array else { return [place.object?[name]].compactMap(\.self) }
                guard let index = Int(name) else { return elements.compactMap { $0.object?[name] } }
                return elements.indices.contains(index) ? [elements[index]] : []
            }
        }
        return places.filter { !$0.isNull }.map { Slot(value: $0) }
    }

    /// The values that an operator may compare a slot with.
    private func candidates(_ slot: Slot, withArrays: Bool) -> [JSONValue] {
        guard let elements = slot.value.array else { return [slot.value] }
        return slot.isArrayField && !withArrays ? elements : elements + [slot.value]
    }

    // MARK: Operators

    private func holds(
        _ name: String, _ operand: JSONValue, _ siblings: JSONObject, _ slots: [Slot]
    ) -> Bool {
        switch name {
        case "$eq": equals(operand, slots)
        case "$ne": !equals(operand, slots)
        case "$in": isOne(operand, slots)
        case "$nin": !isOne(operand, slots)
        case "$exists": operand == .bool(!slots.isEmpty)
        case "$lt": compares(operand, slots) { $0 < 0 }
        case "$lte": compares(operand, slots) { $0 <= 0 }
        case "$gt": compares(operand, slots) { $0 > 0 }
        case "$gte": compares(operand, slots) { $0 >= 0 }
        case "$all": !(operand.array ?? []).isEmpty && (operand.array ?? []).allSatisfy { equals($0, slots) }
        case "$not": !(operand.object ?? [:]).allSatisfy { holds($0, $1, operand.object ?? [:], slots) }
        case "$regex":
            slots.contains { slot in
                !slot.isPointer
                    && candidates(slot, withArrays: false).contains { value in
                        value.string?.range(of: operand.string ?? "", options: .regularExpression) != nil
                    }
            }
        case "$inQuery", "$notInQuery":
            slots.contains { slot in
                let className = operand["className"]?.string ?? ""
                let found = ids(className, operand["where"] ?? [:])
                if slot.className != nil {
                    return slot.isPointer && slot.className == className && found.contains(slot.value.string ?? "")
                }
                return candidates(slot, withArrays: false).contains {
                    $0["__type"] == "Pointer" && $0["className"]?.string == className
                        && found.contains($0["objectId"]?.string ?? "")
                }
            } == (name == "$inQuery")
        default: true
        }
    }

    private func equals(_ value: JSONValue, _ slots: [Slot]) -> Bool {
        if value.isNull { return slots.isEmpty || slots.contains { $0.value.array?.contains(.null) == true } }
        return slots.contains { equals(value, $0) }
    }

    private func equals(_ value: JSONValue, _ slot: Slot) -> Bool {
        guard let className = slot.className else {
            return candidates(slot, withArrays: value.array != nil).contains(value)
        }
        if value.string != nil { return slot.value == value }
        guard slot.isPointer, let pointer = Pointer(value) else { return false }
        return pointer.className == className && slot.value == .string(pointer.objectID)
    }

    private func isOne(_ list: JSONValue, _ slots: [Slot]) -> Bool {
        let values = (list.array ?? []).flatMap { $0.array ?? [$0] }
        return values.contains { equals($0, slots) }
    }

    private func compares(_ value: JSONValue, _ slots: [Slot], _ test: (Int) -> Bool) -> Bool {
        slots.contains { slot in
            !slot.isPointer
                && candidates(slot, withArrays: false).contains { Self.order($0, value).map(test) ?? false }
        }
    }

    /// Negative, positive or 0; `nil` for values that have no order.
    private static func order(_ left: JSONValue, _ right: JSONValue) -> Int? {
        func sign<Value: Comparable>(_ left: Value, _ right: Value) -> Int { left < right ? -1 : left == right ? 0 : 1 }
        switch (left, right) {
        case (.bool(let left), .bool(let right)): return sign(left ? 1 : 0, right ? 1 : 0)
        case (.string(let left), .string(let right)):
            return left == right ? 0 : left.utf8.lexicographicallyPrecedes(right.utf8) ? -1 : 1
        case (.object, .object):
            guard left["__type"] == "Date", right["__type"] == "Date" else { return nil }
            return sign(left["iso"]?.string ?? "", right["iso"]?.string ?? "")
        default:
            guard let left = left.number, let right = right.number else { return nil }
            return sign(left, right)
        }
    }
}
