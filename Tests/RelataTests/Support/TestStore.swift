import Foundation
import Relata

/// Makes stores and files for tests.
enum TestStore {
    /// A new, empty store.
    static func make(
        _ engine: Engine, for models: any Model.Type..., options: Store.Options = Store.Options()
    ) throws -> Store {
        try engine.open(UUID().uuidString, models, options)
    }

    /// A path in a folder that no other test uses; the file is deleted at the end of the process.
    static func path(_ name: String = "store.sqlite", in folder: String = UUID().uuidString) -> String {
        let folder = Self.folder.appending(path: folder)
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder.appending(path: name).path(percentEncoded: false)
    }

    private static let folder: URL = {
        let name = "relata-tests-\(ProcessInfo.processInfo.processIdentifier)"
        let folder = FileManager.default.temporaryDirectory.appending(path: name)
        atexit { try? FileManager.default.removeItem(at: TestStore.folder) }
        return folder
    }()
}
