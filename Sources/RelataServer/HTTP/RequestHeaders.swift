#if Server
import NIOHTTP1
import RelataParse

/// The header fields of a request that mean something here, read in one pass. No others are kept.
struct RequestHeaders: Sendable {
    /// What the protocol reads, by names in lower case.
    private(set) var wire: [String: String] = [:]
    /// How the body is encoded.
    private(set) var contentEncoding: String?
    /// The id that a proxy gave the request.
    private(set) var requestID: String?
    /// The web page that a browser sends the request for.
    private(set) var origin: String?
    /// Whether the reply may be compressed.
    private(set) var acceptsGzip = false
    /// Whether the client waits to be asked for the body.
    private(set) var expectsContinue = false
    /// Whether the client would like to speak another protocol.
    private(set) var asksForUpgrade = false
    private(set) var hostCount = 0
    /// How long the body is to be, where the client says so.
    private(set) var contentLength: Int?
    /// How many bytes the names and values of all fields have.
    private(set) var size = 0

    init() {}

    init(_ headers: HTTPHeaders) {
        for (name, value) in headers {
            size += name.utf8.count + value.utf8.count
            read(name, value)
        }
    }

    private mutating func read(_ name: String, _ value: String) {
        guard let field = Field.named(name) else { return }
        switch field {
        // Of a field that stands twice, the first counts.
        case .wire(let name): if wire[name] == nil { wire[name] = value }
        case .host: hostCount += 1
        case .acceptEncoding: acceptsGzip = acceptsGzip || Self.listsGzip(value)
        case .contentLength: contentLength = Int(value)
        case .contentEncoding: contentEncoding = contentEncoding.map { "\($0), \(value)" } ?? value
        case .expect: expectsContinue = value.lowercased() == "100-continue"
        case .origin: origin = value
        case .requestID: if Self.isRequestID(value) { requestID = value }
        case .upgrade: asksForUpgrade = true
        }
    }

    private static func listsGzip(_ value: String) -> Bool {
        for coding in value.split(separator: ",") {
            let parts = coding.split(separator: ";").map { $0.filter { $0 != " " }.lowercased() }
            guard let name = parts.first, name == "gzip" || name == "x-gzip" else { continue }
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) }
            return weight ?? 1 > 0
        }
        return false
    }

    /// Whether a text can be written to a log and a reply as it is.
    private static func isRequestID(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                    || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
            }
    }
}

extension RequestHeaders {
    private enum Field {
        case wire(String)
        case host, acceptEncoding, contentLength, contentEncoding, expect, origin, requestID, upgrade

        /// Known fields by the length of their names: most others are told apart without comparing.
        private static let byLength: [[(name: String, field: Field)]] = {
            var known: [(name: String, field: Field)] = WireRequest.headerNames.map { ($0, .wire($0)) }
            known += [
                ("host", .host), ("accept-encoding", .acceptEncoding), ("content-length", .contentLength),
                ("content-encoding", .contentEncoding), ("expect", .expect), ("origin", .origin),
                ("x-request-id", .requestID), ("upgrade", .upgrade),
            ]
            var table: [[(name: String, field: Field)]] = []
            for entry in known {
                let length = entry.name.utf8.count
                while table.count <= length { table.append([]) }
                table[length].append(entry)
            }
            return table
        }()

        static func named(_ name: String) -> Field? {
            let length = name.utf8.count
            guard length < byLength.count else { return nil }
            for (known, field) in byLength[length] where isEqual(name, known) { return field }
            return nil
        }

        /// Whether a name is a known one, which is in lower case. Names hold no characters that one bit could confuse.
        private static func isEqual(_ name: String, _ known: String) -> Bool {
            var other = known.utf8.makeIterator()
            for byte in name.utf8 where byte | 0x20 != other.next() { return false }
            return true
        }
    }
}
#endif
