import RelataCore
import RelataEngine

/// The rules by which repeated wrong passwords lock an account for some time.
///
/// Names without an account are locked in the same way, so the attempts don't reveal which names exist.
public struct LockoutOptions: Hashable, Sendable {
    /// The number of wrong passwords that lock the account.
    public var threshold: Int
    /// The number of seconds that the lock lasts. Wrong passwords are forgotten after the same time without another
    /// one.
    public var duration: Double
    /// Whether a new password, set through the link in a mail, unlocks the account.
    public var endsWithReset = false

    /// A lockout.
    public init(threshold: Int = 5, duration: Double = 900) {
        self.threshold = threshold
        self.duration = duration
    }

    /// Checks the options.
    ///
    /// - Throws: `RelataError` that describes the invalid value.
    public func check() throws(RelataError) {
        guard (1...1000).contains(threshold) else {
            throw .invalidUse("lockout.threshold is \(threshold): it must be 1 to 1000")
        }
        guard duration > 0, duration <= 100_000 * 60 else {
            throw .invalidUse("lockout.duration is \(duration): it must be above 0, and at most 6000000 seconds")
        }
    }

    /// The outcome of an attempt to sign in.
    enum Outcome: Sendable {
        case right
        case wrong
        /// The account is locked. The reply doesn't tell whether the password was right.
        case closed(milliseconds: Int64)
    }

    static func error(_ milliseconds: Int64) -> ParseError {
        let minutes = max(1, (milliseconds + 59_999) / 60_000)
        return ParseError(
            .objectNotFound,
            "Your account is locked due to multiple failed login attempts. Please try again after \(minutes) minute(s)")
    }
}

extension ParseTransaction {
    /// The number of milliseconds that an account is still locked; `nil` if it isn't locked.
    func lockout(of account: String, _ options: LockoutOptions) throws -> Int64? {
        let (count, end) = try failures(account)
        return count >= options.threshold && end > milliseconds ? end - milliseconds : nil
    }

    /// Decides and counts an attempt to sign in, in one transaction: parallel attempts get no more answers than
    /// consecutive ones.
    func decide(_ isRight: Bool, _ account: String, _ options: LockoutOptions) throws -> LockoutOptions.Outcome {
        let (count, end) = try failures(account)
        if count >= options.threshold, end > milliseconds { return .closed(milliseconds: end - milliseconds) }
        if isRight {
            if count > 0 { try forgetFailures(account) }
            return .right
        }
        let counted = end > milliseconds ? count + 1 : 1
        let next = milliseconds + Int64(options.duration * 1000)
        try changeAccounts(
            AccountClasses.failure, [.text(account), .integer(Int64(counted)), .integer(next)]
        ) { table, values in
            """
            INSERT INTO \(table) (account, "count", "endsAt") VALUES (\(values.joined(separator: ", ")))
            ON CONFLICT (account) DO UPDATE SET "count" = excluded."count", "endsAt" = excluded."endsAt"
            """
        }
        // Anyone can add unknown names. On average, clean-ups remove more of them than are added.
        if count == 0, Int.random(in: 0..<16) == 0 { try forgetOldFailures() }
        return .wrong
    }

    private func failures(_ account: String) throws -> (count: Int, end: Int64) {
        let row = try accountRows(AccountClasses.failure, [.text(account)]) { table, values in
            "SELECT \"count\", \"endsAt\" FROM \(table) WHERE account = \(values[0])"
        }.first
        guard let count = row?[0].wholeNumber, let end = row?[1].wholeNumber else { return (0, 0) }
        return (Int(count), end)
    }

    /// Unlocks an account.
    func forgetFailures(_ account: String) throws {
        guard AccountClasses.isThere(AccountClasses.failure, in: storedClasses.schema) else { return }
        try changeAccounts(AccountClasses.failure, [.text(account)]) { table, values in
            "DELETE FROM \(table) WHERE account = \(values[0])"
        }
    }

    private func forgetOldFailures() throws {
        try changeAccounts(AccountClasses.failure, [.integer(milliseconds)]) { table, values in
            """
            DELETE FROM \(table) WHERE account IN
                (SELECT account FROM \(table) WHERE "endsAt" <= \(values[0]) ORDER BY "endsAt" LIMIT 64)
            """
        }
    }
}
