import Foundation
import RelataCore

/// A folder of continuous copies: bases, each with its log.
struct CopyFolder {
    /// A base and the log that continues it, with its moment in their names.
    struct Generation: Hashable {
        let base: String
        let log: String
        /// The moment of the base, in microseconds since 1970.
        let moment: Int64
    }

    let path: String

    init(_ path: String) { self.path = path }

    // MARK: Contents

    /// All bases, the oldest first.
    ///
    /// - Throws: ``RelataError/fileAccess(path:_:)`` for a folder that can't be read.
    func generations() throws -> [Generation] {
        let names = try fileNames()
        return names.filter { $0.hasSuffix(Self.baseSuffix) }.compactMap { name in
            let stem = String(name.dropLast(Self.baseSuffix.count))
            guard let moment = Self.moment(stem), names.contains(stem + Self.logSuffix) else { return nil }
            return generation(stem, moment)
        }.sorted { $0.moment < $1.moment }
    }

    private func fileNames() throws -> Set<String> {
        do {
            return Set(try FileManager.default.contentsOfDirectory(atPath: path))
        } catch {
            throw RelataError.fileAccess(path: path, "can't be read as a folder of continuous copies: is it one?")
        }
    }

    /// The names of a new base.
    func newGeneration(_ moment: Int64) -> Generation { generation(Self.name(moment), moment) }

    private func generation(_ stem: String, _ moment: Int64) -> Generation {
        Generation(
            base: "\(path)/\(stem)\(Self.baseSuffix)", log: "\(path)/\(stem)\(Self.logSuffix)", moment: moment)
    }

    // MARK: Writing

    /// Creates the folder if it doesn't exist, and locks it.
    ///
    /// - Returns: The lock, which lasts until it is closed.
    func lock() throws(RelataError) -> Int32 {
        if !FileManager.default.fileExists(atPath: path) {
            // As private as the copies of a file that only its owner reads.
            guard mkdir(path, 0o700) == 0 else { throw FileFailure.error(path, "made") }
        }
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileFailure.error(path, "opened as a folder") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else {
            close(descriptor)
            throw .busy("\(path) is in use: another process copies to it")
        }
        guard access(path, W_OK) == 0 else {
            close(descriptor)
            throw .fileAccess(path: path, "the folder can't be written: change its permissions")
        }
        return descriptor
    }

    /// Removes logs without a base, which an interruption left.
    func removeLeftovers() throws {
        let names = try fileNames()
        for name in names where name.hasSuffix(Self.logSuffix) {
            let stem = String(name.dropLast(Self.logSuffix.count))
            guard Self.moment(stem) != nil, !names.contains(stem + Self.baseSuffix) else { continue }
            unlink("\(path)/\(name)")
        }
    }

    /// Removes copies that only moments before a time need.
    ///
    /// - Returns: The number of removed bases.
    func removeGenerations(before time: Int64) throws -> Int {
        let all = try generations()
        var count = 0
        for (old, next) in zip(all, all.dropFirst()) where next.moment <= time {
            unlink(old.base)
            unlink(old.log)
            count += 1
        }
        return count
    }

    // MARK: Names

    private static let baseSuffix = ".sqlite"
    private static let logSuffix = ".changes"

    /// `20261126T080000.000000Z`
    private static func name(_ moment: Int64) -> String {
        CopyMoment.text(moment).filter { $0 != "-" && $0 != ":" }
    }

    private static func moment(_ name: String) -> Int64? {
        let digits = Array(name)
        guard digits.count == 23, digits[8] == "T", digits[15] == ".", digits[22] == "Z" else { return nil }
        func part(_ range: Range<Int>) -> String { String(digits[range]) }
        return CopyMoment.microseconds(
            "\(part(0..<4))-\(part(4..<6))-\(part(6..<8))T\(part(9..<11)):\(part(11..<13)):\(part(13..<22))Z")
    }
}

/// Times of copies, in microseconds since 1970.
enum CopyMoment {
    static func now() -> Int64 { microseconds(Date()) }

    static func microseconds(_ date: Date) -> Int64 {
        Int64(exactly: (date.timeIntervalSince1970 * 1_000_000).rounded()) ?? 0
    }

    static func date(_ moment: Int64) -> Date { Date(timeIntervalSince1970: Double(moment) / 1_000_000) }

    /// `2026-11-26T08:00:00.000000Z`
    static func text(_ moment: Int64) -> String {
        Value(microseconds: moment, encoding: .iso8601)?.description ?? "\(moment)"
    }

    static func microseconds(_ text: String) -> Int64? {
        guard case .integer(let moment)? = Value.text(text).stored(as: .date(.microseconds)) else { return nil }
        return moment
    }
}
