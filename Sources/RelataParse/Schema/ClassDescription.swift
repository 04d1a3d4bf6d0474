import RelataCore

/// The description of a class in a request: `{"className": "Book", "fields": {"title": {"type": "String"}}, …}`.
struct ClassDescription: Sendable {
    var className: String
    /// The fields by name; `nil` for one to remove.
    var fields: [String: FieldDescription?] = [:]
    /// The indexes by name; `nil` for one to remove.
    var indexes: [String: IndexOptions?] = [:]
    /// The permissions; `nil` if they stay unchanged.
    var permissions: ClassPermissions?

    /// Fields that every class has: clients send them back as they got them.
    static let givenFields: [String: FieldType] = [
        "objectId": .string, "createdAt": .date, "updatedAt": .date, "ACL": .acl,
    ]

    /// Reads a description.
    ///
    /// - Parameter name: The class's name in the path, if it has one.
    /// - Throws: ``ParseError`` for invalid names and types, and for invalid permissions.
    init(_ json: JSONObject, name: String? = nil) throws(ParseError) {
        let given = json["className"]?.string
        guard let className = name ?? given, !className.isEmpty else {
            throw ParseError(.missingRequiredField, "POST /schemas needs a class name.")
        }
        if let given, given != className {
            throw ParseError(
                .invalidClassName, "Class name mismatch between \(given.prefix(128)) and \(className.prefix(128)).")
        }
        if let error = DisabledFeature.error(forClass: className) { throw error }
        self.className = className
        if let permissions = json["classLevelPermissions"], !permissions.isNull {
            self.permissions = try ClassPermissions(permissions)
        }
        if let fields = json["fields"], !fields.isNull {
            guard let fields = fields.object else { throw ParseError(.invalidJSON, "fields must be an object") }
            for (field, value) in fields {
                self.fields[field] = .some(try FieldDescription(value, of: field))
            }
        }
        for (member, isUnique) in [("indexes", false), ("uniqueIndexes", true)] {
            guard let indexes = json[member], !indexes.isNull else { continue }
            guard let indexes = indexes.object else { throw ParseError(.invalidJSON, "\(member) must be an object") }
            for (index, value) in indexes where index != "_id_" {
                self.indexes[index] = .some(try Self.index(value, index, isUnique))
            }
        }
    }

    /// The part of the description that is about these alone.
    func part(
        fields: [String: FieldDescription?] = [:], indexes: [String: IndexOptions?] = [:],
        permissions: ClassPermissions? = nil
    ) -> ClassDescription {
        var part = self
        (part.fields, part.indexes, part.permissions) = (fields, indexes, permissions)
        return part
    }

    private static func index(
        _ json: JSONValue, _ name: String, _ isUnique: Bool
    ) throws(ParseError) -> IndexOptions? {
        if json["__op"]?.string == "Delete" { return nil }
        guard let members = json.object, !members.isEmpty else {
            throw ParseError(.invalidJSON, "the index \(name) must name its fields: {\"title\": 1}")
        }
        var fields: [IndexOptions.IndexedField] = []
        for (field, direction) in members {
            if direction.string == "text", !isUnique {
                fields.append(IndexOptions.IndexedField(name: field, isText: true))
                continue
            }
            guard let number = direction.integer, number == 1 || number == -1 else {
                throw ParseError(
                    .commandUnavailable,
                    "the index \(name): only 1, -1 and text are supported, not \(JSONWriter.text(direction).prefix(32))"
                )
            }
            fields.append(IndexOptions.IndexedField(name: field, direction: number))
        }
        let index = IndexOptions(fields: fields, isUnique: isUnique)
        guard !index.isText || fields.allSatisfy({ $0.isText == true }) else {
            throw ParseError(.commandUnavailable, "the index \(name): fields of text and others need an index each")
        }
        return index
    }
}

/// The description of a field in a request: Parse's members, and its rules.
struct FieldDescription: Hashable, Sendable {
    var type: FieldType
    var isRequired = false
    /// Whether it declares the field as not required, instead of leaving it open.
    var isOptional = false
    var defaultValue: JSONValue?
    var details = RelationshipDetails()
    /// The members that the description has, also with `null`.
    var members: Set<String> = []

    init(type: FieldType) { self.type = type }

    /// Reads a description; `nil` for a field to remove.
    init?(_ json: JSONValue, of field: String) throws(ParseError) {
        if json["__op"]?.string == "Delete" { return nil }
        // The texts are those of Parse's own server, by which clients recognise errors.
        guard let name = json["type"]?.string else { throw ParseError(.invalidJSON, "invalid JSON") }
        guard let type = FieldType(name: name, targetClass: json["targetClass"]?.string) else {
            guard name == "Pointer" || name == "Relation" else {
                throw ParseError(.incorrectType, "invalid field type: \(name.prefix(64))")
            }
            guard (json["targetClass"] ?? .null).isNull else { throw ParseError(.invalidJSON, "invalid JSON") }
            throw ParseError(.missingRequiredField, "type \(name) needs a class name")
        }
        guard type != .acl || field == "ACL" else {
            throw ParseError(.incorrectType, "a field can't be an ACL: every object has one")
        }
        self.type = type
        members = Set(json.object?.keys.map(\.self) ?? [])
        switch json["required"] {
        case .bool(let isRequired)?: (self.isRequired, isOptional) = (isRequired, !isRequired)
        case nil, .null?: break
        default: throw ParseError(.incorrectType, "\(field): required is true or false")
        }
        if case .relation = type {
            let option = isRequired ? "required" : (json["defaultValue"] ?? .null).isNull ? nil : "default value"
            if let option {
                throw ParseError(.incorrectType, "The '\(option)' option is not applicable for \(type)")
            }
        }
        if let value = json["defaultValue"], !value.isNull {
            let given = try FieldType(of: value, in: field)
            guard given == type else {
                throw ParseError(
                    .incorrectType,
                    "schema mismatch for \(field) default value; expected \(type) but got \(given.map(\.description) ?? "null")"
                )
            }
            // It becomes a part of objects without another look.
            try FieldDecoder.validate(value, as: type, in: field)
            defaultValue = try value.withPointers.stored(in: field)
        }
        details.onTargetDelete = try Self.rule(json["onTargetDelete"], field)
        details.deleteRule = try Self.rule(json["deleteRule"], field)
        switch type {
        case .pointer:
            for member in ["inverse", "order"] where json[member].map({ !$0.isNull }) == true {
                throw ParseError(.incorrectType, "\(field): only a relation has \(member)")
            }
        case .relation:
            guard details.onTargetDelete == nil else {
                throw ParseError(
                    .incorrectType,
                    "\(field): only a pointer has onTargetDelete: a relation's deleteRule is about its objects")
            }
            switch json["inverse"] {
            case .string(let inverse)?: details.inverse = inverse
            case nil, .null?: break
            default: throw ParseError(.incorrectType, "\(field): inverse is the name of a pointer")
            }
            switch json["order"] {
            case nil, .null, .bool(true): details.order = .stored
            case .bool(false): details.order = nil
            case .string(let attribute): details.order = .attribute(attribute)
            default: throw ParseError(.incorrectType, "\(field): order is true, false or a field's name")
            }
        default:
            for member in ["inverse", "order", "deleteRule", "onTargetDelete"] where json[member] != nil {
                throw ParseError(.incorrectType, "\(field): only pointers and relations have \(member)")
            }
        }
    }

    private static func rule(_ json: JSONValue?, _ field: String) throws(ParseError) -> DeleteRule? {
        guard let json, !json.isNull else { return nil }
        guard let rule = json.string.flatMap(DeleteRule.init(rawValue:)) else {
            let names = DeleteRule.allCases.map(\.rawValue).joined(separator: ", ")
            throw ParseError(.incorrectType, "\(field): a delete rule is one of \(names)")
        }
        return rule
    }
}
