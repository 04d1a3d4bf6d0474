public import RelataCore

/// A class of a store, as it is at one moment.
public struct RecordClass: Hashable, Sendable {
    /// Its name.
    public let name: String
    /// Its fields, in order.
    public let fields: [RecordField]
    /// The names of the fields that make up the primary key.
    public let key: [String]
    /// Sets of fields that are unique together, besides the key.
    public let uniques: [[String]]
    /// Fields that are indexed together, besides keys, unique sets and links.
    public let indexes: [[String]]
    /// The searched fields; empty if the class isn't searched.
    public let search: [String]
    /// The field that counts the changes of an object: saving one that was changed in the meantime is a conflict.
    public let revision: String?
    /// The field with the time of an object's creation.
    public let createdAt: String?
    /// The field with the time of an object's last change.
    public let updatedAt: String?

    init(_ table: Table, in schema: Schema) {
        let entity = table.entity
        name = entity.name
        key = entity.key
        uniques = entity.uniques
        indexes = entity.indexes
        search = entity.search ?? []
        revision = entity.revision
        createdAt = entity.createdAt
        updatedAt = entity.updatedAt
        fields = entity.properties.map { RecordField($0, of: table, in: schema) }
    }

    /// The field of that name, if the class has it.
    public subscript(field: String) -> RecordField? { fields.first { $0.name == field } }
}

/// A field of a class.
public struct RecordField: Hashable, Sendable {
    /// The kind of a field.
    public enum Kind: Hashable, Sendable {
        /// A value of a type.
        case value(AttributeType)
        /// A link to at most one object of a class.
        case link(String)
        /// Links to objects of a class.
        case links(String)
    }

    /// Its name.
    public let name: String
    /// The kind of the field.
    public let kind: Kind
    /// Whether every object must have a value.
    public let isRequired: Bool
    /// The inverse field of the other class, if there is one.
    public let inverse: String?
    /// The effect on the other side when an object of this class is deleted; `nil` if none is declared.
    public let deleteRule: DeleteRule?
    /// For a link: the effect on an object of this class when its target is deleted. `nil` for others.
    public let onTargetDelete: DeleteRule?

    init(_ property: Property, of table: Table, in schema: Schema) {
        name = property.name
        switch property {
        case .attribute(let attribute):
            kind = .value(attribute.type)
            isRequired = !attribute.isOptional
            (inverse, deleteRule, onTargetDelete) = (nil, nil, nil)
        case .relationship(let relationship):
            kind = relationship.isToMany ? .links(relationship.target) : .link(relationship.target)
            deleteRule = relationship.deleteRule
            switch table.links[relationship.name] {
            case .reference(let number)?:
                let reference = schema.references[number]
                (isRequired, inverse, onTargetDelete) = (
                    !reference.isOptional, reference.inverse, reference.onTargetDelete
                )
            case .inverse(let number)?:
                (isRequired, inverse, onTargetDelete) = (false, schema.references[number].property, nil)
            case .join(let number, let isSource)?:
                let join = schema.joins[number]
                (isRequired, inverse, onTargetDelete) = (false, isSource ? join.inverse : join.property, nil)
            case .through?, .matched?, nil: (isRequired, inverse, onTargetDelete) = (false, nil, nil)
            }
        }
    }
}
