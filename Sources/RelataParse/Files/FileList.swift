import Foundation
import RelataCore
import RelataEngine

/// A page of the list of all files, with the number of objects that refer to each.
struct FileList: Sendable {
    /// The name before the first one; `nil` for the first page.
    var after: String?
    /// Whether the list has only files that no object refers to.
    var isOfUnused = false
    var limit = 50

    private static let maximumLimit = 500

    init(_ parameters: JSONObject) throws(ParseError) {
        after = parameters["after"]?.string
        switch parameters["unused"]?.string {
        case nil, "0": break
        case "1": isOfUnused = true
        default: throw ParseError(.invalidQuery, "unused must be 0 or 1")
        }
        if let text = parameters["limit"]?.string {
            guard let limit = Int(text), (1...Self.maximumLimit).contains(limit) else {
                throw ParseError(.invalidQuery, "limit must be a number from 1 to \(Self.maximumLimit)")
            }
            self.limit = limit
        }
    }

    /// A file in the list.
    struct Line: Sendable {
        var name: String
        var size: Int64
        /// The time when the file was uploaded, in microseconds.
        var createdAt: Int64?
        /// The number of objects that refer to the file.
        var uses: Int64
        /// Whether an object has ever referred to it. Other files stay.
        var wasUsed: Bool
        /// The time, in microseconds, since which no object refers to it; `nil` if the server hasn't noticed that yet.
        var unusedSince: Int64?
    }

    /// The files of the page, and the name after which the next page begins; `nil` if there is none.
    func run(in transaction: ParseTransaction) throws -> (lines: [Line], next: String?) {
        guard let files = transaction.files else { return ([], nil) }
        let sides = transaction.sides(of: files)
        func property(_ name: String) -> ExpressionNode { .property(scope: 0, path: [name]) }
        var conditions = isOfUnused ? transaction.isUnreferenced(sides) : []
        if let after { conditions.append(.comparison(.greater, property("name"), .value(.text(after)), [])) }
        var plan = QueryPlan(entity: files.name, condition: conditions.isEmpty ? nil : .and(conditions))
        plan.limit = limit + 1
        let facts = ["name", "size", "createdAt", "isUsed", "unusedSince"]
        let counts = sides.map { side in
            ExpressionNode.aggregate(
                .count, RelatedSet(scope: 0, path: [side.name], innerScope: 1), of: nil, filter: nil)
        }
        let query = try transaction.unlimitedCompiler.select(
            plan, columns: .expressions(facts.map(property) + counts))
        let lines = try transaction.connection.values(query.statement, types: query.columnTypes).compactMap { row in
            Self.line(row, facts.count)
        }
        let page = Array(lines.prefix(limit))
        return (page, lines.count > limit ? page.last?.name : nil)
    }

    private static func line(_ row: [Value], _ countOfFacts: Int) -> Line? {
        guard let name = row[0].plainText, let size = row[1].wholeNumber else { return nil }
        func time(_ value: Value) -> Int64? { DateText.microseconds(of: value, .microseconds) }
        return Line(
            name: name, size: size, createdAt: time(row[2]),
            uses: row[countOfFacts...].compactMap(\.wholeNumber).reduce(0, +), wasUsed: row[3].wholeNumber == 1,
            unusedSince: time(row[4]))
    }
}

extension ParseService {
    /// Answers a request of the dashboard about files, with all rights.
    ///
    /// - Parameters:
    ///   - method: `GET`, or `POST` and `DELETE` for a file.
    ///   - path: `/files` for a page of the list of files; `/files/NAME` for the address of a file.
    ///   - query: For the list `after`, a name, `unused=1` and `limit`; for a deletion `force=1`.
    ///   - upload: The content of a file to store under the name in the path, and its type.
    ///   - report: Called with errors whose details the client doesn't get.
    /// - Returns: `nil` for a path that isn't one of these.
    package func filesForDashboard(
        _ method: String, _ path: String, query: String, upload: (bytes: ByteStream?, type: String?) = (nil, nil),
        report: @Sendable (any Error) -> Void
    ) async -> WireReply? {
        do {
            let path = try ParseCall.path(path)
            guard path.first == "files", path.count <= 2 else { return nil }
            let parameters = try ParseCall.parameters(query)
            switch (method, path.count) {
            case ("GET", 1): return WireReply(try await fileList(FileList(parameters)))
            case ("GET", 2):
                guard hasFiles else { throw ParseError.filesAreOff }
                return WireReply(["url": .string(fileURLs.url(of: path[1]))])
            case ("POST", 2):
                var call = ParseCall(method: .post, path: path, body: [:], caller: .master)
                call.contentType = upload.type
                return try await files(call, upload.bytes)
            case ("DELETE", 2):
                var call = ParseCall(method: .delete, path: path, body: [:], caller: .master)
                call.parameters = parameters
                return try await files(call, nil)
            default: return nil
            }
        } catch {
            return WireReply(ParseError(error, report: report))
        }
    }

    /// The largest file that can be uploaded; `nil` for a server without files.
    package var maximumFile: Int? { options.files?.maximumSize }

    private func fileList(_ list: FileList) async throws -> JSONValue {
        guard let files = options.files, hasFiles else { return ["isOn": false, "results": []] }
        let (lines, next) = try await store.read(as: .master) { try list.run(in: $0) }
        let lifetime = files.unusedLifetime.flatMap { Int64(exactly: ($0 * 1_000_000).rounded()) }
        func date(_ microseconds: Int64?) -> JSONValue {
            microseconds.map { .string(DateText.parseText(microseconds: $0)) } ?? .null
        }
        return [
            "isOn": true, "deletesUnused": .bool(lifetime != nil), "next": next.map { .string($0) } ?? .null,
            "results": .array(
                lines.map { line in
                    let isLeaving = line.wasUsed && line.uses == 0
                    let end = lifetime.flatMap { lifetime in line.unusedSince.map { $0 &+ lifetime } }
                    return [
                        "name": .string(line.name), "title": .string(String(FileName.given(line.name))),
                        "type": .string(ContentType.of(line.name)), "size": .integer(line.size),
                        "createdAt": date(line.createdAt), "uses": .integer(line.uses),
                        "wasUsed": .bool(line.wasUsed), "deletedAt": date(isLeaving ? end : nil),
                    ]
                }),
        ]
    }
}
