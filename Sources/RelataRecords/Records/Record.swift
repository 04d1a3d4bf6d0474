public import RelataCore

/// An object of a class known at run time: its fields by their names.
///
/// ```swift
/// var album = Record("Album", ["title": "Kind of Blue", "year": 1959])
/// album["artist"] = .link(miles)
/// album = try await store.save(album)
/// ```
///
/// A record knows whether it is stored, and which fields were set since: saving it writes only those.
public struct Record: Sendable {
    /// The name of the class.
    public let className: String
    /// The fields that were set since the object was read or saved.
    public private(set) var edits: [String: RecordValue]
    /// The later additions to lists and removals from them, by field.
    private(set) var listEdits: [String: [ListEdit]] = [:]
    /// The positions of the stored object's values; `nil` for a new one.
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

    /// The value of a field; `nil` (``RecordValue/null``) for an unset or unknown one, and for a to-many that wasn't
    /// loaded. Setting it changes the record; saving the record changes the store.
    public subscript(field: String) -> RecordValue {
        get { edits[field] ?? stored(field) }
        set {
            edits[field] = newValue
            listEdits[field] = nil
        }
    }

    /// The value of a field as the object was read.
    private func stored(_ field: String) -> RecordValue {
        switch layout?[field] {
        case nil: return isStored ? .null : listEdits[field].map { .links(edited([], by: $0)) } ?? .null
        case .column(let column, let type)?: return RecordValue(row[column], as: type)
        case .link(let columns, let target)?:
            let key = KeyValue(columns.map { row[$0] })
            if key.values.contains(.null) { return .null }
            if case .one(let record?)? = loaded[field] { return .link(record) }
            return .link(RecordLink(target, key: key))
        case .related?:
            switch loaded[field] {
            case .one(let record)?: return record.map { .link($0) } ?? .null
            case .many(let records)?:
                return .links(edited(records.map { RecordLink($0) }, by: listEdits[field] ?? []))
            case nil: return .null
            }
        }
    }

    private func edited(_ links: [RecordLink], by edits: [ListEdit]) -> [RecordLink] {
        edits.reduce(into: links) { $1.apply(to: &$0) }
    }

    /// The names of the class's fields, as it was when the object was read; for a new object, those that were set.
    public var fieldNames: [String] {
        let known = layout?.names ?? []
        return known + editedFields.filter { layout?[$0] == nil }.sorted()
    }

    /// All fields that have a value, by name.
    public var fields: [String: RecordValue] {
        var fields: [String: RecordValue] = [:]
        for name in fieldNames where !self[name].isNull { fields[name] = self[name] }
        return fields
    }

    // MARK: Relationships

    /// The target of a to-one or has-one; `nil` for none.
    ///
    /// - Throws: ``RelataError/notLoaded(entity:property:)`` if it wasn't loaded: include it in the query.
    public func related(_ field: String) throws -> Record? {
        let value = self[field]
        if let record = value.record { return record }
        if edits[field] != nil ? value.isNull : loaded[field] != nil { return nil }
        if case .link? = layout?[field], value.isNull { return nil }
        throw RelataError.notLoaded(entity: value.link?.className ?? "\(className).\(field)", property: "to-one")
    }

    /// The objects of a to-many, in its order.
    ///
    /// - Throws: ``RelataError/notLoaded(entity:property:)`` if they weren't loaded: include them in the query.
    public func relatedList(_ field: String) throws -> [Record] {
        if case .links(let links)? = edits[field], links.allSatisfy({ $0.record != nil }) {
            return links.compactMap(\.record)
        }
        if edits[field] == nil, case .links(let links) = stored(field), links.allSatisfy({ $0.record != nil }) {
            return links.compactMap(\.record)
        }
        throw RelataError.notLoaded(entity: "\(className).\(field)", property: "to-many")
    }

    /// Appends an object to a to-many. The list need not be loaded. A new object is saved with this one.
    ///
    /// ```swift
    /// album.add(track, to: "tracks")
    /// album.remove(other, from: "tracks")
    /// album = try await store.save(album)
    /// ```
    public mutating func add(_ record: Record, to field: String) { add(RecordLink(record), to: field) }

    /// Adds objects to a to-many, in order.
    public mutating func add(_ records: [Record], to field: String) { for record in records { add(record, to: field) } }

    /// Adds the target of a link to a to-many.
    public mutating func add(_ link: RecordLink, to field: String) { edit(field, .add(link)) }

    /// Removes an object from a to-many. The list need not be loaded; does nothing if the object isn't in it.
    public mutating func remove(_ record: Record, from field: String) { remove(RecordLink(record), from: field) }

    /// Removes objects from a to-many.
    public mutating func remove(_ records: [Record], from field: String) {
        for record in records { remove(record, from: field) }
    }

    /// Removes the target of a link from a to-many.
    public mutating func remove(_ link: RecordLink, from field: String) { edit(field, .remove(link)) }

    /// A set list is known; others are edited in the store.
    private mutating func edit(_ field: String, _ change: ListEdit) {
        guard let value = edits[field] else {
            if case .remove(let link) = change, link.key == nil {
                // A new object is in the list only because it was added.
                listEdits[field]?.removeAll { $0 == .add(link) }
            } else {
                listEdits[field, default: []].append(change)
            }
            return
        }
        var links = value.links ?? []
        change.apply(to: &links)
        edits[field] = .links(links)
    }

    /// The names of the fields that were set or edited since the object was read or saved.
    var editedFields: Set<String> { Set(edits.keys).union(listEdits.keys) }

    // MARK: Identity

    /// Whether the object was stored when this value was made.
    public var isStored: Bool { layout != nil }

    /// The primary key of a stored object; `nil` for a new one.
    public var key: KeyValue? { layout.map { layout in KeyValue(layout.table.keyColumns.map { row[$0] }) } }

    /// The object by its class and key; `nil` for a new one.
    public var reference: ObjectReference? { key.map { ObjectReference(entity: className, key: $0) } }
}

/// A change of a to-many.
enum ListEdit: Hashable, Sendable {
    case add(RecordLink)
    case remove(RecordLink)

    var link: RecordLink {
        switch self {
        case .add(let link), .remove(let link): link
        }
    }

    /// Applies the edit to a known list.
    func apply(to links: inout [RecordLink]) {
        switch self {
        case .add(let link): if !links.contains(link) { links.append(link) }
        case .remove(let link): links.removeAll { $0 == link }
        }
    }
}

/// The loaded objects of a relationship.
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
            && left.loaded == right.loaded && left.listEdits == right.listEdits
            && (left.layout === right.layout || left.layout?.names == right.layout?.names)
    }

    /// Hashes class, key and set fields.
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
