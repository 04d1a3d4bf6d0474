#if Server
import Foundation
import RelataCore
import RelataParse
import RelataRecords
import Synchronization

/// The exports and imports of pages: a few at once, each until it is done or abandoned.
final class Transfers: Sendable {
    private static let maximumCount = 8
    private static let patience = Duration.seconds(30 * 60)

    private let root = FileManager.default.temporaryDirectory.appendingPathComponent(
        "relata-transfers-\(ServerKeys.newKey().prefix(16))")
    private let all = Mutex<[String: Transfer]>([:])

    deinit { close() }

    /// Ends all, and removes their files.
    func close() {
        let ended = all.withLock { all in
            defer { all = [:] }
            return Array(all.values)
        }
        for transfer in ended { transfer.cancel() }
        try? FileManager.default.removeItem(at: root)
    }

    subscript(id: String) -> Transfer? { all.withLock { $0[id] } }

    func remove(_ id: String) { all.withLock { $0.removeValue(forKey: id) }?.cancel() }

    /// - Throws: ``ServerRefusal`` if there are too many.
    func begin(_ kind: Transfer.Kind, expecting files: [String: Int] = [:]) throws -> Transfer {
        try all.withLock { all in
            all = all.filter { $0.value.isRunning || $0.value.idleTime < Self.patience }
            guard all.count < Self.maximumCount else {
                throw ServerRefusal(
                    .noRoom, "\(Self.maximumCount) exports and imports are going on: end one of them first", status: 503
                )
            }
            let transfer = try Transfer(kind, in: root, expecting: files)
            all[transfer.id] = transfer
            return transfer
        }
    }
}

/// The requests of pages to move objects out of a store, and into it.
struct TransferRoutes: Sendable {
    let transfers: Transfers
    let store: ParseStore
    /// The bytes of a piece at most.
    let pieceSize: Int
    /// The bytes of all files of an import at most.
    let maximumImport: Int
    let isReadOnly: Bool

    /// - Parameter ended: Called with the outcome of a longer operation.
    /// - Returns: `nil` for an unknown path.
    func respond(
        to request: ServerRequest, ended: @escaping @Sendable (_ action: String, _ status: Int) -> Void
    ) throws -> ServerReply? {
        let parts = request.path.split(separator: "/").map { $0.removingPercentEncoding ?? "" }
        if isReadOnly, parts.first == "imports" || request.method == "PUT" {
            throw ServerRefusal(.unauthorized, "this dashboard only reads", status: 403)
        }
        switch (request.method, parts.first, parts.count) {
        case ("POST", "exports", 1): return try beginExport(request, ended)
        case ("POST", "imports", 1): return try beginImport(request)
        case ("POST", "imports", 3) where parts[2] == "run":
            let transfer = try transfer(parts[1])
            let options = try options(request)
            let end = options.isDryRun ? "import checked" : "import ended"
            try transfer.import(into: store.records, options) { ended("\(end): \(parts[1].prefix(8))", $0) }
            return describing(transfer)
        case ("GET", "transfers", 2): return describing(try transfer(parts[1]))
        case ("GET", "transfers", 3):
            let (bytes, _) = try transfer(parts[1]).piece(of: parts[2], from: offset(request), upTo: pieceSize)
            return ServerReply(contentType: "application/octet-stream", body: bytes)
        case ("PUT", "transfers", 3):
            let size = try transfer(parts[1]).add(request.body, to: parts[2], at: offset(request))
            return ServerReply(WireReply(["size": .integer(Int64(size))]))
        case ("DELETE", "transfers", 2):
            transfers.remove(parts[1])
            return ServerReply(WireReply([:]))
        default: return nil
        }
    }

    private func describing(_ transfer: Transfer, status: Int = 200) -> ServerReply {
        var json = transfer.json.object ?? [:]
        json["pieceSize"] = .integer(Int64(pieceSize))
        return ServerReply(WireReply(status: status, .object(json)))
    }

    private func transfer(_ id: String) throws -> Transfer {
        guard let transfer = transfers[id] else { throw Transfer.Refusal.noSuchFile }
        return transfer
    }

    private func offset(_ request: ServerRequest) throws -> Int {
        guard request.query.hasPrefix("offset="), let offset = Int(request.query.dropFirst(7)) else {
            throw ServerRefusal(.malformed, "a piece needs its offset: ?offset=0", status: 400)
        }
        return offset
    }

    private func body(_ request: ServerRequest) throws -> JSONValue { try JSONParser.parse(request.body) }

    private func beginExport(
        _ request: ServerRequest, _ ended: @escaping @Sendable (String, Int) -> Void
    ) throws -> ServerReply {
        let body = try body(request)
        let classes = body["classes"]?.array?.compactMap(\.string) ?? []
        guard let format = DataFormat(rawValue: body["format"]?.string ?? "jsonl") else {
            throw ServerRefusal(.malformed, "format must be jsonl or csv", status: 400)
        }
        let transfer = try transfers.begin(.export)
        let names = classes.isEmpty ? "all classes" : classes.prefix(20).joined(separator: ", ")
        transfer.export(classes, of: store.records, format: format) { ended("export ended: \(names)", $0) }
        return describing(transfer, status: 201)
    }

    private func beginImport(_ request: ServerRequest) throws -> ServerReply {
        var files: [String: Int] = [:]
        var total = 0
        for file in try body(request)["files"]?.array ?? [] {
            guard let name = file["name"]?.string, Transfer.isName(name), let size = file["size"]?.integer,
                (0...Int64(maximumImport)).contains(size), files.updateValue(Int(size), forKey: name) == nil
            else {
                throw ServerRefusal(
                    .malformed,
                    """
                    each file needs its own name that ends with .jsonl, .ndjson or .csv, and its size, up to \
                    \(maximumImport) bytes
                    """, status: 400)
            }
            total += Int(size)
            guard total <= maximumImport, files.count <= 1000 else {
                throw ServerRefusal(
                    .bodyTooLarge,
                    "an import may have at most \(maximumImport) bytes and 1000 files: import fewer at once",
                    status: 413)
            }
        }
        guard !files.isEmpty else { throw ServerRefusal(.malformed, "an import needs files", status: 400) }
        return describing(try transfers.begin(.import, expecting: files), status: 201)
    }

    private func options(_ request: ServerRequest) throws -> ImportOptions {
        let body = try body(request)
        var options = ImportOptions()
        guard let conflict = ImportOptions.Conflict(rawValue: body["onConflict"]?.string ?? "refuse") else {
            throw ServerRefusal(.malformed, "onConflict must be refuse, skip or update", status: 400)
        }
        options.onConflict = conflict
        options.className = body["className"]?.string
        options.isDryRun = body["isDryRun"] == true
        return options
    }
}
#endif
