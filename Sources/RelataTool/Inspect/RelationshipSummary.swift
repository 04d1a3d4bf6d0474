import RelataCore

/// A relationship with the declarations of both sides.
struct RelationshipSummary {
    let relationship: Relationship
    /// The name of the inverse, if there is one.
    private(set) var inverse: String?
    /// The effect on the other side when the object that declares this is deleted; `nil` for none.
    private(set) var deleteRule: DeleteRule?
    /// Of a to-one: the effect on the object itself when its target is deleted.
    private(set) var onTargetDelete: DeleteRule?
    /// The columns of the foreign key.
    private(set) var columns: [String] = []
    /// The columns that the foreign key refers to if they aren't the primary key, or if the link is only read.
    private(set) var targetColumns: [String] = []
    /// The join table of a many-to-many.
    private(set) var joinTable: String?
    /// Whether the key may be unset.
    private(set) var isOptional: Bool?
    /// Whether targets are unique.
    private(set) var isUnique = false

    init(_ relationship: Relationship, of table: Table, in schema: Schema) {
        self.relationship = relationship
        switch table.links[relationship.name] {
        case .reference(let number):
            let reference = schema.references[number]
            inverse = reference.inverse
            deleteRule = reference.onSourceDelete == .nullify ? nil : reference.onSourceDelete
            onTargetDelete = reference.onTargetDelete
            columns = reference.columns
            isOptional = reference.isOptional
            isUnique = reference.isUnique
        case .inverse(let number):
            let reference = schema.references[number]
            inverse = reference.property
            deleteRule = reference.onTargetDelete
        case .join(let number, let isSource):
            let join = schema.joins[number]
            inverse = isSource ? join.inverse : join.property
            deleteRule = isSource ? join.onSourceDelete : join.onTargetDelete
            joinTable = join.table
        case .matched(let link):
            if case .matched(let matched) = relationship.kind { inverse = matched.inverse }
            if link.isForward { columns = link.columns } else { deleteRule = relationship.deleteRule }
            targetColumns = link.targetColumns
        case .through, nil: break
        }
    }

    /// The kind in one word, as JSON gives it.
    var kind: String {
        switch relationship.kind {
        case .toOne: "toOne"
        case .hasOne: "hasOne"
        case .toMany: "toMany"
        case .manyToMany, .manyToManyInverse: "manyToMany"
        case .through: "through"
        case .matched(let matched): matched.isReferring ? "toOne" : matched.isToMany ? "toMany" : "hasOne"
        }
    }

    /// The part of a relationship's line after its target.
    var words: [String] {
        var words: [String] = []
        switch relationship.kind {
        case .toOne: words.append(isUnique ? "one-to-one" : "to-one")
        case .hasOne: words.append("one-to-one")
        case .toMany: words.append("one-to-many")
        case .manyToMany, .manyToManyInverse: words.append("many-to-many by \(joinTable ?? "")")
        case .through(let toMany, let toOne): words.append("through \(toMany).\(toOne)")
        case .matched(let matched):
            words.append(matched.isReferring ? "to-one" : matched.isToMany ? "one-to-many" : "one-to-one")
            words[0] += " by \((matched.isReferring ? matched.own : matched.target).joined(separator: ", ")), read-only"
        }
        if isOptional == true { words.append("optional") }
        if relationship.order != nil { words.append("ordered") }
        if let inverse { words.append("inverse \(inverse)") }
        if let minimum = relationship.minimumCount { words.append("at least \(minimum)") }
        if let maximum = relationship.maximumCount { words.append("at most \(maximum)") }
        if let deleteRule { words.append("delete: \(deleteRule)") }
        // If there is an inverse, it has the rule.
        if inverse == nil, let onTargetDelete { words.append("when the target is deleted: \(onTargetDelete)") }
        return words
    }

    /// The summary as JSON.
    var json: JSONValue {
        var members: JSONObject = [
            "name": .string(relationship.name), "kind": .string(kind), "target": .string(relationship.target),
            "inverse": JSONValue(inverse),
        ]
        if case .through(let toMany, let toOne) = relationship.kind {
            members["through"] = JSONValue([toMany, toOne])
        }
        if let isOptional { members["optional"] = .bool(isOptional) }
        if isOptional != nil { members["unique"] = .bool(isUnique) }
        if !columns.isEmpty { members["columns"] = JSONValue(columns) }
        if !targetColumns.isEmpty { members["targetColumns"] = JSONValue(targetColumns) }
        if case .matched = relationship.kind { members["readOnly"] = .bool(true) }
        if let joinTable { members["joinTable"] = .string(joinTable) }
        if relationship.isToMany { members["ordered"] = .bool(relationship.order != nil) }
        if let minimum = relationship.minimumCount { members["minimum"] = JSONValue(minimum) }
        if let maximum = relationship.maximumCount { members["maximum"] = JSONValue(maximum) }
        members["deleteRule"] = JSONValue(deleteRule?.rawValue)
        if let onTargetDelete { members["onTargetDelete"] = .string(onTargetDelete.rawValue) }
        return .object(members)
    }
}
