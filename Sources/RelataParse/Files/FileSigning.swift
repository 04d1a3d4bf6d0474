import Foundation
import RelataCore

/// Signs the addresses of files, so that each is valid for a time, and can't be made by clients.
public struct FileSigning: Sendable {
    /// The minimum number of seconds that an address is valid. After half of that time, replies have a new one.
    public let lifetime: Double
    private let makeCode: @Sendable (String) -> [UInt8]

    /// - Parameters:
    ///   - lifetime: The minimum number of seconds that an address is valid.
    ///   - code: The authentication code of a text: at least 16 bytes that can't be forged, and are always the same for
    ///     a text.
    public init(lifetime: Double, code: @escaping @Sendable (String) -> [UInt8]) {
        self.lifetime = lifetime
        makeCode = code
    }

    /// The suffix of a file's address.
    func parameters(of name: String, at time: Date) -> String {
        // The address stays the same for a time, so that browsers can cache the file.
        let step = max(1, (lifetime / 2).rounded(.up))
        let end = Int64(((time.timeIntervalSince1970 + lifetime) / step).rounded(.up) * step)
        return "?expires=\(end)&signature=\(signature(of: name, end))"
    }

    /// Whether a request has a valid address.
    func admits(_ name: String, _ parameters: JSONObject, at time: Date) -> Bool {
        guard let end = parameters["expires"]?.string.flatMap({ Int64($0) }),
            let given = parameters["signature"]?.string
        else { return false }
        return Self.areEqual(signature(of: name, end), given) && time.timeIntervalSince1970 <= Double(end)
    }

    /// The code of a text.
    package func code(of text: String) -> [UInt8] { makeCode(text) }

    private func signature(of name: String, _ end: Int64) -> String {
        code(of: "\(end) \(name)").hexText
    }

    /// Compares in a time that doesn't depend on the position of the difference.
    private static func areEqual(_ first: String, _ second: String) -> Bool {
        let (first, second) = (first.utf8, second.utf8)
        guard first.count == second.count else { return false }
        return zip(first, second).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

extension ParseError {
    /// The error for a file without a valid address. Its name alone must not be enough to get a valid address.
    static func fileIsUnproven(_ name: String) -> ParseError {
        ParseError(
            .operationForbidden,
            "the file \(name.prefix(128)) came without a valid address (url): send the one that the server gave you"
        )
    }

    /// The error for a request with an expired or forged address.
    static let addressIsOver = ParseError(
        .operationForbidden, "the address of the file has expired, or isn't signed: ask for its object again",
        status: 403)
}
