import Foundation
import RelataCore
import RelataEngine

/// The references of objects to files: a relation in each class that can refer to files. Clients don't see it.
enum FileLinks {
    /// The name of the relation.
    static let name = "_files"

    /// The name of the inverse relation: the objects of a class that refer to a file.
    static func side(of className: String) -> String { "usedBy_" + className }

    /// The files in a value, at any depth.
    static func names(in value: JSONValue) -> Set<String> {
        var names: Set<String> = []
        collect(value, into: &names)
        return names
    }

    /// The files in columns of JSON.
    static func names(inDocuments values: [Value?]) -> Set<String> {
        var names: Set<String> = []
        for case .text(let text)? in values where text.utf8.count > 24 && FileURLs.mayHoldFiles(Array(text.utf8)) {
            if let value = try? JSONParser.parse(text) { collect(value, into: &names) }
        }
        return names
    }

    private static func collect(_ value: JSONValue, into names: inout Set<String>) {
        switch value {
        case .null, .bool, .integer, .double, .string: break
        case .array(let elements): for element in elements { collect(element, into: &names) }
        case .object(let members):
            if members["__type"] == "File", let name = members["name"]?.string {
                names.insert(name)
            } else {
                for (_, value) in members { collect(value, into: &names) }
            }
        }
    }
}

extension SchemaDraft {
    /// Adds references to files to a class. Does nothing if the class has them already, or if the store has no files.
    mutating func linkFiles(of name: String) {
        guard let files = entity(InternalClasses.file), files.isOfFiles, let entity = entity(name), entity.isOfClients,
            entity.property(FileLinks.name) == nil
        else { return }
        edit(name) { entity, _ in
            entity.properties.append(
                .relationship(
                    Relationship(
                        FileLinks.name, target: InternalClasses.file,
                        kind: .manyToMany(JoinTableNames(table: "_Join:\(FileLinks.name):\(name)")))))
        }
        edit(InternalClasses.file) { entity, _ in
            entity.properties.append(
                .relationship(
                    Relationship(
                        FileLinks.side(of: name), target: name, kind: .manyToManyInverse(inverse: FileLinks.name),
                        deleteRule: .deny)))
        }
    }

    /// Removes the links of a class to files.
    mutating func unlinkFiles(of name: String) {
        edit(InternalClasses.file) { entity, _ in
            entity.properties.removeAll { $0.name == FileLinks.side(of: name) }
        }
    }
}

extension Entity {
    /// Whether the entity's objects can refer to files.
    var hasFileLinks: Bool { relationship(FileLinks.name)?.target == InternalClasses.file }
}

extension ObjectBody {
    /// Whether a value of the body contains a file.
    var holdsFiles: Bool { changes.contains(where: \.holdsFiles) }
}

extension FieldChange {
    fileprivate var holdsFiles: Bool {
        switch self {
        case .set(let value): !FileLinks.names(in: value).isEmpty
        case .add(let values), .addUnique(let values): values.contains { !FileLinks.names(in: $0).isEmpty }
        case .member(_, let change): change.holdsFiles
        case .unset, .increment, .remove, .addRelation, .removeRelation, .placeRelation: false
        }
    }
}

extension ObjectWriter {
    /// Plans which files the object refers to, if that may have changed.
    func planFiles(of owner: PlannedKey, _ plan: inout WritePlan) throws {
        let table = parseClass.table
        let link = table.entity.hasFileLinks ? table.links[FileLinks.name] : nil
        // Tables of other programs have no such link, and replies show the files of their documents all the same.
        guard link != nil || !transaction.caller.unprovenFiles.isEmpty else { return }
        let documents = table.columns.indices.filter { table.columns[$0].type == .json }
        guard documents.contains(where: { columns[$0] != nil }) else { return }
        let names = FileLinks.names(inDocuments: documents.map(current))
        if names.isEmpty, isNew { return }
        let unproven = names.intersection(transaction.caller.unprovenFiles)
        if !unproven.isEmpty {
            // A caller can't learn a file's name from a hidden field, so names in hidden fields don't count.
            let hidden = transaction.caller.fieldsHidden(inSomeOf: parseClass.name)
            let before = FileLinks.names(
                inDocuments: documents.filter { !hidden.contains(table.columns[$0].property) }.map { row?[$0] })
            if let name = unproven.subtracting(before).min() { throw ParseError.fileIsUnproven(name) }
        }
        guard let link, let files = transaction.files else { return }
        let keys = try transaction.use(names.sorted(), in: files)
        plan.add(
            LinkEdits(
                owner: owner, link: PlannedLink(FileLinks.name, files.index, link, transaction.schema),
                changes: [.set(keys.map { .key($0) })]))
    }
}

extension ParseTransaction {
    /// Records that files are used.
    ///
    /// - Returns: The keys of those that exist.
    fileprivate func use(_ names: [String], in files: Table) throws -> [KeyValue] {
        let keys = names.map { KeyValue(.text($0)) }
        let rows = try connection.rows(keys, of: files, unlimitedCompiler)
        var known: [KeyValue] = []
        for (key, row) in zip(keys, rows) {
            guard let row else { continue }
            known.append(key)
            try note([("isUsed", .integer(1)), ("unusedSince", .null)], of: key, row, in: files)
        }
        return known
    }

    /// Stores the facts about a file, if they aren't stored yet.
    private func note(
        _ facts: [(property: String, value: Value)], of key: KeyValue, _ row: [Value], in files: Table
    ) throws {
        var (values, written) = (row, [Int]())
        for (property, value) in facts {
            for column in files.columnIndexes(of: property) where values[column] != value {
                values[column] = value
                written.append(column)
            }
        }
        if written.isEmpty { return }
        try write([ValueBatch.Row(key: key, values: values, columns: written.sorted())], of: files)
    }

    /// The other sides of all relations to files.
    func sides(of files: Table) -> [Relationship] {
        files.entity.relationships.filter { FileLinks.side(of: $0.target) == $0.name }
    }

    /// The condition on files that no object refers to.
    func isUnreferenced(_ sides: [Relationship]) -> [ExpressionNode] {
        let uses = sides.map { side in
            ExpressionNode.quantified(
                .any, RelatedSet(scope: 0, path: [side.name], innerScope: 1),
                condition: .not(.isNull(.property(scope: 1, path: []))))
        }
        return uses.isEmpty ? [] : [.not(.or(uses))]
    }

    /// Removes all references to a file.
    func forgetUses(of name: String) throws {
        guard let files else { return }
        let run = WriteRun(connection, schema: schema, isSchemaFixed: false, now: now)
        for side in sides(of: files) {
            guard let link = files.links[side.name], let target = schema.index(of: side.target) else { continue }
            run.plan.add(
                LinkEdits(
                    owner: .key(KeyValue(.text(name))), link: PlannedLink(side.name, target, link, schema),
                    changes: [.set([])]))
        }
        try run.write()
    }

    /// Records the files that no object refers to anymore, and finds those that have been unused for long enough to be
    /// deleted.
    ///
    /// - Parameter time: Files that became unused before this time may be deleted.
    /// - Returns: The files' names, at most ``maximumFiles``.
    func unusedFiles(since time: Date) throws -> [String] {
        guard let files else { return [] }
        func property(_ name: String) -> ExpressionNode { .property(scope: 0, path: [name]) }
        let isUnused: [ExpressionNode] =
            [.comparison(.equal, property("isUsed"), .value(.integer(1)), [])] + isUnreferenced(sides(of: files))
        for name in try names(of: files, isUnused + [.isNull(property("unusedSince"))]) {
            let key = KeyValue(.text(name))
            guard let row = try connection.row(key, of: files, unlimitedCompiler),
                let column = files.columnIndexes(of: "unusedSince").first
            else { continue }
            try note([("unusedSince", files.columns[column].type.stamp(now))], of: key, row, in: files)
        }
        guard let microseconds = DateText.microseconds(of: time) else { return [] }
        return try names(
            of: files,
            isUnused + [.comparison(.less, property("unusedSince"), .value(.integer(microseconds)), [])])
    }

    private func names(of files: Table, _ conditions: [ExpressionNode]) throws -> [String] {
        var plan = QueryPlan(entity: files.name, condition: .and(conditions))
        plan.limit = Self.maximumFiles
        let query = try unlimitedCompiler.select(
            plan, columns: .expressions([.property(scope: 0, path: ["name"])]))
        return try connection.values(query.statement, types: query.columnTypes).compactMap { row in
            if case .text(let name) = row[0] { name } else { nil }
        }
    }

    /// The maximum number of files in one transaction, because other writes wait for it.
    private static var maximumFiles: Int { 500 }
}
