import RelataCore
import RelataEngine

/// The fields of its class that an object needs.
struct ClassDemand {
    private let className: String
    private let edits: [String: RecordValue]

    init(_ className: String, _ edits: [String: RecordValue]) {
        self.className = className
        self.edits = edits
    }

    /// The class with all of them: if use creates classes, missing ones are added.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for a missing one that isn't created.
    func met(in transaction: RecordWriteTransaction) throws -> RecordLayout {
        let known = transaction.recordClasses[className]
        let missing = edits.keys.filter { known?[$0] == nil }.sorted()
        if let known, missing.isEmpty { return known }
        guard transaction.mode == .development else { throw refusal(known, missing, transaction) }
        // An unset value doesn't determine a field.
        let fields = missing.filter { edits[$0]?.isEmpty == false }
        if let known, fields.isEmpty { return known }
        try transaction.define { (entities) throws(RelataError) in
            if known == nil {
                try entities.all.checkName(ofNewClass: className)
                entities.append(Self.newEntity(className))
            }
            guard let index = entities.place(of: className) else { return }
            for name in fields {
                // A newly created class has the fields of every object.
                guard entities[index].property(name) == nil, let property = try property(name, transaction) else {
                    continue
                }
                try entities[index].checkName(ofNewField: name)
                entities[index].properties.append(property)
            }
        }
        guard let made = transaction.recordClasses[className] else {
            throw RelataError.invalidUse("the class \(className) can't be made")
        }
        return made
    }

    /// A class with the fields that every object has.
    static func newEntity(_ name: String) -> Entity {
        Entity(
            name: name, table: name,
            properties: [
                .attribute(Attribute("id", type: .uuid(.blob))),
                .attribute(Attribute("createdAt", type: .date(.microseconds))),
                .attribute(Attribute("updatedAt", type: .date(.microseconds))),
            ], createdAt: "createdAt", updatedAt: "updatedAt")
    }

    /// The field that is created for a value.
    private func property(
        _ name: String, _ transaction: RecordWriteTransaction
    ) throws(RelataError) -> Property? {
        let value = edits[name] ?? .null
        switch value {
        case .link(let link):
            let target = try target(link.className, name, transaction)
            return .relationship(Relationship(name, to: target))
        case .links(let links):
            guard let first = links.first else { return nil }
            let target = try target(first.className, name, transaction)
            return .relationship(
                Relationship(name, target: target.name, kind: .manyToMany(), order: .stored))
        default:
            return value.attributeType.map { .attribute(Attribute(name, type: $0, isOptional: true)) }
        }
    }

    private func target(
        _ name: String, _ field: String, _ transaction: RecordWriteTransaction
    ) throws(RelataError) -> Table {
        if let table = transaction.schema[name] { return table }
        throw .invalidUse(
            "\(className).\(field) leads to the class \(name), which doesn't exist"
                + NameSuggestion.hint(for: name, among: transaction.schema.tables.map(\.name)))
    }

    private func refusal(
        _ known: RecordLayout?, _ missing: [String], _ transaction: RecordWriteTransaction
    ) -> RelataError {
        let fix = "; add it with alter, or open the store in development mode, which creates classes and fields by use"
        guard let known else {
            let names = transaction.schema.tables.map(\.name)
            return .invalidUse(
                "there is no class \(className)" + NameSuggestion.hint(for: className, among: names) + fix)
        }
        let name = missing.first ?? ""
        return .invalidUse(
            "\(className) has no field \(name)" + NameSuggestion.hint(for: name, among: known.names) + fix)
    }
}

extension RecordValue {
    /// Whether it doesn't determine its field.
    fileprivate var isEmpty: Bool {
        switch self {
        case .null: true
        case .links(let links): links.isEmpty
        default: false
        }
    }
}

extension Relationship {
    /// A to-one that may be unset. Its column has its own name, so that no two fields' columns can meet.
    init(_ name: String, to target: Table) {
        self.init(
            name, target: target.name,
            kind: .toOne(isOptional: true, columns: target.keyColumns.count == 1 ? [name] : []))
    }
}
