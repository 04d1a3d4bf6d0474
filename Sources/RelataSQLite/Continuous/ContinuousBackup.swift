public import Foundation
import RelataCore
import RelataEngine

/// Copies all writes to an SQLite file to a folder, as they are made by any process; the file can be restored at any
/// moment since.
///
/// ```swift
/// let copies = ContinuousBackup(of: "library.sqlite", to: "copies", keeping: .seconds(7 * 24 * 3600))
/// let task = Task { try await copies.run() }
/// …
/// task.cancel()
/// let restored = try ContinuousBackup.restore(from: "copies", to: "restored.sqlite", at: noon)
/// ```
///
/// The folder gets a copy of the whole file, a *base*, and then every transaction from the file's write-ahead log. A
/// new base is made each day, when the log is larger than the base, and whenever the copies may be incomplete, such as
/// after a pause. So a gap is never silent.
///
/// The file must have a write-ahead log, as every file of a store has. Encrypted files can't be copied so.
public struct ContinuousBackup: Sendable {
    /// An event of a continuous backup.
    public enum Event: Hashable, Sendable {
        /// A base was made, of this moment.
        case base(Date)
        /// The copies continue after those that end at this moment.
        case resumed(from: Date)
        /// Some writes before the next base may be missing.
        case lost(reason: String)
        /// This number of bases was removed because of their age, with their logs.
        case removed(count: Int)
    }

    /// The result of a restore.
    public struct Restored: Hashable, Sendable {
        /// The moment: the result has everything committed before it, and nothing committed after the requested one.
        public let moment: Date
        /// The gap after it; `nil` if nothing is missing.
        public let gap: String?
    }

    private let path: String
    private let folder: String
    private let kept: Duration?
    private let interval: Duration

    /// Copies of a file.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - folder: The folder for the copies; created if it doesn't exist.
    ///   - kept: The time for which moments can be restored; `nil` for no limit.
    ///   - interval: The longest time that a commit waits to be copied.
    public init(
        of path: String, to folder: String, keeping kept: Duration? = nil, interval: Duration = .seconds(1)
    ) {
        (self.path, self.folder, self.kept, self.interval) = (path, folder, kept, interval)
    }

    /// Follows the file until the task is cancelled, and then copies everything committed before.
    ///
    /// It runs on a separate thread. Writers wait for it only briefly.
    ///
    /// - Parameter tell: Called with events: bases, and possible gaps.
    /// - Throws: ``RelataError/fileAccess(path:_:)`` for a folder that can't be written, a full disk, and a file that
    ///   was moved; ``RelataError/invalidUse(_:)`` for a file without a write-ahead log, an encrypted one, and a folder
    ///   with copies of another file; ``RelataError/busy(_:)`` for a folder that another process copies to.
    public func run(_ tell: @escaping @Sendable (Event) -> Void = { _ in }) async throws {
        try await withTaskExecutorPreference(ConnectionThread(name: "relata.copies")) {
            try run(until: { Task.isCancelled }, tell)
        }
    }

    /// Follows the file on the calling thread until `isStopped` returns true.
    package func run(until isStopped: () -> Bool, _ tell: @escaping (Event) -> Void = { _ in }) throws {
        do {
            let follower = try LogFollower(
                path, CopyFolder(folder), keeps: kept.map { $0.microseconds },
                interval: Double(interval.microseconds) / 1_000_000, tell)
            try follower.run(until: isStopped)
        } catch RelataError.wrongKey(let path) {
            throw RelataError.invalidUse(
                "\(path) is encrypted, and encrypted files can't be copied continuously: back it up regularly instead")
        }
    }

    /// Restores the file at a moment.
    ///
    /// The file is checked before it gets its name.
    ///
    /// - Parameters:
    ///   - folder: The copies.
    ///   - path: The file to create.
    ///   - moment: The moment; `nil` for the last one that was copied.
    ///   - replaces: Whether an existing, unused database is replaced. Otherwise it is refused.
    /// - Throws: ``RelataError/invalidUse(_:)`` for a moment before the first base; ``RelataError/corruptStore(_:)``
    ///   for damaged copies; a backup's errors for the path of the file.
    @discardableResult
    public static func restore(
        from folder: String, to path: String, at moment: Date? = nil, replaces: Bool = false
    ) throws -> Restored {
        try restore(from: folder, BackupPlan(to: path, replaces: replaces, verifies: true), at: moment)
    }

    /// Restores a file by a plan.
    package static func restore(from folder: String, _ plan: BackupPlan, at moment: Date?) throws -> Restored {
        try ContinuousRestore(CopyFolder(folder), at: moment.map(CopyMoment.microseconds)).run(plan)
    }

    /// The microseconds since 1970 of a text such as `2026-11-26T08:00:00Z`; `nil` for an invalid one.
    package static func moment(_ text: String) -> Date? { CopyMoment.microseconds(text).map(CopyMoment.date) }

    /// A moment as text.
    package static func text(_ moment: Date) -> String { CopyMoment.text(CopyMoment.microseconds(moment)) }
}

extension Duration {
    fileprivate var microseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds.multipliedReportingOverflow(by: 1_000_000).partialValue &+ attoseconds / 1_000_000_000_000
    }
}
