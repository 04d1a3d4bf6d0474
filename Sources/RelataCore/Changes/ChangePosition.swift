/// A place in the durable change log: where a reader goes on.
///
/// Keep it as it is, or as text (``description`` and ``init(_:)``). It stays valid in other processes and after
/// restarts, for as long as it is the same log. A log that begins anew, such as after a dump was restored or a standby
/// was promoted, refuses the positions of the one before.
///
/// ```swift
/// var position = ChangePosition.start
/// for row in try await store.changes(after: position) { position = row.position }
/// ```
public struct ChangePosition: Hashable, Sendable {
    /// The number of the log; 0 where positions are plain numbers, as in files of SQLite.
    package let log: Int64
    /// The transaction; 0 where positions are plain numbers.
    package let transaction: Int64
    /// The place within the transaction, or within the log where positions are plain numbers.
    package let number: Int64

    /// Before the first change that was ever made.
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
    /// Whether a change stands before another one of the same log. Positions of different logs have an order, too, which
    /// means nothing.
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

    /// Reads what ``description`` has written; `nil` for any other text.
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
                in: container, debugDescription: "\"\(text.prefix(80))\" is no position of a change log")
        }
        self = position
    }

    /// Writes the position as text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
