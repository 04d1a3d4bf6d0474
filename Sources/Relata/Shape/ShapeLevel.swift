import RelataCore
import RelataEngine

/// The columns of one statement for a shape, while it is being described: the row's parts, and the lists that separate
/// statements load for all rows.
@_documentation(visibility: internal)
public struct ShapeLevel {
    let schema: Schema
    let entity: String
    var parts: [SelectedPart] = []
    var lists: [ShapeList] = []
    /// The parts of each to-one in the row; at the end, outer ones come first.
    var toOnes: [Range<Int>] = []
    /// The property that is being described, and those around it.
    var names: [String] = []
    /// For each part the property it is for, for messages.
    private(set) var partNames: [String] = []
    /// The keys of lists that aren't part of the row yet.
    private var listKeys: [(list: Int, part: SelectedPart, names: [String])] = []

    init(schema: Schema, entity: String) {
        self.schema = schema
        self.entity = entity
    }

    /// Adds a part to the row.
    mutating func add(_ part: SelectedPart) {
        parts.append(part)
        partNames.append(names.joined(separator: "."))
    }

    /// Adds the keys that lists are found by. They come after all that is read from the row.
    mutating func finish() {
        for key in listKeys {
            names = key.names
            lists[key.list].keyPart = parts.count
            add(key.part)
        }
        listKeys = []
        toOnes.sort { $0.lowerBound < $1.lowerBound }
    }

    /// Adds a list, whose owner is the object itself or one at the end of to-ones.
    mutating func addList<Content: ShapeContent>(_ include: Include<Content.Target>, of content: Content.Type) throws {
        let plan = include.plan
        let table = try table(at: include.path)
        guard let link = table.links[plan.relationship] else {
            throw RelataError.invalidUse(
                "\(names.joined(separator: ".")): \(table.name) has no relationship \(plan.relationship) for a list of a shape"
            )
        }
        if let limit = plan.limit, limit < 1 {
            throw RelataError.invalidUse(
                "\(names.joined(separator: ".")) has a limit of \(limit): give at least 1, or leave the property out")
        }
        if plan.isRequired || plan.recursion != nil || !plan.children.isEmpty {
            throw RelataError.invalidUse(
                "\(names.joined(separator: ".")): a shape lists what is fetched. Nest a shape instead of 'including' and 'recursive', and ask with 'where' instead of 'required'"
            )
        }
        let isOwn = !link.isReference && include.path.isEmpty
        if !isOwn {
            let part: SelectedPart =
                link.isReference
                ? .expression(.property(scope: 0, path: include.path + [plan.relationship])) : .key(path: include.path)
            listKeys.append((lists.count, part, names))
        }
        lists.append(
            ShapeList(
                owner: table, link: link, plan: plan, keyPart: 0, isOwnerRepeated: !isOwn,
                load: { try $0.load($1, of: content, keys: $2, depth: $3) }))
    }

    /// The table of the object at the end of to-ones.
    private func table(at path: [String]) throws(RelataError) -> Table {
        var entity = entity
        for name in path {
            guard let relationship = schema[entity]?.entity.relationship(name), !relationship.isToMany else {
                throw .invalidUse(
                    "\(names.joined(separator: ".")) uses the path \(path.joined(separator: ".")), which goes through a to-many: nest a shape for each step, or declare a Through"
                )
            }
            entity = relationship.target
        }
        guard let table = schema[entity] else { throw .invalidUse("there is no entity \(entity)") }
        return table
    }
}

/// A list of a shape, which one statement loads for all owners.
struct ShapeList: Sendable {
    /// The owners' table and their relationship.
    let owner: Table
    let link: Link
    /// The condition, the order and the number of the related objects.
    let plan: IncludePlan
    /// The part of the owner's row that is its key.
    var keyPart: Int
    /// Whether several rows may have the same owner.
    let isOwnerRepeated: Bool
    let load: @Sendable (ShapeFetcher, ShapeList, ShapeKeys, Int) throws -> any LoadedShapes

    /// Whether the same object may be in the lists of several owners.
    var isShared: Bool { if case .inverse = link { false } else { true } }
}

/// The keys of a list's owners: each once, and which one each row has.
struct ShapeKeys {
    private(set) var list: KeyList
    /// For each row its key's number; -1 for none.
    private(set) var numbers: [Int32] = []
    /// Whether they are the keys of all existing objects, so that whole tables may be read for them.
    let areAll: Bool
    private let columns: Range<Int>
    private let types: [AttributeType?]
    private let isRepeated: Bool
    private var single: [Value: Int32] = [:]
    private var composite: [KeyValue: Int32] = [:]

    init(columns: Range<Int>, types: [AttributeType?], isRepeated: Bool, areAll: Bool) {
        self.columns = columns
        self.types = types
        self.isRepeated = isRepeated
        self.areAll = areAll
        list = KeyList(width: columns.count)
    }

    /// Takes the key of the current row.
    mutating func append(_ row: Row) {
        if row.isNull(at: columns.lowerBound) { return numbers.append(-1) }
        let next = Int32(list.count)
        if columns.count == 1 {
            let value = row.value(at: columns.lowerBound, as: types[columns.lowerBound])
            if isRepeated {
                if let known = single[value] { return numbers.append(known) }
                single[value] = next
            }
            list.append(value: value)
        } else {
            let key = KeyValue(columns.map { row.value(at: $0, as: types[$0]) })
            if isRepeated {
                if let known = composite[key] { return numbers.append(known) }
                composite[key] = next
            }
            list.append(key)
        }
        numbers.append(next)
    }
}
