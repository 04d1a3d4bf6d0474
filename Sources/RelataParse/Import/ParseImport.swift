import Foundation
import RelataCore
import RelataEngine

/// Moves the data of a Parse server into a store: classes, objects, users with password hashes, pointers and relations.
///
/// Objects are written first, without their pointers. Then come the pointers, so that objects may point at each other
/// in any order, then the relations, and then the rules of fields, which older objects may break. Existing objects
/// aren't changed, so an interrupted import can be repeated, from a position or from the start.
package final class ParseImport {
    /// The result of the import for one class.
    package struct Report: Sendable {
        package var name: String
        package var created = 0
        package var existing = 0
        package var refused = 0
        package var links = 0
        /// The number of pointers and members of relations whose objects don't exist.
        package var dangling = 0
    }

    /// The progress of an import.
    package struct Progress: Hashable, Sendable {
        /// The positions in the source by step, such as `objects/Book`.
        package var positions: [String: String] = [:]
        /// The steps that are done.
        package var done: Set<String> = []

        package init() {}
    }

    let source: any ImportSource
    let service: ParseService
    var classes: [String: ImportedClass] = [:]
    /// The classes that can't be made here.
    var refusedClasses: Set<String> = []
    var reports: [String: Report] = [:]
    /// The number of sessions that aren't stored, by the reason.
    var obstaclesOfSessions: [ImportedSession.Obstacle: Int] = [:]
    package private(set) var progress: Progress
    /// Notes for a person, such as the objects that were refused.
    package private(set) var notes: [String] = []
    /// The number of users without a password that can be verified. They need a new one.
    package private(set) var usersWithoutPassword = 0
    /// The number of stored files.
    package private(set) var fileCount = 0
    private let advanced: (String, Progress) throws -> Void

    static let batchSize = 200
    static let pageSize = 500
    static let maximumNotes = 100
    /// The internal classes whose objects are moved.
    static let movable: Set = [InternalClasses.user, InternalClasses.role, InstallationClass.name]

    /// - Parameters:
    ///   - options: The options of the store's server, for its passwords and files.
    ///   - progress: The progress of the same import before it was interrupted.
    ///   - advanced: Is called after each page, with the step in words.
    package init(
        _ source: any ImportSource, into store: ParseStore, options: ParseService.Options,
        after progress: Progress,
        advanced: @escaping (String, Progress) throws -> Void
    ) {
        var options = options
        options.allowsSeveralGeoPoints = true
        options.prohibitedNames = ProhibitedNames([])
        self.source = source
        service = ParseService(store, keys: ParseKeys(applicationID: ""), options: options)
        self.progress = progress
        self.advanced = advanced
    }

    /// Runs the steps that aren't done.
    ///
    /// - Returns: The result for each class.
    package func run() async throws -> [Report] {
        try await service.makeImportedUsers()
        for json in try await source.schemas() {
            if let known = ImportedClass(json) { classes[known.name] = known }
        }
        let all = try await source.classNames()
        let names = all.filter(isMovable)
        for name in all where !isMovable(name) && name != InternalClasses.session {
            note("\(name) isn't moved: it belongs to the server")
        }
        if names.contains(InstallationClass.name) || classes[InstallationClass.name] != nil {
            try await service.makeServiceClass(InstallationClass.name)
        }
        try await makeClasses(names)
        if !progress.done.contains("schemas") {
            try await describeClasses()
            progress.done.insert("schemas")
            try advanced("classes", progress)
        }
        // Users and roles come first, because access lists name them.
        let sorted =
            Self.movable.sorted(by: >).filter(names.contains)
            + names.filter { !Self.movable.contains($0) }
        for name in sorted { try await step("objects", name) { try await self.write($0, of: name) } }
        if all.contains(InternalClasses.session) {
            try await step("objects", InternalClasses.session) { try await self.writeSessions($0) }
            noteSessions()
        }
        for name in sorted where !source.describesAllFields || mayHave("Pointer", name) {
            try await step("pointers", name) { try await self.link($0, of: name) }
        }
        for name in try await source.joinNames() {
            try await step("relation", name) { try await self.join($0, name) }
        }
        for name in sorted where mayHave("Relation", name) {
            try await step("relations", name) { try await self.relate($0, of: name) }
        }
        if !progress.done.contains("rules") {
            try await setRules()
            progress.done.insert("rules")
            try advanced("rules and indexes", progress)
        }
        return reports.values.sorted { $0.name < $1.name }
    }

    /// Whether a class may have fields of a type that leads to other objects.
    private func mayHave(_ type: String, _ name: String) -> Bool {
        guard let fields = classes[name]?.fields else { return type == "Pointer" }
        return fields.contains { $0.value["type"]?.string == type }
    }

    /// Calls `body` with each page of a class.
    func step(_ kind: String, _ name: String, _ body: ([JSONObject]) async throws -> Void)
        async throws
    {
        let step = "\(kind)/\(name)"
        if progress.done.contains(step) { return }
        var count = 0
        repeat {
            try Task.checkCancellation()
            let page = try await source.page(of: name, after: progress.positions[step])
            for start in stride(from: 0, to: page.objects.count, by: Self.pageSize) {
                try await body(Array(page.objects[start..<min(start + Self.pageSize, page.objects.count)]))
            }
            count += page.objects.count
            progress.positions[step] = page.next
            if page.next == nil { progress.done.insert(step) }
            try advanced("\(kind) of \(name): \(count)", progress)
        } while !progress.done.contains(step)
    }

    func note(_ text: String) {
        if notes.count < Self.maximumNotes {
            notes.append(text)
        } else if notes.count == Self.maximumNotes {
            notes.append("there are more notes than these")
        }
    }

    func answer(_ method: ParseCall.Method, _ path: [String], _ body: JSONObject) async throws
        -> JSONValue
    {
        let call = ParseCall(method: method, path: path, body: body, caller: ParseService.importer)
        return try JSONParser.parse(try await service.answer(call).body)
    }

    /// Describes a class, or a part of it.
    ///
    /// - Returns: The reason why that is impossible here; `nil` if it is done.
    /// - Throws: The errors that have nothing to do with the description, such as that of a full disk.
    func refusal(of method: ParseCall.Method, _ name: String, _ description: JSONObject) async throws -> ParseError? {
        do {
            _ = try await answer(method, ["schemas", name], description)
            return nil
        } catch {
            let refusal = ParseError(error)
            guard refusal.status < 500 else { throw error }
            return refusal
        }
    }

    // MARK: Objects

    private func write(_ page: [JSONObject], of name: String) async throws {
        var report = reports[name] ?? Report(name: name)
        defer { reports[name] = report }
        if refusedClasses.contains(name) {
            report.refused += page.count
            return
        }
        let objects = page.map { read($0, of: name) }
        let moved = try await movingFiles(of: objects.map(\.members), name)
        let known = try await existing(objects.compactMap(\.id), of: name)
        report.existing += known.count
        var bodies: [JSONObject] = []
        for (object, members) in zip(objects, moved) where object.id.map({ !known.contains($0) }) ?? true {
            let label = object.id.map { "\(name) \($0.prefix(64))" } ?? name
            for oddity in object.oddities { note("\(label): \(oddity)") }
            guard let refusal = object.refusal else {
                bodies.append(members.filter { !$0.value.isLink })
                continue
            }
            report.refused += 1
            note("\(label): \(refusal)")
        }
        func count(_ error: ParseError?, _ object: JSONObject) {
            guard let error else {
                report.created += 1
                return
            }
            report.refused += 1
            note("\(name) \(object["objectId"]?.string?.prefix(64) ?? ""): \(error.message)")
        }
        if name == InternalClasses.user {
            for body in bodies {
                do {
                    if try await !service.importUser(body) { usersWithoutPassword += 1 }
                    count(nil, body)
                } catch let error where (error as? RelataError)?.isInterruption != true {
                    let error = ParseError(error)
                    if error.status >= 500 { throw error }
                    count(error, body)
                }
            }
            return
        }
        let requests = bodies.map { ("POST", "/classes/\(name)", $0) }
        for (error, body) in zip(try await batch(requests), bodies) { count(error, body) }
    }

    /// Stores the files of some objects, if the store has files.
    ///
    /// - Returns: The objects, in which stored files have no URLs any more.
    private func movingFiles(of objects: [JSONObject], _ className: String) async throws -> [JSONObject] {
        guard service.hasFiles else { return objects }
        var files: [String: String?] = [:]
        for object in objects { JSONValue.object(object).files(into: &files) }
        // Only files of a server have names of this form. Other files stay at their URLs.
        let wanted = files.filter { FileName.isStored($0.key) && (try? FileName($0.key)) != nil }
        if wanted.isEmpty { return objects }
        var stored = try await service.storedFiles(Set(wanted.keys))
        for (name, url) in wanted.sorted(by: { $0.key < $1.key }) where !stored.contains(name) {
            try Task.checkCancellation()
            guard let bytes = try await source.file(name, at: url) else {
                note("\(className): the content of the file \(name) can't be fetched")
                continue
            }
            try await service.importFile(name, bytes)
            fileCount += 1
            stored.insert(name)
        }
        return objects.map { object in
            JSONValue.object(object).withoutAddresses(of: stored).object ?? object
        }
    }

    /// The ids that exist among some ids.
    private func existing(_ ids: [String], of name: String) async throws -> Set<String> {
        // No object has the others, and not every engine can be asked for them.
        let ids = ids.filter(ObjectBody.canBeID)
        if ids.isEmpty { return [] }
        let body: JSONObject = [
            "where": ["objectId": ["$in": .array(ids.map { .string($0) })]], "keys": "objectId",
            "limit": .integer(Int64(ids.count)),
        ]
        let reply = try await answer(.get, ["classes", name], body)
        return Set(reply["results"]?.array?.compactMap { $0["objectId"]?.string } ?? [])
    }

    /// An object in the form of the REST API.
    func read(_ object: JSONObject, of name: String) -> ImportedObject {
        var read =
            MongoDocument.isOne(object)
            ? MongoDocument(members: object).object(classes[name]?.types ?? [:]) : ImportedObject(members: object)
        for name in ["__type", "className"] { read.members[name] = nil }
        read.members = read.members.filter { !$0.value.isNull }
        if name == InstallationClass.name { read.members = InstallationIDs.stored(read.members) }
        if read.id == nil { read.refusal = read.refusal ?? "an object needs an objectId, and it must be text" }
        return read
    }

    /// Sends requests for objects in batches.
    ///
    /// - Returns: The error of each request; `nil` for a success.
    func batch(_ requests: [(method: String, path: String, body: JSONObject)]) async throws
        -> [ParseError?]
    {
        var errors: [ParseError?] = []
        var rest = requests[...]
        while !rest.isEmpty {
            let part = rest.prefix(Self.batchSize)
            rest = rest.dropFirst(part.count)
            let body: JSONValue = .array(
                part.map {
                    ["method": .string($0.method), "path": .string($0.path), "body": .object($0.body)]
                })
            let replies = try await answer(.post, ["batch"], ["requests": body]).array ?? []
            errors += replies.map { reply in
                guard let error = reply["error"] else { return nil }
                let code = error["code"]?.integer.flatMap { ParseError.Code(rawValue: Int($0)) }
                return ParseError(code ?? .otherCause, error["error"]?.string ?? "")
            }
        }
        return errors
    }
}

extension JSONValue {
    var isPointer: Bool { self["__type"]?.string == "Pointer" }
    /// Whether the value is a pointer or a relation, whose objects may not exist yet.
    var isLink: Bool { isPointer || self["__type"]?.string == "Relation" }
}
