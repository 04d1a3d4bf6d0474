// Fuzzes what clients send to a server of Parse's protocol: conditions, pipelines and requests. Each gets a reply, or
// an error in Parse's format. `Tests/Fuzzing/run` compiles this file with those of RelataParse as one module, under
// libFuzzer.
import Dispatch
import Foundation
import RelataCore

/// A store with a field of each type, and one object.
private let service: ParseService = {
    let service = try! ParseService(ParseStore.open(nil), keys: keys)
    let objects: [(String, String)] = [
        ("Other", #"{"name": "o", "n": 1}"#),
        (
            "Item",
            """
            {"name": "a", "n": 1, "x": 0.5, "b": true, "tags": ["x"], "info": {"k": "v", "list": [{"k": 1}]}, \
            "at": {"__type": "GeoPoint", "latitude": 1, "longitude": 2}, \
            "area": {"__type": "Polygon", "coordinates": [[0, 0], [0, 1], [1, 1]]}, \
            "day": {"__type": "Date", "iso": "2020-01-01T00:00:00.000Z"}, "data": {"__type": "Bytes", "base64": "AA=="}, \
            "p": {"__type": "Pointer", "className": "Other", "objectId": "ID"}, \
            "r": {"__op": "AddRelation", "objects": [{"__type": "Pointer", "className": "Other", "objectId": "ID"}]}}
            """
        ),
    ]
    var id = ""
    for (name, body) in objects {
        let body = body.replacing("ID", with: id)
        let reply = answer(service, WireRequest(method: "POST", path: "/classes/\(name)", body: Array(body.utf8)))
        precondition(reply.status == 201, String(decoding: reply.body, as: UTF8.self))
        id = try! JSONParser.parse(reply.body)["objectId"]?.string ?? ""
    }
    return service
}()
private let keys = ParseKeys(applicationID: "app", isMasterKey: { $0 == "master" })
private let keyFields = ["x-parse-application-id": "app", "x-parse-master-key": "master"]

private func answer(_ service: ParseService, _ request: WireRequest) -> WireReply {
    var request = request
    request.headers.merge(keyFields) { own, _ in own }
    return wait { [request] in await service.respond(to: request) { print("failed: \($0)") } }
}

/// The result of work that is done elsewhere.
private func wait<Result: Sendable>(for work: @escaping @Sendable () async -> Result) -> Result {
    let (done, box) = (DispatchSemaphore(value: 0), Box<Result>())
    Task {
        box.result = await work()
        done.signal()
    }
    done.wait()
    return box.result!
}

/// Written before the semaphore is signalled, and read after it.
private final class Box<Result: Sendable>: @unchecked Sendable { var result: Result? }

/// One input: an object is the conditions of a query, an array is a pipeline, and anything else is a request.
@_cdecl("LLVMFuzzerTestOneInput") public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    switch bytes.first {
    case UInt8(ascii: "{"): find(bytes)
    case UInt8(ascii: "["): ask("/aggregate/Item", "pipeline", bytes)
    default: read(bytes)
    }
    return 0
}

private func find(_ bytes: [UInt8]) {
    ask("/classes/Item", "where", bytes)
    guard let condition = try? JSONParser.parse(bytes) else { return }
    // On PostgreSQL, the same conditions are other statements.
    wait {
        do {
            try await service.store.read(as: .master) { transaction in
                guard let item = transaction.classes["Item"] else { return }
                var reader = ConditionReader(transaction)
                var plan = QueryPlan(entity: "Item", condition: try reader.condition(condition, of: item), limit: 3)
                plan.relatedTo = reader.owner
                plan.sort = reader.nearest
                let compiler = QueryCompiler(schema: transaction.schema, access: .everything, dialect: .postgres)
                _ = try compiler.select(plan)
            }
        } catch {
            precondition(ParseError(error).status < 500, "\(error)")
        }
    }
}

/// Sends a query with one parameter.
private func ask(_ path: String, _ parameter: String, _ bytes: [UInt8]) {
    let body = Array(#"{"_method":"GET","\#(parameter)":"#.utf8) + bytes + Array("}".utf8)
    let reply = answer(service, WireRequest(method: "POST", path: path, body: body))
    let text = String(decoding: reply.body, as: UTF8.self)
    guard let json = try? JSONParser.parse(reply.body) else { preconditionFailure("no JSON: \(text)") }
    let isRefused = reply.status < 500 && json["code"]?.integer != nil && json["error"]?.string != nil
    precondition(reply.status == 200 && json["results"]?.array != nil || isRefused, "\(reply.status): \(text)")
}

/// Reads a request as HTTP has it: a line with the method and the target, header fields, an empty line and the body.
private func read(_ bytes: [UInt8]) {
    var lines = bytes[...]
    func line() -> String? {
        guard let end = lines.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        defer { lines = lines[(end + 1)...] }
        return String(decoding: lines[..<end], as: UTF8.self)
    }
    guard let first = line()?.split(separator: " ", maxSplits: 1).map(String.init), first.count == 2 else { return }
    let target = first[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    var fields: [String: String] = keyFields
    while let field = line(), !field.isEmpty {
        let parts = field.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        fields[parts[0].lowercased()] = parts.count > 1 ? parts[1] : ""
    }
    let request = WireRequest(
        method: first[0], path: target[0], query: target.count > 1 ? target[1] : "", headers: fields, body: Array(lines)
    )
    _ = try? ParseCall(request, keys: keys, hasUsers: true, hasFiles: true)
    for size in [0, 1, 1000] {
        guard case .part(let part) = ByteRange(fields["range"], size: size) else { continue }
        precondition(!part.isEmpty && part.lowerBound >= 0 && part.upperBound <= size, "\(part) of \(size)")
    }
    _ = Languages.best(for: fields["accept-language"], among: ["en", "zh-Hans"])
    _ = AddressRanges(known: ["10.0.0.0/8"]).forwardedAddress(of: "10.0.0.1", forwarded: fields["x-forwarded-for"])
}
