import Foundation
import RelataCore
import RelataEngine

/// A class or a many-to-many for export and import: a table with named columns.
struct MovedTable: Sendable {
    /// The owner of the rows.
    enum Owner: Hashable, Sendable {
        /// Of a class, by its number in ``Schema/tables``.
        case entity(Int)
        /// Of a many-to-many, by its number in ``Schema/joins``.
        case join(Int)
    }

    /// A list that the store orders, of a view of a to-one or of a many-to-many.
    struct List: Sendable {
        /// The column of places.
        let place: Int
        /// Those of the key of the list's owner.
        let owner: [Int]
    }

    let copied: CopiedTable
    let owner: Owner
    /// In the order of ``CopiedTable/columns``.
    let fields: [MovedField]
    /// The lists that the rows have places in.
    let lists: [List]
    /// The fields by their names, and by those of their columns, in lower case if that is unambiguous.
    private let places: [String: Int]

    /// The class, or the class and its list: `Playlist.tracks`.
    var name: String { copied.name }

    /// All classes, and then all many-to-manys.
    static func tables(of classes: RecordClasses) throws(RelataError) -> [MovedTable] {
        let schema = classes.schema
        var tables: [MovedTable] = []
        var names: Set<String> = []
        for copied in CopiedTable.tables(of: schema, dialect: classes.dialect) {
            let owner: Owner
            if let number = schema.index(ofTable: copied.table) {
                owner = .entity(number)
            } else if let join = schema.join(ofTable: copied.table) {
                owner = .join(join.index)
            } else {
                continue
            }
            guard names.insert(copied.name).inserted else {
                throw .invalidUse("a class and a list have the name \(copied.name): rename one of the two")
            }
            tables.append(MovedTable(copied, owner, classes))
        }
        return tables
    }

    private init(_ copied: CopiedTable, _ owner: Owner, _ classes: RecordClasses) {
        self.copied = copied
        self.owner = owner
        let table: Table? = if case .entity(let number) = owner { classes.schema.tables[number] } else { nil }
        let properties = Dictionary(grouping: copied.columns, by: \.property).mapValues(\.count)
        var names = copied.columns.map { properties[$0.property] == 1 ? $0.property : $0.name }
        if Set(names).count < names.count { names = copied.columns.map(\.name) }
        fields = zip(copied.columns, names).enumerated().map { place, column in
            MovedField(
                column.1, column.0, of: table, isKey: copied.key.contains(place), classes,
                isAssigned: copied.assignedKey == column.0.name)
        }
        lists = Self.lists(of: owner, in: classes.schema).compactMap { order, owner in
            guard let place = copied.columns.firstIndex(where: { $0.name == order }) else { return nil }
            return List(place: place, owner: owner.compactMap { name in copied.columns.firstIndex { $0.name == name } })
        }
        var places: [String: Int] = [:]
        for names in [names, copied.columns.map(\.name)] {
            for (place, name) in names.enumerated() where places[name] == nil { places[name] = place }
        }
        for (name, place) in places where places[name.lowercased()] == nil { places[name.lowercased()] = place }
        self.places = places
    }

    /// The columns of positions, each with those of the key of the list's owner.
    private static func lists(of owner: Owner, in schema: Schema) -> [(order: String, owner: [String])] {
        switch owner {
        case .entity(let number):
            return schema.references(of: number).compactMap { reference in
                guard reference.isOrderStored, let order = reference.orderColumn else { return nil }
                return (order, reference.columns)
            }
        case .join(let number):
            let join = schema.joins[number]
            return [(join.orderColumn, join.sourceColumns), (join.inverseOrderColumn, join.targetColumns)].compactMap {
                order, columns in order.map { ($0, columns) }
            }
        }
    }

    /// The field of a name; `nil` for none.
    func field(_ name: String) -> Int? { places[name] ?? places[name.lowercased()] }

    /// The key of a row.
    func key(_ values: [Value]) -> KeyValue { KeyValue(copied.key.map { values[$0] }) }

    /// Whether a row has values in some columns, which are parameters.
    func condition(_ places: [Int], from first: Int, _ dialect: Dialect) -> String {
        places.enumerated().map { number, place in
            let column = copied.columns[place]
            return "\(dialect.quote(column.name)) = \(dialect.parameter(first + number, as: column.boundType))"
        }.joined(separator: " AND ")
    }

    // MARK: Files

    /// The name of its file: its own one, without characters that names of files can't have.
    func fileName(_ format: DataFormat) -> String { Self.fileName(name) + "." + format.rawValue }

    /// A name as a file's.
    static func fileName(_ name: String) -> String {
        var text = ""
        for (place, scalar) in name.unicodeScalars.enumerated() {
            let isUnsafe = scalar.value < 0x20 || "%/\\:".unicodeScalars.contains(scalar) || place == 0 && scalar == "."
            guard isUnsafe else {
                text.unicodeScalars.append(scalar)
                continue
            }
            let digits = String(scalar.value, radix: 16, uppercase: true)
            text += "%" + (digits.count < 2 ? "0" : "") + digits
        }
        return text
    }
}

/// A column of a ``MovedTable``.
struct MovedField: Sendable {
    /// The value for a row without one.
    enum Absence: Sendable {
        /// This value.
        case value(Value)
        /// The time of the import.
        case now
        /// A position after all others of its list, if it is in one.
        case position
        /// A value that the database assigns.
        case assigned
        /// A new UUID.
        case newUUID
        /// A new text, as servers give their objects.
        case newObjectID
        /// There must be one.
        case refused
    }

    let name: String
    let type: AttributeType
    let isOptional: Bool
    let isKey: Bool
    let absence: Absence
    let attribute: Attribute?
    /// Whether integers among other numbers are stored as such.
    let keepsIntegers: Bool
    /// Whether dates and UUIDs that are stored as text keep the spelling that another program gave them.
    let keepsSpelling: Bool

    fileprivate init(
        _ name: String, _ copied: CopiedTable.Column, of table: Table?, isKey: Bool, _ classes: RecordClasses,
        isAssigned: Bool
    ) {
        let column = table?.columns.first { $0.name == copied.name }
        self.name = name
        self.isKey = isKey
        type = copied.type
        attribute = column.flatMap { table?.entity.attribute($0.property) }
        keepsIntegers = column?.keepsIntegers ?? false
        keepsSpelling = !classes.isRemembered
        // Positions beside to-ones may be unset.
        isOptional = column?.isOptional ?? (table != nil)
        absence = Self.absence(column, of: table, isKey: isKey, isAssigned: isAssigned)
    }

    private static func absence(_ column: Column?, of table: Table?, isKey: Bool, isAssigned: Bool) -> Absence {
        guard let column, let entity = table?.entity else {
            // The columns of a list that aren't its keys are positions.
            return isKey ? .refused : .position
        }
        if isAssigned, entity.isKeyAssigned { return .assigned }
        switch column.property {
        case entity.createdAt, entity.updatedAt: return .now
        case entity.revision: return .value(.integer(1))
        default: break
        }
        if let value = column.defaultValue { return .value(value) }
        if column.isOptional { return .value(.null) }
        guard isKey, column.reference == nil else { return .refused }
        if case .uuid = column.type { return .newUUID }
        return column.type == .text && entity.isOfClients ? .newObjectID : .refused
    }
}
