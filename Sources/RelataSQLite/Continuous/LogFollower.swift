import Foundation
import RelataCore
import RelataEngine

/// Copies all writes to a file to a folder, until it is stopped.
final class LogFollower {
    private let path: String
    private let folder: CopyFolder
    private let keeps: Int64?
    private let interval: Double
    private let lock: Int32
    private let hold: LogHold
    private let source: LogSource
    private let tell: (ContinuousBackup.Event) -> Void
    /// The logs to write to: the log of the newest base and, while a base is being made, that base's log as well.
    private var logs: [CopiedLog] = []
    private var baseSize = 0
    /// The length of the log for the next attempt to restart it, if there is a long reader.
    private var nextTry = logLimit
    private var salt: UInt64 = 0

    /// The pages at which a log should restart: SQLite's own limit for copying it.
    private static let logLimit: UInt32 = 1000
    /// A log that is longer than this and than its base is followed by another base.
    private static let largeLog = 64 << 20
    private static let second: Int64 = 1_000_000
    private static let day = 24 * 3600 * second
    /// After that long without a change, the absence of changes is recorded.
    private static let silence = 60 * second

    init(
        _ path: String, _ folder: CopyFolder, keeps: Int64?, interval: Double,
        _ tell: @escaping (ContinuousBackup.Event) -> Void
    ) throws {
        try RegularFile.require(path)
        self.path = path
        (self.folder, self.keeps, self.interval, self.tell) = (folder, keeps, interval, tell)
        lock = try folder.lock()
        do {
            hold = try LogHold(path)
        } catch {
            close(lock)
            throw error
        }
        source = LogSource(hold.logPath)
        try folder.removeLeftovers()
    }

    deinit {
        hold.close()
        close(lock)
    }

    // MARK: The run

    /// Follows the file until it is stopped.
    func run(until isStopped: () -> Bool) throws {
        try begin(isStopped)
        while !isStopped() {
            try step(isStopped)
            let next = Date(timeIntervalSinceNow: interval)
            while !isStopped(), Date() < next {
                Thread.sleep(forTimeInterval: min(0.05, max(0.001, next.timeIntervalSinceNow)))
            }
        }
        try end()
    }

    /// Continues earlier copies, or makes a base.
    func begin(_ isStopped: () -> Bool = { false }) throws {
        if try !resume() { try makeFirstBase(isStopped) }
    }

    /// Copies the commits since the last step.
    func step(_ isStopped: () -> Bool = { false }) throws {
        do {
            try copyNew()
            try noteSilence(after: Self.silence)
            // During a long write, the existing base continues.
            if needsBase { do { try makeBase(isStopped) } catch RelataError.busy {} }
        } catch let lost as LogLost {
            // Earlier copies stay unchanged.
            logs = []
            tell(.lost(reason: lost.reason))
            try makeFirstBase(isStopped)
        }
    }

    /// Copies the commits until now.
    func end() throws {
        do {
            try copyNew()
            try noteSilence(after: 0)
        } catch let lost as LogLost {
            tell(.lost(reason: lost.reason))
        }
    }

    /// Makes a base while there is none to continue.
    private func makeFirstBase(_ isStopped: () -> Bool) throws {
        do {
            while !isStopped() {
                do {
                    return try makeBase(isStopped)
                } catch RelataError.busy {
                    // Another connection writes for a long time.
                }
            }
        } catch let lost as LogLost {
            throw RelataError.fileAccess(path: path, "its write-ahead log can't be followed: \(lost.reason)")
        }
    }

    /// Continues the copies in the folder, if the log still has their last position.
    private func resume() throws -> Bool {
        guard let newest = try folder.generations().last else { return false }
        let log = try CopiedLog(newest.log, isWritten: true)
        guard log.head.source == hold.path else {
            throw RelataError.invalidUse(
                "\(folder.path) contains copies of \(log.head.source): choose another folder for \(hold.path)")
        }
        let index = try hold.index()
        let isSame = index.end.salt == log.position.salt && index.end.frame >= log.position.frame
        guard isSame,
            try source.holds(log.position, pageSize: log.head.pageSize)
        else {
            tell(.lost(reason: "the log was restarted since it was last copied"))
            return false
        }
        logs = [log]
        baseSize = Self.size(newest.base)
        tell(.resumed(from: CopyMoment.date(log.time)))
        return true
    }

    // MARK: Copying

    /// Copies new commits, and lets a long log restart.
    private func copyNew() throws {
        try hold.checkIsInPlace()
        let index = try hold.index()
        if index.end.salt != salt { (salt, nextTry) = (index.end.salt, Self.logLimit) }
        guard logs.contains(where: { !$0.isAt(index) }) else { return }
        try hold.advance(copy)
        guard index.end.frame >= nextTry else { return }
        nextTry = index.end.frame &+ Self.logLimit
        try hold.letBeginAnew(copy)
    }

    private func copy() throws {
        let began = CopyMoment.now()
        let index = try hold.index()
        let ended = CopyMoment.now()
        for log in logs { try log.copy(from: source, to: index, began: began, ended: ended) }
    }

    /// Records that nothing was written for a while, so that later restores detect no gap.
    private func noteSilence(after time: Int64) throws {
        let began = CopyMoment.now()
        guard let log = logs.last, began - log.time > time else { return }
        let index = try hold.index()
        guard log.isAt(index) else { return }
        try log.noteSilence(began: began, ended: CopyMoment.now())
    }

    // MARK: Bases

    private var needsBase: Bool {
        guard let log = logs.last else { return true }
        if log.end > max(Self.largeLog, baseSize) { return true }
        return CopyMoment.now() - log.head.moment > min(Self.day, keeps ?? Self.day)
    }

    /// Makes a base while concurrent writes are copied: to the log of the last base, and to its own.
    private func makeBase(_ isStopped: () -> Bool) throws {
        let base = try Connection(path: path)
        defer {
            base.endReading()
            try? base.close()
        }
        var generation: CopyFolder.Generation?
        try hold.whileNobodyWrites {
            try hold.advance(copy)
            try LogHold.begin(base)
            let index = try hold.index()
            let place = folder.newGeneration(CopyMoment.now())
            generation = place
            logs.append(
                try CopiedLog.make(
                    place.log,
                    CopiedLog.Head(
                        source: hold.path, pageSize: try Self.pageSize(of: base), moment: place.moment, start: index.end
                    )))
        }
        guard let generation else { return }
        do {
            try copyPages(of: base, to: generation.base, isStopped)
        } catch {
            logs.removeLast()
            unlink(generation.log)
            if error is CancellationError, isStopped() { return }
            throw error
        }
        // The others are complete.
        logs = Array(logs.suffix(1))
        baseSize = Self.size(generation.base)
        tell(.base(CopyMoment.date(generation.moment)))
        guard let keeps else { return }
        let count = try folder.removeGenerations(before: CopyMoment.now() - keeps)
        if count > 0 { tell(.removed(count: count)) }
    }

    /// An empty log doesn't show it.
    private static func pageSize(of connection: Connection) throws(RelataError) -> Int {
        guard case .integer(let size)? = try connection.value(SQLStatement("PRAGMA page_size")) else { return 0 }
        return Int(size)
    }

    private func copyPages(of base: Connection, to place: String, _ isStopped: () -> Bool) throws {
        let file = try NewFile(place, replaces: false, like: hold.path)
        let copy = try Connection(path: file.part)
        var next = Date(timeIntervalSinceNow: interval)
        do {
            try base.copyPages(to: copy) { _ in
                if isStopped() { throw CancellationError() }
                guard Date() >= next else { return }
                try copyNew()
                next = Date(timeIntervalSinceNow: interval)
            }
            try copy.close()
        } catch RelataError.fileAccess(file.part, let message) {
            try? copy.close()
            throw RelataError.fileAccess(path: place, message)
        } catch {
            try? copy.close()
            throw error
        }
        try file.finish()
    }

    private static func size(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }
}
