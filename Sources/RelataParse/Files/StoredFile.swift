import Foundation
import RelataCore
import RelataEngine

/// The facts about a file, without its content.
struct StoredFile: Hashable, Sendable {
    /// The file's name, as clients use it.
    var name: String
    var content: StoredContent
    var metadata: JSONObject = [:]
    var tags: JSONObject = [:]

    /// The content type, by the extension of the name.
    var contentType: String { ContentType.of(name) }
    /// The digest of the content.
    var tag: String { "\"\(content.id)\"" }
}

extension ParseTransaction {
    /// The table of files; `nil` if it doesn't exist yet.
    var files: Table? {
        guard let table = storedClasses.schema[InternalClasses.file], table.entity.isOfFiles else { return nil }
        return table
    }

    /// The file with this name.
    func file(_ name: String) throws -> StoredFile? {
        guard let files, let row = try connection.row(KeyValue(.text(name)), of: files, unlimitedCompiler) else {
            return nil
        }
        func value(_ property: String) -> Value { files.columnIndexes(of: property).first.map { row[$0] } ?? .null }
        func object(_ property: String) -> JSONObject {
            let value = value(property)
            return value.isNull ? [:] : (try? JSONParser.parse(value.description))?.object ?? [:]
        }
        guard case .text(let content) = value("content"), case .integer(let size) = value("size") else { return nil }
        return StoredFile(
            name: name, content: StoredContent(id: content, size: Int(size)), metadata: object("metadata"),
            tags: object("tags"))
    }

    /// Writes a new file.
    func add(_ file: StoredFile) throws {
        guard let files else { throw ParseError.filesTableIsForeign }
        var values: [String: Value] = [
            "name": .text(file.name), "content": .text(file.content.id), "size": .integer(Int64(file.content.size)),
        ]
        for (name, object) in [("metadata", file.metadata), ("tags", file.tags)] where !object.isEmpty {
            values[name] = .text(JSONWriter.canonicalText(.object(object)))
        }
        if let column = files.columnIndexes(of: "createdAt").first {
            values["createdAt"] = files.columns[column].type.stamp(now)
        }
        try write([ValueBatch.Row(key: KeyValue(.text(file.name)), values: files.values(values))], of: files)
    }

    /// The contents among these that no file has.
    func unused(_ contents: [String]) throws -> [String] {
        guard let files, !contents.isEmpty else { return contents }
        let content = ExpressionNode.property(scope: 0, path: ["content"])
        let plan = QueryPlan(
            entity: files.name, condition: .valueIn(content, contents.map { Value.text($0) }, []))
        let query = try unlimitedCompiler.select(plan, columns: .expressions([content]))
        var used: Set<String> = []
        for row in try connection.values(query.statement, types: query.columnTypes) {
            if case .text(let content) = row[0] { used.insert(content) }
        }
        return contents.filter { !used.contains($0) }
    }

    /// Deletes files by their names. Their contents are deleted later.
    ///
    /// - Returns: The number of deleted files.
    @discardableResult
    func deleteFiles(_ names: [String]) throws -> Int {
        guard let files else { return 0 }
        return try connection.delete(
            entity: files.index, roots: .keys(names.map { KeyValue(.text($0)) }), schema: schema, access: .everything,
            now: now, isUndoneByCaller: true
        ).deletedCount
    }
}

extension Entity {
    /// Whether the entity's objects are files.
    var isOfFiles: Bool { name == InternalClasses.file && property("content") != nil }
}

extension ParseError {
    /// The error if the table of files belongs to another program.
    static let filesTableIsForeign = ParseError(
        .operationForbidden,
        "the table \(InternalClasses.file) belongs to another program: rename it there, or use another database")
}
