import Foundation
import Relata

/// The operations on notes, whose image files are in a folder beside the store.
public struct Notebook: Sendable {
    /// The database.
    public let store: Store
    /// The folder of the image files.
    public let imageFolder: URL

    /// Opens a notebook of a folder: `NAME.sqlite` and the folder `NAME images`.
    public static func open(_ name: String = "notes", in folder: URL) async throws -> Notebook {
        let images = folder.appendingPathComponent("\(name) images", isDirectory: true)
        try FileManager.default.createDirectory(at: images, withIntermediateDirectories: true)
        let path = folder.appendingPathComponent("\(name).sqlite").path
        return Notebook(store: try await Store.open(path, for: Note.self), imageFolder: images)
    }

    // MARK: Reading

    /// All notes, the last changed one first.
    public func notes() async throws -> [Note] {
        try await store.fetch(Note.sorted { $0.modificationDate.descending })
    }

    /// All notes as they change, the last changed one first.
    public func observeNotes() -> ObservedValues<Query<Note>> {
        store.observe(Note.sorted { $0.modificationDate.descending })
    }

    /// One note by its key, or `nil`.
    public func note(_ id: Int) async throws -> Note? { try await store.fetch(Note.self, id: id) }

    // MARK: Writing

    /// Makes a note. Image files are written first, so that no note refers to a file that isn't there.
    @discardableResult
    public func create(title: String, text: String, images: [(NoteImage, Data)] = [], at date: Date) async throws
        -> Note
    {
        var written: [URL] = []
        do {
            for (image, data) in images {
                // Another note's file of that name is left alone.
                try data.write(to: file(of: image), options: .withoutOverwriting)
                written.append(file(of: image))
            }
            return try await store.insert(
                Note(title: title, text: text, creationDate: date, modificationDate: date, images: images.map(\.0)))
        } catch {
            for file in written { try? FileManager.default.removeItem(at: file) }
            throw error
        }
    }

    /// Adds a note with the key it has, which must not exist.
    @discardableResult
    public func add(_ note: Note) async throws -> Note { try await store.insert(note) }

    /// Changes a note: writes what changed, and makes no second one.
    @discardableResult
    public func update(
        _ id: Int, at date: Date, _ change: @escaping @Sendable (inout Note) throws -> Void
    ) async throws -> Note {
        try await store.update(Note.self, id: id) {
            try change(&$0)
            $0.modificationDate = date
        }
    }

    /// Deletes notes, if `confirm` accepts the objects that would be deleted with them. Their image files are deleted
    /// only once the deletion is committed: a file can't be brought back, a transaction can be rolled back.
    ///
    /// - Returns: The report of the deletion; `nil` if it wasn't confirmed.
    @discardableResult
    public func delete(
        _ notes: Query<Note>, confirm: @escaping @Sendable (DeletionReport) -> Bool = { _ in true }
    ) async throws -> DeletionReport? {
        do {
            let (report, images) = try await store.write { tx in
                let images = try tx.fetch(notes).flatMap(\.images)
                let report = try tx.delete(notes)
                guard confirm(report) else { throw Rollback() }
                return (report, images)
            }
            for image in images { try? FileManager.default.removeItem(at: file(of: image)) }
            return report
        } catch is Rollback {
            return nil
        }
    }

    // MARK: Files

    /// The file of a picture.
    public func file(of image: NoteImage) -> URL { imageFolder.appendingPathComponent(image.name) }

    /// The names of all image files, sorted.
    public func imageFiles() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: imageFolder.path).sorted()
    }
}
