import Foundation

#if PostgreSQL
import PostgresCluster
import RelataCore
import RelataPostgres
#endif

/// Databases of a single test, on the engine that it runs on: files in a folder that is deleted with the object, or
/// schemas of the tests' server, which ends with the process.
package final class TestDatabases: Sendable {
    private let engine = TestEngine.current
    private let folder: URL

    /// Makes none yet.
    package init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("relata-\(UUID().uuidString)")
        if engine == .sqlite { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }
    }

    deinit { if engine == .sqlite { try? FileManager.default.removeItem(at: folder) } }

    /// The location of a database, as stores are opened with it: the path of a file, which may not exist yet, or a URL.
    package func path(_ name: String = "store.sqlite") throws -> String {
        #if PostgreSQL
        if engine == .postgres {
            let letters = "\(folder.lastPathComponent)_\(name)".lowercased().filter { $0.isLetter || $0.isNumber }
            return try Self.url(ofSchema: String(letters.suffix(60)))
        }
        #endif
        return folder.appendingPathComponent(name).path
    }

    /// The location of a new database; `nil` for one in memory.
    package static func newPath() throws -> String? {
        #if PostgreSQL
        if TestEngine.current == .postgres {
            return try url(ofSchema: "t" + UUID().uuidString.lowercased().filter { $0 != "-" })
        }
        #endif
        return nil
    }

    #if PostgreSQL
    private static func url(ofSchema schema: String) throws -> String {
        let url = try PrivateCluster.shared.url()
        let session = try Session(PostgresURL(url))
        defer { session.close() }
        try session.run("CREATE SCHEMA IF NOT EXISTS \"\(schema)\"")
        return url + "&options=-csearch_path%3D" + schema
    }
    #endif
}
