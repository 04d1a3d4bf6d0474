import Foundation
import Relata

struct Notebook: Sendable {
    let store: Store
    let images: URL

    static func open() async throws -> Notebook {
        let images = URL(fileURLWithPath: "images", isDirectory: true)
        try FileManager.default.createDirectory(at: images, withIntermediateDirectories: true)
        return Notebook(store: try await Store.open("notes.sqlite", for: Note.self), images: images)
    }

    func files() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: images.path).sorted() }
}
