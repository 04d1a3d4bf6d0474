public import RelataCore

/// An object of a class that is known at run time: its fields by their names.
///
/// ```swift
/// var album = Record("Album", ["title": "Kind of Blue", "year": 1959])
/// album["artist"] = .link(miles)
/// album = try await store.save(album)
/// ```
///
/// A record knows whether it was stored, and which fields were set since: saving it writes those, and no others.
public struct Record: Sendable {
    /// The name of the class.
    public let className: String
    /// The fields that were set since the object was read or saved.
    public private(set) var edits: [String: RecordValue]
    /// Where the values of the stored object are; `nil` for a new one.
    let layout: RecordLayout?
    /// The values of the stored object by column.
    let row: [Value]
    /// The relationships that were loaded, by name.
    let loaded: [String: LoadedRecords]

    /// A new object, which isn't stored yet.
    public init(_ className: String, _ fields: [String: RecordValue] = [:]) {
        self.init(className, edits: fields, layout: nil, row: [], loaded: [:])
    }

    /// An object that is stored.
    init(_ layout: RecordLayout, row: [Value], loaded: [String: LoadedRecords] = [:]) {
        self.init(layout.table.name, edits: [:], layout: layout, row: row, loaded: loaded)
    }

    private init(
        _ className: String, edits: [String: RecordValue], layout: RecordLayout?, row: [Value],
        loaded: [String: LoadedRecords]
    ) {
        self.className = className
        self.edits = edits
        self.layout = layout
        self.row = row
        self.loaded = loaded
    }

    // MARK: Fields

    /// The value of a field; `nil` (``RecordValue/null``) where it has none, where there is no such field, and for a
    /// to-many that wasn't loaded. Setting it changes the record; saving the record changes the store.
    public subscript(field: String) -> RecordValue {
        get { edits[field] ?? stored(field) }
        set { edits[field] = newValue }
    }

    /// The value of a field as the object was read.
    private func stored(_ field: String) -> RecordValue {
        switch layout?[field] {
        case nil: return .null
        case .column(let column, let type)?: return RecordValue(row[column], as: type)
        case .link(let columns, let target)?:
            let key = KeyValue(columns.map { row[$0] })
            if key.values.contains(.null) { return .null }
            if case .one(let record?)? = loaded[field] { return .link(record) }
            return .link(RecordLink(target, key: key))
        case .related?:
            switch loaded[field] {
            case .one(let record)?: return record.map { .link($0) } ?? .null
            case .many(let records)?: return .links(records)
            case nil: return .null
            }
        }
    }

    /// The names of the class's fields, as it was when the object was read; those that were set, for a new object.
    public var fieldNames: [String] {
        let known = layout?.names ?? []
        return known + edits.keys.filter { layout?[$0] == nil }.sorted()
    }

    /// All fields that have a value, by name.
    public var fields: [String: RecordValue] {
        var fields: [String: RecordValue] = [:]
        for name in fieldNames where !self[name].isNull { fields[name] = self[name] }
        return fields
    }

    // MARK: Relationships

    /// The object that a to-one or has-one leads to; `nil` where it leads to none.
    ///
    /// - Throws: ``RelataError/notLoaded(entity:property:)`` where it wasn't loaded: include it in the query.
    public func related(_ field: String) throws -> Record? {
        let value = self[field]
        if let record = value.record { return record }
        if edits[field] != nil ? value.isNull : loaded[field] != nil { return nil }
        if case .link? = layout?[field], value.isNull { return nil }
        throw RelataError.notLoaded(entity: value.link?.className ?? "\(className).\(field)", property: "to-one")
    }

    /// The objects of a to-many, in its order.
    ///
    /// - Throws: ``RelataError/notLoaded(entity:property:)`` where they weren't loaded: include them in the query.
    public func relatedList(_ field: String) throws -> [Record] {
        if case .links(let links)? = edits[field], links.allSatisfy({ $0.record != nil }) {
            return links.compactMap(\.record)
        }
        if edits[field] == nil, case .many(let records)? = loaded[field] { return records }
        throw RelataError.notLoaded(entity: "\(className).\(field)", property: "to-many")
    }

    // MARK: Identity

    /// Whether the object was stored when this value was made.
    public var isStored: Bool { layout != nil }

    /// The primary key of a stored object; `nil` for a new one.
    public var key: KeyValue? { layout.map { layout in KeyValue(layout.table.keyColumns.map { row[$0] }) } }

    /// The object by its class and key; `nil` for a new one.
    public var reference: ObjectReference? { key.map { ObjectReference(entity: className, key: $0) } }
}

/// What was loaded of a relationship.
enum LoadedRecords: Hashable, Sendable {
    /// Of a to-one or has-one.
    case one(Record?)
    /// Of a to-many, in its order.
    case many([Record])
}

extension Record: Hashable {
    /// Whether both are the same object with the same values, loaded objects included.
    public static func == (left: Record, right: Record) -> Bool {
        left.className == right.className && left.row == right.row && left.edits == right.edits
            && left.loaded == right.loaded
            && (left.layout === right.layout || left.layout?.names == right.layout?.names)
    }

    /// Hashes class, key and what was set.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(className)
        hasher.combine(row)
        hasher.combine(edits)
    }
}

extension Record: CustomStringConvertible {
    /// `Album(title: Kind of Blue, year: 1959)`: the fields that have a value.
    public var description: String {
        let words = fieldNames.filter { !self[$0].isNull }.map { "\($0): \(self[$0])" }
        return "\(className)(\(words.joined(separator: ", ")))"
    }
}
