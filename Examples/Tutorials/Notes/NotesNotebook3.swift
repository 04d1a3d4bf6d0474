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

    func create(_ note: Note, files: [String: Data] = [:]) async throws {
        var written: [URL] = []
        do {
            for (name, data) in files {
                let file = images.appendingPathComponent(name)
                try data.write(to: file, options: .withoutOverwriting)
                written.append(file)
            }
            try await store.insert(note)
        } catch {
            for file in written { try? FileManager.default.removeItem(at: file) }
            throw error
        }
    }

    func delete(_ notes: Query<Note>, confirm: @escaping @Sendable (DeletionReport) -> Bool) async throws -> Bool {
        do {
            let pictures = try await store.write { tx in
                let pictures = try tx.fetch(notes).flatMap(\.images)
                guard confirm(try tx.delete(notes)) else { throw Rollback() }
                return pictures
            }
            for picture in pictures {
                try? FileManager.default.removeItem(at: images.appendingPathComponent(picture.name))
            }
            return true
        } catch is Rollback {
            return false
        }
    }
}
