import Foundation
import Relata

@main struct Notes {
    static func main() async throws {
        let notebook = try await Notebook.open()
        try await fill(notebook)

        do {
            try await notebook.create(Note(title: "", text: "Who am I?"), files: ["me.png": Data("me".utf8)])
        } catch {
            print(error)
        }
        print("files:", try notebook.files())
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
