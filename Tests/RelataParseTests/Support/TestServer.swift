import Foundation
import Relata
import RelataParse
import Synchronization
import TestEngines
import Testing

/// A service on a new store on the test's engine, as a client with the master key uses it.
struct TestServer {
    let service: ParseService
    let store: ParseStore

    init(
        mode: ParseStore.Mode = .development, path: String? = nil, trace: SQLStatements? = nil,
        options: ParseService.Options = ParseService.Options()
    ) throws {
        var hook: SQLTrace?
        if let trace { hook = { sql, _ in trace.append(sql) } }
        let place = try path ?? TestDatabases.newPath()
        self.init(try ParseStore.open(place, mode: mode, trace: hook), options: options)
    }

    init(
        _ store: ParseStore,
        keys: ParseKeys = ParseKeys(applicationID: "app", isMasterKey: { $0 == "master" }),
        options: ParseService.Options = ParseService.Options()
    ) {
        self.store = store
        service = ParseService(store, keys: keys, options: options)
    }

    /// A reply: its status and its body.
    struct Reply: Sendable {
        let status: Int
        let json: JSONValue
        let location: String?

        var code: Int64? { json["code"]?.integer }
        var results: [JSONValue] { json["results"]?.array ?? [] }
        subscript(name: String) -> JSONValue? { json[name] }
    }

    /// Sends a request. `target` is a path and, after a question mark, encoded parameters.
    @discardableResult
    func send(
        _ method: String, _ target: String, _ body: JSONValue? = nil, headers: [String: String] = [:],
        isMaster: Bool = true
    ) async throws -> Reply {
        let parts = target.split(separator: "?", maxSplits: 1).map(String.init)
        var fields = ["x-parse-application-id": "app"]
        if isMaster { fields["x-parse-master-key"] = "master" }
        let request = WireRequest(
            method: method, path: parts[0], query: parts.count > 1 ? parts[1] : "",
            headers: fields.merging(headers) { _, new in new }, body: body.map { Array(JSONWriter.text($0).utf8) } ?? []
        )
        let reply = await service.respond(to: request) { print("failed: \($0)") }
        return Reply(status: reply.status, json: try JSONParser.parse(reply.body), location: reply.location)
    }

    /// Creates an object and returns its id.
    func create(_ className: String, _ body: JSONValue) async throws -> String {
        let reply = try await send("POST", "/classes/\(className)", body)
        return try #require(reply["objectId"]?.string, "\(reply.json)")
    }

    /// An object as it is stored.
    func get(_ className: String, _ id: String, _ parameters: String = "") async throws -> JSONValue {
        try await send("GET", "/classes/\(className)/\(id)?\(parameters)").json
    }

    /// The objects that a query finds.
    func find(_ className: String, where condition: JSONValue = [:], _ parameters: String = "") async throws
        -> [JSONValue]
    {
        let text = JSONWriter.text(condition).addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let reply = try await send("GET", "/classes/\(className)?where=\(text)&\(parameters)")
        return try #require(reply["results"]?.array, "\(reply.json)")
    }
}

/// The statements that a store executed.
final class SQLStatements: Sendable {
    private let statements = Mutex<[String]>([])

    func append(_ sql: String) { statements.withLock { $0.append(sql) } }
    func removeAll() { statements.withLock { $0 = [] } }
    var all: [String] { statements.withLock { $0 } }
}

/// A pointer in JSON.
func pointer(_ className: String, _ id: String) -> JSONValue {
    ["__type": "Pointer", "className": .string(className), "objectId": .string(id)]
}

extension Store {
    /// A new, empty store on the test's engine.
    static func make(for models: any Model.Type..., options: Options = Options()) throws -> Store {
        guard let path = try TestDatabases.newPath() else { return try inMemory(for: models, options: options) }
        return try open(path, for: models, options: options)
    }
}
