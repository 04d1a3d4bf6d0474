import Foundation
import RelataCore
import RelataEngine

/// Restores a file from a base and its log.
struct ContinuousRestore {
    private let folder: CopyFolder
    private let moment: Int64?

    /// - Parameter moment: In microseconds since 1970; `nil` for the last one.
    init(_ folder: CopyFolder, at moment: Int64?) {
        (self.folder, self.moment) = (folder, moment)
    }

    func run(_ plan: BackupPlan) throws -> ContinuousBackup.Restored {
        let generations = try folder.generations()
        guard let first = generations.first else {
            throw RelataError.invalidUse("\(folder.path) contains no continuous copies")
        }
        guard let generation = generations.last(where: { $0.moment <= moment ?? .max }) else {
            throw RelataError.invalidUse(
                "\(folder.path) contains no copy from before \(CopyMoment.text(first.moment)): choose a later one")
        }
        let log = try CopiedLog(generation.log, isWritten: false)
        let records = try Records(of: log, until: moment)
        try BackupPlace(plan, of: generation.base, key: nil).fill { path in
            try write(generation, log, records, to: path)
            let copy = try Connection(path: path)
            do {
                try BackupCheck(of: copy, as: plan.path, from: generation.base).run(comparingWith: nil)
                try copy.close()
            } catch {
                try? copy.close()
                throw error
            }
        }
        return ContinuousBackup.Restored(
            moment: CopyMoment.date(records.last?.began ?? generation.moment), gap: gap(log, records))
    }

    /// A record to restore, and its position.
    private struct Wanted {
        let record: LogRecord
        let place: Int
    }

    /// The restored part of a log.
    private struct Records {
        var wanted: [Wanted] = []
        /// Whether it is certain that nothing was written between the last of them and the moment.
        var isCertain = false

        var last: LogRecord? { wanted.last?.record }

        init(of log: CopiedLog, until moment: Int64?) throws {
            let last = moment ?? .max
            try log.forEachRecord { record, place in
                if record.ended <= last {
                    wanted.append(Wanted(record: record, place: place))
                } else {
                    isCertain = true
                }
            }
        }
    }

    /// The gap before the moment.
    private func gap(_ log: CopiedLog, _ records: Records) -> String? {
        if records.isCertain { return nil }
        var parts: [String] = []
        if let moment {
            parts.append(
                "nothing was copied between \(CopyMoment.text(log.time)) and \(CopyMoment.text(moment)): any writes in that time are missing"
            )
        }
        if log.remainder > 0 {
            parts.append("the last \(log.remainder) bytes of \(log.path) are an incomplete record, and are left out")
        }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    private func write(
        _ generation: CopyFolder.Generation, _ log: CopiedLog, _ records: Records, to path: String
    ) throws {
        let base = open(generation.base, O_RDONLY | O_CLOEXEC)
        guard base >= 0 else { throw FileFailure.error(generation.base, "opened") }
        defer { close(base) }
        let target = open(path, O_WRONLY | O_CLOEXEC)
        guard target >= 0 else { throw FileFailure.error(path, "opened") }
        defer { close(target) }
        try copy(base, base.fileSize, of: generation.base, to: target, path)
        var pages: UInt32 = 0
        let size = LogLayout.frameHeaderSize + log.head.pageSize
        for wanted in records.wanted {
            let (record, place) = (wanted.record, wanted.place)
            let isWhole = try log.frames(of: record, at: place) { frames in
                for start in stride(from: 0, to: frames.count, by: size) {
                    let frame = UnsafeRawBufferPointer(rebasing: frames[start..<start + size])
                    let page = Int(FrameHeader(frame).page)
                    try target.write(
                        UnsafeRawBufferPointer(rebasing: frame[LogLayout.frameHeaderSize...]),
                        at: (page - 1) * log.head.pageSize, of: path)
                }
            }
            guard isWhole else {
                throw RelataError.corruptStore(
                    "\(log.path) is damaged: choose a moment before \(CopyMoment.text(record.began))")
            }
            if record.frameCount > 0 { pages = record.pages }
        }
        guard pages == 0 || ftruncate(target, off_t(pages) * off_t(log.head.pageSize)) == 0 else {
            throw FileFailure.error(path, "written")
        }
    }

    private func copy(_ source: Int32, _ size: Int, of name: String, to target: Int32, _ path: String) throws {
        var place = 0
        while place < size {
            let count = min(1 << 20, size - place)
            guard let bytes = try source.read(count, at: place, of: name) else {
                throw RelataError.corruptStore("\(name) is shorter than it was")
            }
            try bytes.withUnsafeBytes { bytes in try target.write(bytes, at: place, of: path) }
            place += count
        }
    }
}
