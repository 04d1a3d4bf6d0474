import RelataCore

/// A part of the classes that only one of two stores has, or that differs between them.
package struct SchemaDifference: Hashable, Sendable {
    /// The kinds of parts, in the order in which they are listed.
    package enum Kind: String, CaseIterable, Sendable { case `class`, field, index, uniqueIndex, permission }

    package var className: String
    package var kind: Kind
    /// The name of the field, the index or the permission; for a class, its own.
    package var name: String
    /// The part on this side, as `/schemas` describes it; for a class, the names of its fields. `nil` if only the other
    /// side has it.
    package var here: JSONValue?
    /// The part on the other side; `nil` if only this side has it.
    package var there: JSONValue?

    /// The difference for a page.
    var json: JSONValue {
        var json: JSONObject = [
            "className": .string(className), "kind": .string(kind.rawValue), "name": .string(name),
        ]
        json["here"] = here
        json["there"] = there
        return .object(json)
    }

    /// A line for each side: `- Book.pages: Number` for this one, `+ Book.pages: String` for the other.
    package var lines: [String] {
        [("-", here), ("+", there)].compactMap { mark, part in
            guard let words = part.map(words) else { return nil }
            return "\(mark) \(place)" + (words.isEmpty ? "" : ": \(words)")
        }
    }

    private var place: String {
        switch kind {
        case .class: "the class \(name)"
        case .field: "\(className).\(name)"
        case .index: "the index \(name) of \(className)"
        case .uniqueIndex: "the unique index \(name) of \(className)"
        case .permission: "the permission \(name) of \(className)"
        }
    }

    private func words(_ part: JSONValue) -> String {
        switch kind {
        case .class: return (part.array ?? []).compactMap(\.string).joined(separator: ", ")
        case .field:
            let type = part["type"]?.string ?? ""
            let rules = (part.object ?? [:]).compactMap { rule, value -> String? in
                switch rule {
                case "type", "targetClass": nil
                case "required": rule
                case "defaultValue": "\(rule) \(JSONWriter.text(value))"
                default: "\(rule) \(value.string ?? JSONWriter.text(value))"
                }
            }
            return ([part["targetClass"]?.string.map { "\(type)<\($0)>" } ?? type] + rules).joined(separator: ", ")
        case .index, .uniqueIndex, .permission: return JSONWriter.text(part)
        }
    }
}

extension SchemaDocument {
    /// The parts in which the classes differ from those of another document, by class, kind and name.
    ///
    /// The fields that every object has aren't compared, nor are the server's own classes as such, which it creates when
    /// it needs them. Permissions are compared if both documents have them.
    package func differences(to other: SchemaDocument) -> [SchemaDifference] {
        let (here, there) = (byName, other.byName)
        return Set(here.keys).union(there.keys).sorted().flatMap {
            Self.differences(of: $0, here[$0], there[$0])
        }
    }

    private var byName: [String: ClassDescription] {
        Dictionary(classes.map { ($0.className, $0) }) { first, _ in first }
    }

    private static func differences(
        of name: String, _ here: ClassDescription?, _ there: ClassDescription?
    ) -> [SchemaDifference] {
        if !InternalClasses.contains(name), here == nil || there == nil {
            return [
                SchemaDifference(
                    className: name, kind: .class, name: name, here: here?.fieldNames, there: there?.fieldNames)
            ]
        }
        let (mine, theirs) = (here?.parts ?? [:], there?.parts ?? [:])
        return SchemaDifference.Kind.allCases.flatMap { kind -> [SchemaDifference] in
            // Permissions that a document leaves out stay as they are.
            if kind == .permission, here?.permissions == nil || there?.permissions == nil { return [] }
            let (mine, theirs) = (mine[kind] ?? [:], theirs[kind] ?? [:])
            return Set(mine.keys).union(theirs.keys).sorted().compactMap { part in
                let difference = SchemaDifference(
                    className: name, kind: kind, name: part, here: mine[part], there: theirs[part])
                return difference.isOne ? difference : nil
            }
        }
    }
}

extension SchemaDifference {
    /// Whether the sides differ. Only the fields of an index have an order.
    fileprivate var isOne: Bool {
        guard kind == .index || kind == .uniqueIndex else { return here != there }
        return here.map(JSONWriter.text) != there.map(JSONWriter.text)
    }
}

extension ClassDescription {
    /// The fields that not every object of the class has anyway, by name.
    private var ownFields: [String: FieldDescription] {
        fields.compactMapValues(\.self).filter { name, field in
            Self.givenFields[name] != field.type && !InternalClasses.needs(name, in: className)
        }
    }

    fileprivate var fieldNames: JSONValue { .array(ownFields.keys.sorted().map { .string($0) }) }

    /// The parts that can differ, by kind and name.
    fileprivate var parts: [SchemaDifference.Kind: [String: JSONValue]] {
        var parts: [SchemaDifference.Kind: [String: JSONValue]] = [:]
        parts[.field] = ownFields.mapValues(\.json)
        for case (let index, let wanted?) in indexes {
            parts[wanted.isUnique ? .uniqueIndex : .index, default: [:]][index] = wanted.json
        }
        for (name, value) in permissions?.json.object ?? [:] { parts[.permission, default: [:]][name] = value }
        return parts
    }
}

extension FieldDescription {
    /// The description as `/schemas` has it.
    fileprivate var json: JSONValue {
        var json: JSONObject = ["type": .string(type.name)]
        json["targetClass"] = type.targetClass.map { .string($0) }
        if isRequired { json["required"] = true }
        json["defaultValue"] = defaultValue
        let isRelation = if case .relation = type { true } else { false }
        json.merge(details.json(isToMany: isRelation))
        return .object(json)
    }
}
