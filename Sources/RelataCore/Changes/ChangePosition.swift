/// A position in the durable change log, from which a reader continues.
///
/// Store it directly, or as text (``description`` and `init(_:)`). It stays valid in other processes and after
/// restarts, as long as the log is the same. A new log, for example after a restored dump or a promoted standby,
/// refuses positions of the old one.
///
/// ```swift
/// var position = ChangePosition.start
/// for row in try await store.changes(after: position) { position = row.position }
/// ```
public struct ChangePosition: Hashable, Sendable {
    /// The number of the log; 0 if positions are plain numbers, as in SQLite files.
    package let log: Int64
    /// The transaction; 0 if positions are plain numbers.
    package let transaction: Int64
    /// The position within the transaction, or within the log if positions are plain numbers.
    package let number: Int64

    /// The position before the first change.
    public static let start = ChangePosition(0)

    /// A position that is a plain number, as they are in files of SQLite.
    public init(_ number: Int64) { self.init(log: 0, transaction: 0, number: number) }

    package init(log: Int64, transaction: Int64, number: Int64) {
        self.log = log
        self.transaction = transaction
        self.number = number
    }
}

extension ChangePosition: ExpressibleByIntegerLiteral {
    /// A position that is a plain number; `0` is ``start``.
    public init(integerLiteral value: Int64) { self.init(value) }
}

extension ChangePosition: Comparable {
    /// Whether a change precedes another one of the same log. The order between different logs has no meaning.
    public static func < (left: ChangePosition, right: ChangePosition) -> Bool {
        (left.log, left.transaction, left.number) < (right.log, right.transaction, right.number)
    }
}

extension ChangePosition: LosslessStringConvertible {
    /// The position as text: a number, or on a server the log, the transaction and the place in it.
    public var description: String {
        log == 0
            ? "\(number)" : "\(String(UInt64(bitPattern: log), radix: 16))-\(transaction)-\(number)"
    }

    /// Reads the text of ``description``; `nil` for any other text.
    public init?(_ description: String) {
        if let number = Int64(description) {
            self.init(number)
            return
        }
        let parts = description.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let log = UInt64(parts[0], radix: 16), log != 0, let transaction = Int64(parts[1]),
            let number = Int64(parts[2]), transaction >= 0, number >= 0
        else { return nil }
        self.init(log: Int64(bitPattern: log), transaction: transaction, number: number)
    }
}

extension ChangePosition: Codable {
    /// Reads a position from text, or from a plain number.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Int64.self) {
            self.init(number)
            return
        }
        let text = try container.decode(String.self)
        guard let position = ChangePosition(text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "\"\(text.prefix(80))\" isn't a position of a change log")
        }
        self = position
    }

    /// Writes the position as text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
