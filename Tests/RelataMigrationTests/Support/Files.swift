import Foundation
import RelataEngine
import RelataSQLite

/// A database of SQLite in memory, made by SQL as another program would.
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
