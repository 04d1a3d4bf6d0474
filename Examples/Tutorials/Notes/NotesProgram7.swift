import Foundation
import Relata

@main struct Notes {
    static func main() async throws {
        let notebook = try await Notebook.open()
        try await fill(notebook)

        let notes = try await notebook.store.fetch(Note.all)
        try await notebook.store.save(notes.map { Bookmark(note: ToOne($0), device: "phone", line: 3) })
        try await notebook.store.save(Bookmark(note: ToOne(notes[0]), device: "phone", line: 40))
        let key = Bookmark.Key(note: notes[0].id, device: "phone")
        print("line", try await notebook.store.fetch(Bookmark.self, id: key)?.line ?? 0)
        print(try await notebook.store.count(Bookmark.all), "bookmarks")
        try notebook.store.close()
    }

    static func fill(_ notebook: Notebook) async throws {
        let known = try await notebook.store.fetch(Note.all).map(\.title)
        if !known.contains("Walk round the lake") {
            let map = NoteImage(name: "map.png", x: 10, y: 20)
            try await notebook.create(
                Note(title: "Walk round the lake", text: "Start at the boathouse.", images: [map]),
                files: ["map.png": Data("a map".utf8)])
        }
        if !known.contains("Shopping") {
            try await notebook.create(Note(title: "Shopping", text: "Rice, tea, lamp oil"))
        }
    }
}
