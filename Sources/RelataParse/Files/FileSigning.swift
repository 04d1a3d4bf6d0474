import Foundation
import RelataCore

/// Signs the addresses of files, so that each holds for a while, and only those get one who are told it.
public struct FileSigning: Sendable {
    /// For how many seconds an address holds, at least. Half of it later, another one is told.
    public let lifetime: Double
    private let makeCode: @Sendable (String) -> [UInt8]

    /// - Parameters:
    ///   - lifetime: For how many seconds an address holds.
    ///   - code: The code of a text, which nobody else can make: at least 16 bytes, always the same.
    public init(lifetime: Double, code: @escaping @Sendable (String) -> [UInt8]) {
        self.lifetime = lifetime
        makeCode = code
    }

    /// What follows the address of a file.
    func parameters(of name: String, at time: Date) -> String {
        // One address is told for a while, so that browsers know again what they have.
        let step = max(1, (lifetime / 2).rounded(.up))
        let end = Int64(((time.timeIntervalSince1970 + lifetime) / step).rounded(.up) * step)
        return "?expires=\(end)&signature=\(signature(of: name, end))"
    }

    /// Whether a request has an address that holds.
    func admits(_ name: String, _ parameters: JSONObject, at time: Date) -> Bool {
        guard let end = parameters["expires"]?.string.flatMap({ Int64($0) }),
            let given = parameters["signature"]?.string
        else { return false }
        return Self.areEqual(signature(of: name, end), given) && time.timeIntervalSince1970 <= Double(end)
    }

    /// The code of a text.
    package func code(of text: String) -> [UInt8] { makeCode(text) }

    private func signature(of name: String, _ end: Int64) -> String {
        code(of: "\(end) \(name)").map { String(String(UInt16($0) + 256, radix: 16).dropFirst()) }.joined()
    }

    /// Compares in a time that says nothing about where two texts differ.
    private static func areEqual(_ first: String, _ second: String) -> Bool {
        let (first, second) = (first.utf8, second.utf8)
        guard first.count == second.count else { return false }
        return zip(first, second).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

extension ParseError {
    /// The error for a file whose name alone is known: it must not become an address that holds.
    static func fileIsUnproven(_ name: String) -> ParseError {
        ParseError(
            .operationForbidden,
            "the file \(name.prefix(128)) came without an address (url) that holds: send the one that the server told you"
        )
    }

    /// What a request gets whose address holds no longer, or never did.
    static let addressIsOver = ParseError(
        .operationForbidden, "the address of the file has expired, or isn't signed: ask for its object again",
        status: 403)
}
