/// Facts about a class that its tables don't have. They are stored beside the entities, in the same transaction.
struct ClassOptions: Hashable, Sendable, Codable {
    /// Facts about fields, by name.
    var fields: [String: FieldOptions] = [:]
    /// The indexes of clients, by their names.
    var indexes: [String: IndexOptions] = [:]
    /// The fields that were declared as not required: descriptions repeat that.
    var optionalFields: Set<String>?
    /// Whether the class exists only as the target of other classes' fields: the first description still creates it.
    var isImplied: Bool?
    /// The permissions; `nil` if every caller may do everything.
    var permissions: ClassPermissions?
    /// The webhooks of the store, under a name that no class has.
    var webhooks: Webhooks?

    /// Whether objects are refused without a value of one of the fields.
    var hasRequiredFields: Bool { fields.contains { $0.value.isRequired } }
}

/// An index that a client created.
struct IndexOptions: Hashable, Sendable, Codable {
    /// The fields, in order.
    var fields: [IndexedField]
    /// Whether its values are unique.
    var isUnique = false

    /// Whether it is a text index, which finds objects by their words.
    var isText: Bool { fields.contains { $0.isText == true } }

    /// A field of an index.
    struct IndexedField: Hashable, Sendable, Codable {
        var name: String
        /// 1 or -1, as clients gave it. Indexes are read both ways.
        var direction: Int64 = 1
        /// Whether its words are searched, in the place of a direction: `{"title": "text"}`.
        var isText: Bool?
        /// Whether clients gave it the name of a pointer's column in Parse's own server: `_p_genre`.
        var isPointerColumn: Bool?

        /// The name as clients gave it.
        var givenName: String { isPointerColumn == true ? "_p_" + name : name }
    }
}

/// Facts about a field that its column doesn't have.
struct FieldOptions: Hashable, Sendable, Codable {
    /// The type, for a column with JSON of several types.
    var type: FieldType?
    /// Whether a value is required. Objects that are stored already may lack one.
    var isRequired = false
    /// The value of new objects that come without one, as JSON.
    var defaultValue: String?
}
