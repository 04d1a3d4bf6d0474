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
            if let rule = details.onTargetDelete { json["onTargetDelete"] = .string(rule.rawValue) }
            if let rule = details.deleteRule { json["deleteRule"] = .string(rule.rawValue) }
            if let inverse = details.inverse { json["inverse"] = .string(inverse) }
            switch (details.order, details.inverse) {
            case (.attribute(let name)?, _): json["order"] = .string(name)
            case (nil, nil) where relationship.isToMany: json["order"] = false
            // Only that of an app's own model.
            case (.stored?, _?): json["order"] = true
            default: break
            }
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
