#if Server
import NIOHTTP1

/// The used header fields of a request, read in one pass. Others aren't kept.
struct RequestHeaders: Sendable {
    /// The fields that the protocol reads, by names in lower case.
    private(set) var kept: [String: String] = [:]
    /// The encoding of the body.
    private(set) var contentEncoding: String?
    /// The id that a proxy gave the request.
    private(set) var requestID: String?
    /// The web page that a browser sends the request for.
    private(set) var origin: String?
    /// Whether the reply may be compressed.
    private(set) var acceptsGzip = false
    /// Whether the client waits for `100 Continue`.
    private(set) var expectsContinue = false
    /// Whether the client wants to switch to another protocol.
    private(set) var asksForUpgrade = false
    /// The cached versions of the client.
    private(set) var ifNoneMatch: String?
    /// The addresses that proxies name, the client's first.
    private(set) var forwardedFor: String?
    private(set) var hostCount = 0
    /// The announced length of the body, if there is one.
    private(set) var contentLength: Int?
    /// The number of bytes the names and values of all fields have.
    private(set) var size = 0

    init() {}

    init(_ headers: HTTPHeaders, _ fields: HeaderFields) {
        for (name, value) in headers {
            size += name.utf8.count + value.utf8.count
            if let field = fields[name] { read(field, value) }
        }
    }

    private mutating func read(_ field: HeaderFields.Field, _ value: String) {
        if field.isKept { keep(field.name, value) }
        switch field.meaning {
        case nil: break
        case .host: hostCount += 1
        case .acceptEncoding: acceptsGzip = acceptsGzip || Self.listsGzip(value)
        case .contentLength: contentLength = Int(value)
        case .contentEncoding: contentEncoding = contentEncoding.map { "\($0), \(value)" } ?? value
        case .forwardedFor: forwardedFor = forwardedFor.map { "\($0), \(value)" } ?? value
        case .expect: expectsContinue = value.lowercased() == "100-continue"
        case .ifNoneMatch: ifNoneMatch = ifNoneMatch.map { "\($0), \(value)" } ?? value
        case .origin: origin = value
        case .requestID: if Self.isRequestID(value) { requestID = value }
        case .upgrade: asksForUpgrade = true
        }
    }

    /// Adds a field. The values of a repeated one form a list, as everywhere in HTTP: two different keys are no key.
    /// Equal values count once.
    private mutating func keep(_ name: String, _ value: String) {
        guard let earlier = kept[name] else {
            kept[name] = value
            return
        }
        if earlier != value { kept[name] = "\(earlier), \(value)" }
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

    /// Whether a text can be written to a log and a reply unchanged.
    private static func isRequestID(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                    || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
            }
    }
}

/// The fields that are read, by the lengths of their names: most others are excluded without comparing.
struct HeaderFields: Sendable {
    /// The meaning of a field for the server itself.
    enum Meaning: String, CaseIterable {
        case host, expect, origin, upgrade
        case acceptEncoding = "accept-encoding"
        case contentEncoding = "content-encoding"
        case contentLength = "content-length"
        case ifNoneMatch = "if-none-match"
        case forwardedFor = "x-forwarded-for"
        case requestID = "x-request-id"
    }

    struct Field {
        let name: String
        /// Whether the protocol reads it.
        let isKept: Bool
        let meaning: Meaning?
    }

    private var byLength: [[Field]] = []

    /// - Parameter kept: The names of the fields that the protocol reads.
    init(kept: [String]) {
        let kept = kept.map { $0.lowercased() }
        for name in kept + Meaning.allCases.map(\.rawValue).filter({ !kept.contains($0) }) {
            let length = name.utf8.count
            while byLength.count <= length { byLength.append([]) }
            byLength[length].append(
                Field(name: name, isKept: kept.contains(name), meaning: Meaning(rawValue: name)))
        }
    }

    subscript(name: String) -> Field? {
        let length = name.utf8.count
        guard length < byLength.count else { return nil }
        return byLength[length].first { Self.isEqual(name, $0.name) }
    }

    /// Whether a name is a known one, which is in lower case.
    private static func isEqual(_ name: String, _ known: String) -> Bool {
        var other = known.utf8.makeIterator()
        for byte in name.utf8 {
            guard let wanted = other.next() else { return false }
            let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(wanted)
            guard byte == wanted || isLetter && byte | 0x20 == wanted else { return false }
        }
        return true
    }
}
#endif
