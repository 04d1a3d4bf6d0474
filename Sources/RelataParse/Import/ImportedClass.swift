import RelataCore

/// A class, as in MongoDB's `_SCHEMA` or in the reply to `GET /schemas`.
struct ImportedClass {
    let name: String
    /// The fields by name, as `POST /schemas` takes them, without their rules.
    let fields: JSONObject
    /// The permissions, as `POST /schemas` takes them; `nil` if the source has none.
    let permissions: JSONValue?
    /// The types of the fields by their names in MongoDB.
    let types: [String: String]
    /// The rules of fields: `required` and `defaultValue`.
    let rules: [String: JSONObject]
    /// The indexes by name, as `POST /schemas` takes them.
    let indexes: JSONObject

    private static let own: Set = ["objectId", "createdAt", "updatedAt", "ACL"]
    private static let names = [
        "string": "String", "number": "Number", "boolean": "Boolean", "date": "Date", "map": "Object",
        "object": "Object", "array": "Array", "geopoint": "GeoPoint", "file": "File", "bytes": "Bytes",
        "polygon": "Polygon",
    ]

    /// - Returns: `nil` for an object that doesn't describe a class.
    init?(_ json: JSONObject) {
        var fields: JSONObject = [:]
        var types: [String: String] = [:]
        if let id = json["_id"]?.string {
            name = id
            for (field, value) in json where !field.hasPrefix("_") && !Self.own.contains(field) {
                guard let type = value.string else { continue }
                types[field] = type
                if type.hasPrefix("*") {
                    fields[field] = ["type": "Pointer", "targetClass": .string(String(type.dropFirst()))]
                } else if type.hasPrefix("relation<"), type.hasSuffix(">") {
                    fields[field] = [
                        "type": "Relation", "targetClass": .string(String(type.dropFirst(9).dropLast())),
                    ]
                } else if let type = Self.names[type] {
                    fields[field] = ["type": .string(type)]
                }
            }
        } else if let className = json["className"]?.string {
            name = className
            for (field, value) in json["fields"]?.object ?? [:] where !Self.own.contains(field) {
                guard let type = value["type"]?.string else { continue }
                var kept: JSONObject = ["type": .string(type)]
                kept["targetClass"] = value["targetClass"]
                fields[field] = .object(kept)
                types[field] = type.lowercased()
            }
        } else {
            return nil
        }
        self.fields = fields
        self.types = types
        let described =
            json["_metadata"]?["fields_options"].flatMap(Self.plain) ?? json["fields"]?.object ?? [:]
        var rules: [String: JSONObject] = [:]
        for (field, value) in described where fields[field] != nil && !InternalClasses.needs(field, in: name) {
            let own = Self.rules(value)
            if !own.isEmpty { rules[field] = own }
        }
        self.rules = rules
        indexes = json["indexes"]?.object ?? json["_metadata"]?["indexes"].flatMap(Self.plain) ?? [:]
        let given = json["classLevelPermissions"] ?? json["_metadata"]?["class_permissions"]
        let hasPermissions = given.map { !$0.isNull && $0.object?.isEmpty != true } ?? false
        permissions = hasPermissions ? given : nil
    }

    /// The members of an object of MongoDB in plain JSON. A value that can't be stored stays as it is: the code
    /// that uses it refuses it.
    private static func plain(_ json: JSONValue) -> JSONObject? {
        json.object.map { object in
            JSONObject(object.map { ($0.key, (try? MongoDocument.plain($0.value)) ?? $0.value) })
        }
    }

    /// The rules in a field's description.
    private static func rules(_ json: JSONValue) -> JSONObject {
        var rules: JSONObject = [:]
        if json["required"] == true { rules["required"] = true }
        if let value = json["defaultValue"], !value.isNull { rules["defaultValue"] = value }
        return rules
    }

    /// Whether a field may hold users: a pointer to one, or an array.
    func leadsToUsers(_ field: String) -> Bool {
        let json = fields[field]
        return json?["type"] == "Array"
            || json?["type"] == "Pointer" && json?["targetClass"]?.string == InternalClasses.user
    }
}
