import Foundation
import PostgresCluster
import RelataRecords
import TestEngines

extension RecordStore {
    /// A new, empty store on the engine that the test runs on.
    static func make(mode: Mode = .development, options: Options = Options()) throws -> RecordStore {
        guard let path = try TestDatabases.newPath() else { return try inMemory(mode: mode, options: options) }
        return try open(path, mode: mode, options: options)
    }

    /// Opens a file whose other writers are noticed soon.
    static func watching(
        _ path: String, mode: Mode = .development, changeLog: Bool = false
    ) throws -> RecordStore {
        var options = Options()
        options.externalChangeDelay = 0.01
        options.changeLog = changeLog
        return try open(path, mode: mode, options: options)
    }

    /// An artist with two albums.
    @discardableResult
    func addMusic() async throws -> (miles: Record, albums: [Record]) {
        let miles = try await save(Record("Artist", ["name": "Miles Davis"]))
        let albums = try await save([
            Record("Album", ["title": "Kind of Blue", "year": 1959, "artist": .link(miles)]),
            Record("Album", ["title": "Bitches Brew", "year": 1970, "artist": .link(miles)]),
        ])
        return (miles, albums)
    }

    /// So many changes of the log, as soon as they are shown; all that there are after half a minute.
    func changes(after position: ChangePosition, atLeast count: Int) async throws -> [LoggedChange] {
        try await polling(forAtLeast: count) { try await changes(after: position) }
    }

    func titles(_ query: RecordQuery) async throws -> [String] {
        try await fetch(query).compactMap { $0["title"].text }
    }
}
