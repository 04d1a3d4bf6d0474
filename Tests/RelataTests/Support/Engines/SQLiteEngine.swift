import Relata

extension Engine {
    /// SQLite, in memory and in files.
    static let sqlite: [Engine] = [sqliteMemory, sqliteFile]

    static let sqliteMemory = Engine(name: "sqliteMemory", isShared: false) { _, models, options in
        try Store.inMemory(for: models, options: options)
    }

    static let sqliteFile = Engine(name: "sqliteFile", isShared: true) { database, models, options in
        try TestStore.open(TestStore.path(in: database), for: models, options: options)
    }
}

extension TestStore {
    /// Opens a file, from code that is async too.
    static func open(
        _ path: String, for models: [any Model.Type], options: Store.Options = Store.Options()
    ) throws -> Store {
        try Store.open(path, for: models, options: options)
    }
}
