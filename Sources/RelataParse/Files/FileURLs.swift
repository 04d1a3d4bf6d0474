import Foundation
import RelataCore

/// The addresses of files. They aren't stored: the server adds them to each reply, and removes them from each request,
/// so that it can move to another address.
struct FileURLs {
    /// The part of all addresses before the file's name.
    let prefix: String
    /// Signs addresses; `nil` for addresses that never expire.
    var signing: FileSigning?
    var now = Date()

    /// The address of a file.
    func url(of name: String) -> String {
        prefix + FileName.encoded(name) + (signing?.parameters(of: name, at: now) ?? "")
    }

    /// Adds addresses to the files in a reply. A file with an address keeps it, because it is stored elsewhere.
    ///
    /// - Parameter names: The names of files that get no address.
    func adding(to body: [UInt8], besides names: Set<String> = []) -> [UInt8] {
        var result: [UInt8] = []
        // The number of copied bytes, and of searched ones.
        var (copied, place) = (0, 0)
        body.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return }
            while place < bytes.count, let found = memchr(base + place, Int32(Self.mark), bytes.count - place) {
                let type = UnsafeRawPointer(found) - UnsafeRawPointer(base)
                place = type + 1
                guard let (range, end) = Self.file(around: type, in: bytes) else { continue }
                let name = String(decoding: bytes[range], as: UTF8.self)
                if names.contains(name) { continue }
                result += bytes[copied..<end]
                copied = end
                result += ",\"url\":\"\(url(of: name))\"".utf8
            }
        }
        return copied == 0 ? body : result + body[copied...]
    }

    /// The first letter of a file's type: it is rarer than the characters before it.
    private static let mark = UInt8(ascii: "F")

    /// The characters around the name of a file whose type comes last, and their distance to the quotes that end it.
    private static let forms: [(StaticString, Int, StaticString, Int)] = [
        ("{\"name\":\"", 8, "\",\"__type\":\"File\"}", 12),
        ("{\"name\": \"", 9, "\", \"__type\": \"File\"}", 14),
    ]

    /// The name of a file without an address, and its end, without the brace. It has only the two members, in either
    /// order.
    ///
    /// - Parameter type: The position at which `__type` may begin.
    private static func file(
        around type: Int, in bytes: UnsafeBufferPointer<UInt8>
    ) -> (name: Range<Int>, end: Int)? {
        func holds(_ text: StaticString, at place: Int) -> Bool {
            place >= 0 && place + text.utf8CodeUnitCount <= bytes.count
                && bytes[place..<(place + text.utf8CodeUnitCount)].elementsEqual(
                    UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
        }
        func isQuote(_ place: Int) -> Bool { bytes[place] == UInt8(ascii: "\"") || bytes[place] == UInt8(ascii: "\\") }
        if holds("{\"__type\":\"File\",\"name\":\"", at: type - 11) {
            let name = type + 14
            guard let end = bytes[name...].indices.first(where: isQuote), holds("\"}", at: end) else { return nil }
            return (name..<end, end + 1)
        }
        // PostgreSQL writes spaces between tokens.
        for (head, headSize, tail, tailSize) in Self.forms where holds(tail, at: type - tailSize) {
            let end = type - tailSize
            guard let quote = bytes[..<end].indices.last(where: isQuote), holds(head, at: quote - headSize) else {
                continue
            }
            return (quote + 1..<end, type + 5)
        }
        return nil
    }

    /// Whether JSON may contain a file.
    static func mayHoldFiles(_ json: [UInt8]) -> Bool {
        let name = Array("\"File\"".utf8)
        return json.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return false }
            var place = 1
            while place < bytes.count, let found = memchr(base + place, Int32(name[1]), bytes.count - place) {
                let start = UnsafeRawPointer(found) - UnsafeRawPointer(base) - 1
                if start + name.count <= bytes.count, memcmp(base + start, name, name.count) == 0 { return true }
                place = start + 2
            }
            return false
        }
    }
}

/// Removes the addresses from the files in a request, and checks them.
struct FileURLReader {
    /// Signs addresses; `nil` if a file's name is enough.
    let signing: FileSigning?
    private let now = Date()
    /// The names of files without a valid address.
    private(set) var unproven: Set<String> = []
    private var proven: Set<String> = []

    init(_ signing: FileSigning?) { self.signing = signing }

    mutating func read(_ value: JSONValue) -> JSONValue {
        switch value {
        case .null, .bool, .integer, .double, .string: return value
        case .array(let elements): return .array(elements.map { read($0) })
        case .object(let members):
            if members["__type"] == "File", let name = members["name"]?.string, FileName.isStored(name) {
                judge(name, members["url"]?.string)
                return ["name": .string(name), "__type": "File"]
            }
            return .object(read(members))
        }
    }

    mutating func read(_ members: JSONObject) -> JSONObject {
        JSONObject(members.map { ($0.key, read($0.value)) })
    }

    private mutating func judge(_ name: String, _ url: String?) {
        guard let signing, !proven.contains(name) else { return }
        let query = url?.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        if let parameters = try? ParseCall.parameters(String(query)), signing.admits(name, parameters, at: now) {
            proven.insert(name)
            unproven.remove(name)
        } else {
            unproven.insert(name)
        }
    }
}
