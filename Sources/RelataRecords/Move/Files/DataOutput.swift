import Foundation
import RelataCore
import RelataSQLite

/// A file that is written from its beginning to its end and has its name once it is whole, or standard output.
final class DataOutput {
    private let file: NewFile?

    /// Standard output.
    init() { file = nil }

    /// A file.
    init(_ file: NewFile) { self.file = file }

    /// Appends bytes.
    func write(_ bytes: [UInt8]) throws {
        try Task.checkCancellation()
        try bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Foundation.write(
                    file?.descriptor ?? 1, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw Self.failure(file?.path ?? "standard output") }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// Flushes the contents to the disk. Nothing can be written any more.
    func complete() throws(RelataError) { try file?.complete() }

    /// Gives the file its name.
    func finish() throws(RelataError) { try file?.finish() }

    private static func failure(_ path: String) -> RelataError {
        errno == ENOSPC
            ? .noSpaceLeft(path) : .fileAccess(path: path, "can't be written: \(String(cString: strerror(errno)))")
    }
}
