/// What clients know of a class and its tables don't say. Kept beside the entities, in the same transaction.
struct ClassOptions: Hashable, Sendable, Codable {
    /// What is known of fields, by name.
    var fields: [String: FieldOptions] = [:]
    /// The indexes that clients asked for, by the names they gave them.
    var indexes: [String: IndexOptions] = [:]
    /// The fields of which it was said that they aren't required: clients are told what was said.
    var optionalFields: Set<String>?
    /// Whether the class is only there because fields of others lead to it: whoever describes it first still makes it.
    var isImplied: Bool?
    /// Whom the class allows what; `nil` where everybody may do everything.
    var permissions: ClassPermissions?

    /// Whether objects are refused without a value of one of the fields.
    var hasRequiredFields: Bool { fields.contains { $0.value.isRequired } }
}

/// An index that clients asked for.
struct IndexOptions: Hashable, Sendable, Codable {
    /// The fields, in order.
    var fields: [IndexedField]
    /// Whether no two objects may have the same values.
    var isUnique = false

    /// Whether objects are found by it by their words.
    var isText: Bool { fields.contains { $0.isText == true } }

    /// A field of an index.
    struct IndexedField: Hashable, Sendable, Codable {
        var name: String
        /// 1 or -1, as clients gave it. Indexes are read both ways.
        var direction: Int64 = 1
        /// Whether its words are searched, in the place of a direction: `{"title": "text"}`.
        var isText: Bool?
        /// Whether clients gave it the name of the column that a pointer has where Parse's own server stores it: `_p_genre`.
        var isPointerColumn: Bool?

        /// The name as clients gave it.
        var givenName: String { isPointerColumn == true ? "_p_" + name : name }
    }
}

/// What clients know of a field and its column doesn't say.
struct FieldOptions: Hashable, Sendable, Codable {
    /// The type, where the column holds JSON of several.
    var type: FieldType?
    /// Whether objects are refused without a value. Those that are stored already may lack one.
    var isRequired = false
    /// The value of new objects that come without one, as JSON.
    var defaultValue: String?
}
