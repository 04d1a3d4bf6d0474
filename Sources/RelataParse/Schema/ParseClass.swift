import Foundation
import RelataCore
import RelataRecords
import RelataEngine

/// A class as clients see it, over the entity that stores it.
final class ParseClass: Sendable {
    /// The entity and its columns.
    let table: Table
    /// The stored entity: the other has additional rules from the class's options.
    let stored: Entity
    /// The fields in order, beginning with those of every object.
    let fields: [Field]
    /// The class's other properties.
    let options: ClassOptions
    /// Reads and writes object ids.
    let objectID: ObjectIDCoding
    /// The statements that insert objects.
    let insertion: ValueBatch.Insertion
    /// The columns of an object's stamps, and of the number that counts its versions.
    let createdAt, updatedAt, revision: Int?
    /// The fields with defaults for new objects.
    let fieldsWithDefaults: [Field]
    /// The fields that don't accept every value of their type.
    let checkedFields: [Field]
    /// The initial columns of a new object.
    let newRow: [Value?]
    /// Whether new objects may be inserted together: by the class, none can point at another, and the database computes
    /// no values for the reply.
    let insertsTogether: Bool
    private let places: [String: Int]

    /// The class's name.
    var name: String { table.name }

    /// The field of that name.
    subscript(name: String) -> Field? { places[name].map { fields[$0] } }

    /// The column of the object's access list; `nil` for a class without lists.
    let accessColumn: Int?

    /// - Parameter hidden: The fields that are left out, because some callers don't get them.
    init(
        _ table: Table, stored: Entity, in schema: Schema, options: ClassOptions, dialect: Dialect,
        hidden: Set<String> = []
    ) {
        self.table = table
        self.stored = stored
        self.options = options
        objectID = ObjectIDCoding(table)
        var fields = [Field(name: "objectId", type: .string, storage: .objectID)]
        let entity = table.entity
        func stamp(_ property: String?, _ name: String) {
            guard let column = property.flatMap({ table.columnIndexes(of: $0).first }) else { return }
            fields.append(Field(name: name, type: .date, storage: .column(column)))
        }
        stamp(entity.createdAt, "createdAt")
        stamp(entity.updatedAt, "updatedAt")
        let shown = Set(
            [entity.createdAt, entity.updatedAt].compactMap(\.self) + (entity.key.count == 1 ? entity.key : []))
        for property in entity.properties where !shown.contains(property.name) {
            if InternalClasses.hides(property.name, of: table.name) { continue }
            if hidden.contains(property.name) { continue }
            if case .relationship(let relationship) = property, relationship.target == InternalClasses.file { continue }
            if let field = Field(property, of: table, in: schema, options: options.fields[property.name]) {
                fields.append(field)
            }
        }
        self.fields = fields
        insertion = ValueBatch.Insertion(into: table, dialect)
        accessColumn = entity.isGuarded ? table.columnIndexes(of: InternalClasses.link).first : nil
        createdAt = entity.createdAt.flatMap { table.columnIndexes(of: $0).first }
        updatedAt = entity.updatedAt.flatMap { table.columnIndexes(of: $0).first }
        revision = entity.revision.flatMap { table.columnIndexes(of: $0).first }
        let stamps = [createdAt, updatedAt]
        fieldsWithDefaults = fields.filter { field in
            if field.defaultValue != nil || field.columns.contains(where: { table.columns[$0].defaultSQL != nil }) {
                return true
            }
            // The store sets the stamps, regardless of the app's defaults.
            guard case .column(let column) = field.storage, !stamps.contains(column) else { return false }
            return !(table.columns[column].defaultValue ?? .null).isNull
        }
        checkedFields = fields.filter { $0.isRequired || !$0.limits.isEmpty }
        newRow = table.columns.map { $0.defaultValue ?? Value.null }
        insertsTogether =
            fieldsWithDefaults.isEmpty && revision == nil && table.keyColumns.count == 1 && !entity.isKeyAssigned
            && table.columns.count <= KeyValue.maximumParts
            && !schema.references(of: table.index).contains { $0.target == table.index }
        places = Dictionary(fields.enumerated().map { ($1.name, $0) }) { first, _ in first }
    }
}

extension ParseClass {
    /// The value of a row's field for clients; `nil` for an unset one.
    func json(_ field: Field, of row: [Value], in classes: ClassSet) -> JSONValue? {
        switch field.storage {
        case .objectID, .relation, .access: return nil
        case .column(let column):
            if row[column].isNull { return nil }
            let type = table.columns[column].type
            guard type == .json else { return JSONValue(row[column], as: type) }
            let text = row[column].description
            return (try? JSONParser.parse(text)) ?? .string(text)
        case .pointer(let reference, let columns):
            let key = columns.map { row[$0] }
            guard !key.contains(.null),
                let target = classes[entity: classes.schema.references[reference].target]
            else { return nil }
            return Pointer(className: target.name, objectID: target.objectID.text(KeyValue(key))).json
        }
    }

    /// A stand-in for a class that doesn't exist. It has the fields of every object, so that requests for it are
    /// checked like others.
    static func unknown(_ dialect: Dialect) throws(ParseError) -> ParseClass {
        do throws(RelataError) {
            let schema = try Schema([SchemaDraft.newEntity("Unknown")])
            return ParseClass(
                schema.tables[0], stored: schema.tables[0].entity, in: schema, options: ClassOptions(),
                dialect: dialect)
        } catch {
            throw ParseError(error)
        }
    }
}

/// A field of a class. Not a structure: it is passed on for every value that is written.
final class Field: Sendable {
    /// The name on the wire.
    let name: String
    /// The type on the wire.
    let type: FieldType
    /// The place of the value.
    let storage: Storage
    /// Whether objects are refused without a value.
    let isRequired: Bool
    /// The value of new objects that come without one.
    let defaultValue: JSONValue?
    /// The limits on the field's values.
    let limits: [Limit]
    /// Whether the column has JSON of a type that only the app's model knows.
    let isAnyJSON: Bool
    /// The columns of texts, numbers and booleans that are stored unchanged, as most are.
    private let plain: (column: Int, type: AttributeType)?
    /// Whether a column of numbers holds whole ones as integers.
    private let keepsIntegers: Bool
    /// Whether integers beyond 2⁵³ would be rounded unnecessarily: an earlier version made the field.
    let canKeepIntegers: Bool
    /// Whether empty text is none.
    let needsText: Bool

    /// The place of a field's value.
    enum Storage: Hashable, Sendable {
        /// The key.
        case objectID
        /// A column, as an index in ``Table/columns``.
        case column(Int)
        /// A to-one: the number of the reference, and its columns.
        case pointer(reference: Int, columns: [Int])
        /// The inverse of a to-one, a many-to-many, or a relationship through one.
        case relation(Link)
        /// The access list of the object.
        case access
    }

    init(name: String, type: FieldType, storage: Storage) {
        self.name = name
        self.type = type
        self.storage = storage
        (isRequired, defaultValue, limits, isAnyJSON, plain) = (false, nil, [], false, nil)
        (keepsIntegers, canKeepIntegers, needsText) = (false, false, false)
    }

    /// The field that a property is to clients; `nil` for one that they can't use: the other side of a one-to-one.
    init?(_ property: Property, of table: Table, in schema: Schema, options: FieldOptions?) {
        name = property.name
        switch property {
        case .attribute(let attribute):
            guard let column = table.columnIndexes(of: attribute.name).first else { return nil }
            storage = .column(column)
            type = options?.type ?? FieldType(attribute.type)
            isAnyJSON = attribute.type == .json && options?.type == nil
            plain =
                switch (type, attribute.type) {
                case (.string, .text), (.number, .real), (.number, .integer), (.boolean, .boolean):
                    (column, attribute.type)
                default: nil
                }
            isRequired = options?.isRequired ?? property.isRequired
            needsText = options?.isRequired == true && type == .string
            limits = attribute.limits
            keepsIntegers = attribute.keepsIntegers
            canKeepIntegers = attribute.type == .real && !attribute.keepsIntegers && table.entity.isOfClients
        case .relationship(let relationship):
            guard let link = table.links[relationship.name] else { return nil }
            switch link {
            case .reference where relationship.target == InternalClasses.accessList:
                (isRequired, limits, isAnyJSON, plain) = (false, [], false, nil)
                (keepsIntegers, canKeepIntegers, needsText) = (false, false, false)
                type = .acl
                storage = .access
            case .reference(let number):
                (limits, isAnyJSON, plain) = ([], false, nil)
                (keepsIntegers, canKeepIntegers, needsText) = (false, false, false)
                type = .pointer(relationship.target)
                storage = .pointer(reference: number, columns: table.columnIndexes(of: relationship.name))
                isRequired = options?.isRequired ?? !schema.references[number].isOptional
            default:
                guard relationship.isToMany else { return nil }
                (isRequired, limits, isAnyJSON, plain) = (false, [], false, nil)
                (keepsIntegers, canKeepIntegers, needsText) = (false, false, false)
                type = .relation(relationship.target)
                storage = .relation(link)
            }
        }
        defaultValue = options?.defaultValue.flatMap { try? JSONParser.parse($0) }
    }

    /// The columns that hold its value.
    var columns: [Int] {
        switch storage {
        case .column(let column): [column]
        case .pointer(_, let columns): columns
        case .objectID, .relation, .access: []
        }
    }

    /// The column and its value, for a value of the field's type that is stored unchanged; `nil` for any other.
    func plainValue(_ json: JSONValue) -> (column: Int, value: Value)? {
        guard let plain else { return nil }
        switch (plain.type, json) {
        case (.text, .string(let text)): return (plain.column, .text(text))
        case (.real, .double(let number)): return (plain.column, .real(number))
        case (.real, .integer(let number)):
            if keepsIntegers { return (plain.column, .integer(number)) }
            // The decoder refuses it.
            if canKeepIntegers, number.isRoundedByDouble { return nil }
            return (plain.column, .real(Double(number)))
        case (.integer, .integer(let number)): return (plain.column, .integer(number))
        case (.boolean, .bool(let isTrue)): return (plain.column, .integer(isTrue ? 1 : 0))
        default: return nil
        }
    }

    /// Whether a change of a member or an element may be one of its value: a number is a name, too.
    func holds(_ change: FieldChange) -> Bool {
        guard case .member = change else { return false }
        return accepts(.object) || accepts(.array)
    }

    /// Whether a value of a type can be written to it.
    func accepts(_ given: FieldType) -> Bool {
        given == type || isAnyJSON && (given == .array || given.attributeType == .json)
    }
}

extension Entity {
    /// Whether its objects may have access lists.
    var isGuarded: Bool { relationship(InternalClasses.link)?.target == InternalClasses.accessList }
    /// Whether its objects are sessions of users.
    var isSession: Bool { name == InternalClasses.session && property("_token") != nil }
}
