import Foundation
import RelataRecords
import Testing

@Test func musicDataIsMoved() async throws {
    try await example {
        let store = try RecordStore.open(temporary("music.sqlite"))
        let miles = try await store.save(Record("Artist", ["name": "Miles Davis"]))
        try await store.save(Record("Album", ["title": "Kind of Blue", "year": 1959, "artist": .link(miles)]))

        let exported = try await store.export(to: .folder(temporary("music")))
        print(exported.parts.map { "\($0.name): \($0.rows)" })

        let copy = try RecordStore.open(temporary("copy.sqlite"))
        try await copy.deploy(try await store.schema())
        let imported = try await copy.import(temporary("music"))
        print(imported.parts.map { "\($0.name): \($0.inserted)" })
        // docs: hide
        try printed(in: "Documentation/MovingData.md")
        let id = try #require(miles["id"].uuid?.uuidString)
        try "title,year,artist\nBitches Brew,MCMLXX,\(id)\n".write(
            toFile: temporary("Album.csv"), atomically: false, encoding: .utf8)
        // docs: show

        var options = ImportOptions()
        options.onConflict = .update
        do {
            try await copy.import(temporary("Album.csv"), options: options)
        } catch RelataError.validation(let failures) {
            for failure in failures { print(failure.object ?? "", failure.property ?? "", failure.message) }
        }
        // docs: hide
        try printed(in: "Documentation/MovingData.md")
        // docs: show

        try await store.backup(to: temporary("backup.sqlite"), verifies: true)
        try await store.backup(to: temporary("backup.sqlite"), replaces: true) { progress in
            if progress.fraction == 1 { print("all pages copied") }
        }
        // docs: hide
        try printed(in: "Documentation/MovingData.md")
        // docs: show

        let report = try await store.copy(to: temporary("second.sqlite"))
        print(report.parts.map { "\($0.name): \($0.rows)" }, "left out:", report.omissions.count)
        // docs: hide
        try printed(in: "Documentation/MovingData.md")
        // docs: show
    }
}

@Test func aFileIsFollowed() async throws {
    try await example {
        // docs: hide
        let library = try RecordStore.open(temporary("library.sqlite"))
        // docs: show
        let (followed, following) = AsyncStream.makeStream(of: Void.self)
        let week = Duration.seconds(7 * 24 * 3600)
        let copies = ContinuousBackup(of: temporary("library.sqlite"), to: temporary("copies"), keeping: week)
        let task = Task { try await copies.run { event in if case .base = event { following.finish() } } }
        for await _ in followed {}
        try await library.save(Record("Book", ["title": "The Dispossessed"]))
        task.cancel()
        try await task.value

        let restored = try ContinuousBackup.restore(from: temporary("copies"), to: temporary("restored.sqlite"))
        let books = try await RecordStore.open(temporary("restored.sqlite")).count(RecordQuery("Book"))
        print(books, "book, nothing missing:", restored.gap == nil)
        // docs: hide
        try printed(in: "Documentation/MovingData.md")
        // docs: show
    }
}
