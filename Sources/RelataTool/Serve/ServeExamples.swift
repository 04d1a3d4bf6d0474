#if CommandLineTool && Server
import Foundation
import RelataCore
import RelataParse
import RelataServer
import RelataEngine

/// Requests to try on an unknown database, as lines for a shell.
struct ServeExamples {
    private let schema: Schema
    private let chooser: WalkChooser
    private let fetcher: RecordFetcher

    init(_ database: ToolDatabase) {
        schema = database.schema
        chooser = WalkChooser(database)
        fetcher = RecordFetcher(database.connection, schema: database.schema, access: .everything)
    }

    /// A query through a to-one, one for the members of a to-many, and a new object; fewer if the database has none of
    /// these.
    func lines(_ address: ServerAddress, _ keys: ServerKeys) throws -> [String] {
        var fields = ["X-Parse-Application-Id: \(keys.applicationID)"]
        if let key = keys.clientKey { fields.append("X-Parse-Client-Key: \(key)") }
        let headers = fields.map { "-H " + Self.quoted($0) }
        let requests = [try query(), try members(), try creation() ?? plan()].compactMap(\.self)
        return requests.map { request in
            let words = ["curl"] + (address.url.hasPrefix("https") ? ["-k"] : []) + headers + request.options
            return (words + [Self.quoted("\(address.url)/classes/\(request.path)")]).joined(separator: " ")
        }
    }

    private struct Request {
        var options: [String] = []
        let path: String
    }

    /// The objects that refer to one object, by its name.
    private func query() throws -> Request? {
        for table in schema.tables {
            guard let condition = try chooser.toOneCondition(of: table) else { continue }
            guard case .comparison(_, .property(_, let path), .value(.text(let text)), _) = condition.condition else {
                continue
            }
            let filter = JSONWriter.text(.object([path.joined(separator: "."): .string(text)]))
            return Request(
                options: [
                    "-G", "--data-urlencode", Self.quoted("where=\(filter)"), "-d", "include=\(condition.property)",
                ],
                path: table.name)
        }
        return nil
    }

    /// The members of the largest to-many of a kind.
    private func members() throws -> Request? {
        let all = schema.tables.flatMap { table in
            table.entity.relationships.filter(\.isToMany).map { (table, $0) }
        }
        // A join table is a better example than a foreign key.
        for (table, relationship) in all.filter({ $0.1.isManyToMany }) + all.filter({ !$0.1.isManyToMany }) {
            guard let owner = try chooser.richest(table, in: relationship.name, limit: 1).first,
                let id = Self.objectID(owner.key(in: schema))
            else { continue }
            let pointer: JSONValue = ["__type": "Pointer", "className": .string(table.name), "objectId": .string(id)]
            let related: JSONValue = ["$relatedTo": ["object": pointer, "key": .string(relationship.name)]]
            return Request(
                options: ["-G", "--data-urlencode", Self.quoted("where=\(JSONWriter.text(related))")],
                path: relationship.target)
        }
        return nil
    }

    /// A new object of a class that requires only a name.
    private func creation() throws -> Request? {
        for table in schema.tables {
            guard let name = chooser.nameProperty(of: table), table.keyColumns.count == 1,
                table.columns[table.keyColumns[0]].type == .integer
            else { continue }
            let needed = table.columns.indices.filter { index in
                !table.columns[index].isOptional && table.columns[index].defaultValue == nil
                    && !table.keyColumns.contains(index)
            }
            guard needed.allSatisfy({ table.columns[$0].property == name && table.columns[$0].type == .text }) else {
                continue
            }
            let body = JSONWriter.text(.object([name: "One more"]))
            return Request(options: ["-X", "POST", "-d", Self.quoted(body)], path: table.name)
        }
        return nil
    }

    /// The plan of a deletion.
    private func plan() throws -> Request? {
        for table in schema.tables {
            guard let record = try fetcher.fetch(QueryPlan(entity: table.name, limit: 1)).first,
                let id = Self.objectID(record.key(in: schema))
            else { continue }
            return Request(path: "\(table.name)/\(id)?deletionPlan=1")
        }
        return nil
    }

    /// The id of an object, if it is valid in a path without escaping.
    private static func objectID(_ key: KeyValue) -> String? {
        guard key.values.count == 1, case let text = key.values[0].description, !text.isEmpty else { return nil }
        return text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) } ? text : nil
    }

    private static func quoted(_ text: String) -> String { "'" + text.replacing("'", with: "'\\''") + "'" }
}
#endif
