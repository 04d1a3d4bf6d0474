import BenchmarkReport
import Foundation

/// Parts of workloads that run in separate processes, because their peak memory is measured.
enum ChildProcess {
    /// Runs a part, and returns the peak memory of its process in megabytes.
    static func peak(_ part: String, _ file: String) throws -> Double {
        try ChildPeak.measure(["--child", part, file])
    }

    /// Does the part that the process was started for, and prints its peak memory.
    static func run(_ arguments: [String]) async throws {
        guard arguments.count == 2 else { throw Failure("a child takes a part and a file") }
        guard try await run(arguments[0], arguments[1]) != 0 else { throw Failure("\(arguments[0]) found nothing") }
        print(try ChildPeak.ofThisProcess())
    }

    private static func run(_ part: String, _ file: String) async throws -> Int {
        switch part {
        case "stream-ours": return try Memory.streamOurs(file)
        case "stream-limit": return try Memory.streamLimit(file)
        case "stream-codable": return try Memory.streamCodable(file)
        case "export": return try Transfer.exportLines(of: file)
        case "import": return try Transfer.importLines(into: file)
        case "graph-ours": return try GraphBooks.fetchOurs(file)
        case "graph-limit": return try GraphBooks.fetchLimit(file)
        case "graph-codable": return try GraphBooks.fetchCodable(file)
        default:
            // The part and its number of repetitions: `save-ours-1000`.
            guard let end = part.lastIndex(of: "-"), let count = Int(part[part.index(after: end)...]) else {
                throw Failure("no part is named \(part)")
            }
            switch part[..<end] {
            case "save-ours": return try Memory.saveOurs(file, count)
            case "save-limit": return try Memory.saveLimit(file, count)
            default: return try await ObserveMemory.observe(file, commits: count)
            }
        }
    }
}
