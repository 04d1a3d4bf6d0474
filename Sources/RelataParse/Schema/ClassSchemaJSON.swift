import RelataCore

extension ParseClass {
    /// The description of the class for clients: Parse's members, and its rules.
    var schemaJSON: JSONValue {
        var fields: JSONObject = ["ACL": ["type": "ACL"]]
        for field in self.fields { fields[field.name] = .object(json(field)) }
        var indexes: JSONObject = ["_id_": ["_id": 1]]
        var uniques: JSONObject = [:]
        for (name, index) in options.indexes.sorted(by: { $0.key < $1.key }) {
            if index.isUnique { uniques[name] = index.json } else { indexes[name] = index.json }
        }
        var json: JSONObject = [
            "className": .string(name), "fields": .object(fields),
            "classLevelPermissions": (options.permissions ?? .open).json,
        ]
        // The key always has an index: it is listed with the others.
        if indexes.count > 1 { json["indexes"] = .object(indexes) }
        if !uniques.isEmpty { json["uniqueIndexes"] = .object(uniques) }
        return .object(json)
    }

    private func json(_ field: Field) -> JSONObject {
        var json: JSONObject = ["type": .string(field.type.name)]
        if let target = field.type.targetClass { json["targetClass"] = .string(target) }
        if ClassDescription.givenFields[field.name] == nil,
            field.isRequired || options.optionalFields?.contains(field.name) == true
        {
            json["required"] = .bool(field.isRequired)
        }
        if let value = field.defaultValue { json["defaultValue"] = value }
        if field.type != .acl, let relationship = stored.relationship(field.name) {
            let details = RelationshipDetails(relationship)
            json.merge(details.json(isToMany: relationship.isToMany))
            // Only that of an app's own model.
            if details.order == .stored, details.inverse != nil { json["order"] = true }
        }
        return json
    }
}

extension RelationshipDetails {
    /// The rules as members of the field's description.
    func json(isToMany: Bool) -> JSONObject {
        var json: JSONObject = [:]
        if let onTargetDelete { json["onTargetDelete"] = .string(onTargetDelete.rawValue) }
        if let deleteRule { json["deleteRule"] = .string(deleteRule.rawValue) }
        if let inverse { json["inverse"] = .string(inverse) }
        switch order {
        case .attribute(let name)?: json["order"] = .string(name)
        case nil where isToMany && inverse == nil: json["order"] = false
        case .stored?, nil: break
        }
        return json
    }
}

extension IndexOptions {
    /// The fields with their directions: `{"title": 1, "year": -1}`.
    var json: JSONValue {
        .object(JSONObject(fields.map { ($0.givenName, $0.isText == true ? "text" : .integer($0.direction)) }))
    }
}
