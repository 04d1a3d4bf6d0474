import Foundation
import RelataCore
import RelataEngine
import RelataSQLite

/// A database of SQLite in memory, made by SQL as another program would.
package func database(_ sql: String = "") throws -> Connection {
    let connection = try Connection(path: nil)
    try connection.execute(sql)
    return connection
}

extension Connection {
    /// All rows of a query as text, columns separated by `|`.
    package func lines(_ sql: String) throws -> [String] {
        try values(SQLStatement(sql)).map { $0.map(\.description).joined(separator: "|") }
    }
}

/// A file in its own folder that is deleted with the object.
package final class TemporaryFile {
    /// The file's path.
    package let path: String
    private let folder: URL

    /// Creates the folder, but not the file.
    package init(_ name: String = "test.sqlite") throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("relata-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.appendingPathComponent(name).path
    }

    deinit { try? FileManager.default.removeItem(at: folder) }
}

/// Data for tests in the project; found by walking up from this file.
package enum SharedData {
    /// The sample database Chinook; `nil` where it doesn't exist.
    package static let chinook = find("chinook.sqlite")

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
