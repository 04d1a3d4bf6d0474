import Foundation
import Relata
import Testing

/// What a behaviour is tested on.
///
/// The suites in `Conformance` say what every engine does: what models, saves, deletes and queries mean. Another engine
/// is another case here, and runs them as they are. What belongs to SQLite alone, such as its files, statements and
/// plans, is tested elsewhere, or with a case of it by name.
enum Engine: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case sqliteMemory, sqliteFile

    var testDescription: String { rawValue }
}

/// Where tests get their stores from.
enum TestStore {
    /// A new, empty store.
    static func make(
        _ engine: Engine, for models: any Model.Type..., options: Store.Options = Store.Options()
    ) throws -> Store {
        switch engine {
        case .sqliteMemory: try Store.inMemory(for: models, options: options)
        case .sqliteFile: try open(path(), for: models, options: options)
        }
    }

    /// A path that no other test uses; the file goes with the process.
    static func path(_ name: String = "store.sqlite") -> String {
        let folder = folder.appending(path: UUID().uuidString)
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder.appending(path: name).path(percentEncoded: false)
    }

    /// Opens a file, from code that is async too.
    static func open(
        _ path: String, for models: [any Model.Type], options: Store.Options = Store.Options()
    ) throws -> Store {
        try Store.open(path, for: models, options: options)
    }

    private static let folder: URL = {
        let name = "relata-tests-\(ProcessInfo.processInfo.processIdentifier)"
        let folder = FileManager.default.temporaryDirectory.appending(path: name)
        atexit { try? FileManager.default.removeItem(at: TestStore.folder) }
        return folder
    }()
}
