#if Server
import Foundation
import RelataCore
import RelataParse
import RelataRecords
import Synchronization

/// An export or an import by a page: files that are downloaded or uploaded in pieces. They are in a separate folder,
/// which is deleted with the object.
final class Transfer: Sendable {
    /// The direction of the transfer.
    enum Kind: String { case export, `import` }

    /// The stage of the transfer.
    enum Phase: String { case receiving, running, done, refused, failed }

    /// An error of a request that doesn't fit the state.
    enum Refusal: Error {
        case notNow(String)
        /// The piece isn't the next one of its file, which has that many bytes so far.
        case wrongPlace(size: Int)
        case tooLarge(limit: Int)
        case noSuchFile
    }

    private struct State {
        var phase: Phase
        var progress: DataProgress?
        /// The expected sizes of the uploaded files, by their names.
        var expected: [String: Int] = [:]
        var report: JSONValue?
        var problem: String?
        var badRows: [BadRow] = []
        /// Whether the files were only checked.
        var isChecked = false
        var task: Task<Void, Never>?
        var lastUse = ContinuousClock.now
    }

    /// The name for pages. A request needs a session too.
    let id = ServerKeys.newKey()
    let kind: Kind
    private let folder: URL
    private let state: Mutex<State>

    /// - Parameter expected: The sizes of the files to upload, by their names.
    init(_ kind: Kind, in root: URL, expecting expected: [String: Int] = [:]) throws {
        self.kind = kind
        folder = root.appendingPathComponent(id)
        state = Mutex(State(phase: kind == .import ? .receiving : .running, expected: expected))
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        for name in expected.keys {
            _ = FileManager.default.createFile(
                atPath: path(name), contents: nil, attributes: [.posixPermissions: 0o600])
        }
    }

    deinit {
        state.withLock { $0.task?.cancel() }
        try? FileManager.default.removeItem(at: folder)
    }

    /// Ends it, regardless of its state.
    func cancel() { state.withLock { $0.task?.cancel() } }

    var isRunning: Bool { state.withLock { $0.phase == .running } }

    /// The time since the last request.
    var idleTime: Duration { state.withLock { ContinuousClock.now - $0.lastUse } }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    /// Whether a name belongs to a file in the folder, with the extension of a format.
    static func isName(_ name: String) -> Bool {
        DataFormat(fileName: name) != nil && (1...200).contains(name.utf8.count) && !name.hasPrefix(".")
            && name.unicodeScalars.allSatisfy { $0 != "/" && $0 != "\\" && $0.properties.generalCategory != .control }
    }

    // MARK: Pieces

    /// A piece of a file from a byte on, and the size of the file.
    func piece(of name: String, from offset: Int, upTo count: Int) throws -> (bytes: [UInt8], size: Int) {
        try state.withLock { state in
            state.lastUse = .now
            guard state.phase == .done, kind == .export else { throw Refusal.notNow("the export isn't done yet") }
            guard Self.isName(name), let file = FileHandle(forReadingAtPath: path(name)) else {
                throw Refusal.noSuchFile
            }
            defer { try? file.close() }
            let size = Int(try file.seekToEnd())
            guard (0...size).contains(offset) else { throw Refusal.wrongPlace(size: size) }
            try file.seek(toOffset: UInt64(offset))
            return (Array(try file.read(upToCount: count) ?? Data()), size)
        }
    }

    /// Appends a piece to an uploaded file.
    ///
    /// - Returns: The size of the file now.
    func add(_ bytes: [UInt8], to name: String, at offset: Int) throws -> Int {
        try state.withLock { state in
            state.lastUse = .now
            guard state.phase == .receiving else { throw Refusal.notNow("the files of this import are complete") }
            guard let limit = state.expected[name], let file = FileHandle(forWritingAtPath: path(name)) else {
                throw Refusal.noSuchFile
            }
            defer { try? file.close() }
            let size = Int(try file.seekToEnd())
            guard offset == size else { throw Refusal.wrongPlace(size: size) }
            guard size + bytes.count <= limit else { throw Refusal.tooLarge(limit: limit) }
            try file.write(contentsOf: bytes)
            return size + bytes.count
        }
    }

    // MARK: Work

    /// Writes objects to files.
    func export(
        _ classes: [String], of store: RecordStore, format: DataFormat, ended: @escaping @Sendable (Int) -> Void
    ) {
        // Objects of several classes name their class; a file of one class has its name.
        let destination: DataDestination =
            format == .csv || classes.count == 1 ? .folder(folder.path) : .file(path("objects.\(format.rawValue)"))
        run(ended) {
            let report = try await store.export(
                classes, to: destination, format: format, progress: { [weak self] in self?.note($0) })
            return (
                .done,
                ["parts": .array(report.parts.map { ["name": .string($0.name), "rows": .integer(Int64($0.rows))] })]
            )
        }
    }

    /// Imports all objects of the uploaded files, or none.
    func `import`(
        into store: RecordStore, _ options: ImportOptions, ended: @escaping @Sendable (Int) -> Void
    ) throws {
        let names = try state.withLock { state in
            // After a check, or a refusal, the files still exist.
            guard state.phase != .running, state.phase != .done || state.isChecked else {
                throw Refusal.notNow("this import was already started")
            }
            for (name, size) in state.expected {
                let attributes = try FileManager.default.attributesOfItem(atPath: path(name))
                guard attributes[.size] as? Int == size else {
                    throw Refusal.notNow("\(name) isn't complete yet")
                }
            }
            state.phase = .running
            state.isChecked = options.isDryRun
            (state.progress, state.report, state.problem, state.badRows) = (nil, nil, nil, [])
            return Array(state.expected.keys)
        }
        // A single file may be named otherwise than its class.
        let source = names.count == 1 ? path(names[0]) : folder.path
        run(ended) { [weak self] in
            let listener = ImportListener(
                progress: { [weak self] in self?.note($0) },
                badRow: { [weak self] row in self?.state.withLock { $0.badRows.append(row) } })
            let run = try await store.performing(try ImportRun(source, options), listener)
            let report = run.report
            let parts = report.parts.map { part -> JSONValue in
                [
                    "name": .string(part.name), "inserted": .integer(Int64(part.inserted)),
                    "updated": .integer(Int64(part.updated)), "skipped": .integer(Int64(part.skipped)),
                    "bad": .integer(Int64(part.bad)),
                ]
            }
            return (
                run.isRefused || report.badRowCount > 0 ? .refused : .done,
                [
                    "parts": .array(parts), "badRowCount": .integer(Int64(report.badRowCount)),
                    "isDryRun": .bool(options.isDryRun),
                ]
            )
        }
    }

    private func note(_ progress: DataProgress) { state.withLock { $0.progress = progress } }

    /// - Parameter ended: Called with the status of the end.
    private func run(
        _ ended: @escaping @Sendable (Int) -> Void, _ work: @escaping @Sendable () async throws -> (Phase, JSONValue)
    ) {
        let task = Task { [weak self] in
            do {
                let (phase, report) = try await work()
                self?.end(phase, report, nil)
                ended(phase == .done ? 200 : 400)
            } catch {
                self?.end(.failed, nil, RequestResponder.line(error))
                ended(ParseError(error).status)
            }
        }
        state.withLock { $0.task = task }
    }

    private func end(_ phase: Phase, _ report: JSONValue?, _ problem: String?) {
        state.withLock { state in
            state.phase = phase
            state.report = report
            state.problem = problem.map(plain)
            state.lastUse = .now
        }
    }

    /// A text without the folder of the files, which clients mustn't see.
    private func plain(_ text: String) -> String { text.replacing(folder.path + "/", with: "") }

    /// The progress and the results.
    var json: JSONValue {
        let state = state.withLock { state in
            state.lastUse = .now
            return state
        }
        let names =
            kind == .import
            ? Array(state.expected.keys)
            : state.phase == .done ? (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] : []
        let files = names.filter(Self.isName).sorted().map { name -> JSONValue in
            let size = (try? FileManager.default.attributesOfItem(atPath: path(name)))?[.size] as? Int ?? 0
            return ["name": .string(name), "size": .integer(Int64(size))]
        }
        let progress: JSONValue? = state.progress.map {
            ["name": .string($0.name), "rows": .integer(Int64($0.rows))]
        }
        let rows = state.badRows.map { row -> JSONValue in
            [
                "file": .string(plain(row.file)), "line": row.line.map { .integer(Int64($0)) } ?? .null,
                "className": row.className.map { .string($0) } ?? .null,
                "field": row.field.map { .string($0) } ?? .null, "reason": .string(plain(row.reason)),
            ]
        }
        return [
            "id": .string(id), "kind": .string(kind.rawValue), "phase": .string(state.phase.rawValue),
            "progress": progress ?? .null, "files": .array(files), "report": state.report ?? .null,
            "problem": state.problem.map { .string($0) } ?? .null, "badRows": .array(rows),
        ]
    }
}

extension Transfer.Refusal {
    /// The reply to a page.
    var reply: ServerReply {
        switch self {
        case .notNow(let reason):
            return ServerReply(WireReply(ParseError(.operationForbidden, reason, status: 409)))
        case .wrongPlace(let size):
            return ServerReply(
                WireReply(
                    status: 409,
                    [
                        "code": .integer(Int64(ParseError.Code.operationForbidden.rawValue)),
                        "error": .string("the file has \(size) bytes: continue from there"),
                        "size": .integer(Int64(size)),
                    ]))
        case .tooLarge(let limit):
            return ServerReply(
                WireReply(ParseError(.objectTooLarge, "the file must have \(limit) bytes", status: 413)))
        case .noSuchFile:
            return ServerReply(
                WireReply(ParseError(.objectNotFound, "there is no such export, import or file", status: 404)))
        }
    }
}
#endif
