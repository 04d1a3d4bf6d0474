import Foundation
import RelataCore
import RelataEngine
import RelataSQLite

/// A database in memory, made by SQL as another program would.
func database(_ sql: String = "") throws -> Connection {
    let connection = try Connection(path: nil)
    try connection.execute(sql)
    return connection
}

/// A file in a folder of its own that goes with the object.
final class TemporaryFile {
    let path: String
    private let folder: URL

    init(_ name: String = "test.sqlite") throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("relata-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.appendingPathComponent(name).path
    }

    deinit { try? FileManager.default.removeItem(at: folder) }
}

/// Data for tests that stands beside the project; found by walking up from this file.
enum SharedData {
    static let chinook = find("chinook.sqlite")

    private static func find(_ name: String) -> String? {
        var folder = URL(fileURLWithPath: #filePath)
        while folder.pathComponents.count > 1 {
            folder.deleteLastPathComponent()
            let file = folder.appendingPathComponent("shared/data/\(name)").path
            if FileManager.default.fileExists(atPath: file) { return file }
        }
        return nil
    }
}

extension Connection {
    /// All rows of a query as text, columns separated by `|`.
    func lines(_ sql: String) throws -> [String] {
        try values(SQLStatement(sql)).map { $0.map(\.description).joined(separator: "|") }
    }
}

/// A generator with a seed, so that a failure can be had again.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
