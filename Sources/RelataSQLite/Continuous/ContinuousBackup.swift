public import Foundation
import RelataCore
import RelataEngine

/// Copies everything that is written to a file of SQLite to a folder, while it is written, by whichever process; the file can
/// be restored as it was at any moment since.
///
/// ```swift
/// let copies = ContinuousBackup(of: "library.sqlite", to: "copies", keeping: .seconds(7 * 24 * 3600))
/// let task = Task { try await copies.run() }
/// …
/// task.cancel()
/// let restored = try ContinuousBackup.restore(from: "copies", to: "restored.sqlite", at: noon)
/// ```
///
/// The folder gets a copy of the whole file, a *base*, and then every transaction from the file's write-ahead log. A new base
/// is made each day, and once more was written than the base is large; and whenever it isn't certain that all was copied,
/// such as after a pause. So a gap is never silent.
///
/// The file must have a write-ahead log, as every file of a store has. Encrypted files can't be copied so.
public struct ContinuousBackup: Sendable {
    /// What happens while a file is followed.
    public enum Event: Hashable, Sendable {
        /// A base was made, of this moment.
        case base(Date)
        /// The copies go on behind those that end at this moment.
        case resumed(from: Date)
        /// Some of what was written may be missing before the base that is made next.
        case lost(reason: String)
        /// So many bases were removed that are older than what is kept, with what was written after them.
        case removed(count: Int)
    }

    /// What a file was restored to.
    public struct Restored: Hashable, Sendable {
        /// The moment: everything that was committed before is there, and nothing that was committed after the one that was
        /// asked for.
        public let moment: Date
        /// What isn't known of the time after it; `nil` where nothing is missing.
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
    ///   - folder: Where the copies are to be; it is made if it isn't there.
    ///   - kept: For how long moments can be restored; `nil` for ever.
    ///   - interval: How long what is committed may wait to be copied.
    public init(
        of path: String, to folder: String, keeping kept: Duration? = nil, interval: Duration = .seconds(1)
    ) {
        (self.path, self.folder, self.kept, self.interval) = (path, folder, kept, interval)
    }

    /// Follows the file until the task is cancelled, and then copies what was committed before.
    ///
    /// It runs on a thread of its own. Writers wait for it for moments only.
    ///
    /// - Parameter tell: Is told of bases, and of what isn't certain.
    /// - Throws: ``RelataError/fileAccess(path:_:)`` for a folder that can't be written, a full disk, and a file that isn't
    ///   where it was; ``RelataError/invalidUse(_:)`` for a file without a write-ahead log, an encrypted one, and a folder with
    ///   copies of another file; ``RelataError/busy(_:)`` for a folder that another process copies to.
    public func run(_ tell: @escaping @Sendable (Event) -> Void = { _ in }) async throws {
        try await withTaskExecutorPreference(ConnectionThread(name: "relata.copies")) {
            try run(until: { Task.isCancelled }, tell)
        }
    }

    /// Follows the file on the calling thread until `isStopped` says so.
    package func run(until isStopped: () -> Bool, _ tell: @escaping (Event) -> Void = { _ in }) throws {
        do {
            let follower = try LogFollower(
                path, CopyFolder(folder), keeps: kept.map { $0.microseconds },
                interval: Double(interval.microseconds) / 1_000_000, tell)
            try follower.run(until: isStopped)
        } catch RelataError.wrongKey(let path) {
            throw RelataError.invalidUse("\(path) is encrypted, and can't be copied continuously: a backup can")
        }
    }

    /// Makes a file of what it was at a moment.
    ///
    /// The file is checked before it gets its name.
    ///
    /// - Parameters:
    ///   - folder: The copies.
    ///   - path: The file to be made.
    ///   - moment: The moment; `nil` for the last one that was copied.
    ///   - replaces: Whether a database that is there, and that nobody uses, is replaced. Else it is refused.
    /// - Throws: ``RelataError/invalidUse(_:)`` for a moment before the first base;
    ///   ``RelataError/corruptStore(_:)`` for copies that are damaged; what a backup throws for the place of the file.
    @discardableResult
    public static func restore(
        from folder: String, to path: String, at moment: Date? = nil, replaces: Bool = false
    ) throws -> Restored {
        try restore(from: folder, BackupPlan(to: path, replaces: replaces, verifies: true), at: moment)
    }

    /// Makes a file by a plan.
    package static func restore(from folder: String, _ plan: BackupPlan, at moment: Date?) throws -> Restored {
        try ContinuousRestore(CopyFolder(folder), at: moment.map(CopyMoment.microseconds)).run(plan)
    }

    /// The microseconds since 1970 that a text means, such as `2026-11-26T08:00:00Z`; `nil` for one that is no moment.
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
