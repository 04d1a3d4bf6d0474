import Foundation
import Relata

extension Story {
    /// Notes with image files: saving and deleting, rows as dictionaries, a key of two columns, two stores at once.
    public static let notes = Story(
        "notes", "notes with pictures, whose files go only when a deletion is committed"
    ) { transcript, folder in
        let notebook = try await Notebook.open(in: folder)
        try await create(notebook, transcript)
        try await change(notebook, transcript)
        try await watch(notebook, transcript)
        try await plainRows(notebook, transcript)
        try await delete(notebook, transcript)
        try await bookmarks(notebook, transcript)
        try await twoStores(notebook, folder, transcript)
        try notebook.store.close()
    }

    private static func create(_ notebook: Notebook, _ transcript: Transcript) async throws {
        transcript.part("Create")
        let map = NoteImage(name: "map.png", frame: .init(x: 10, y: 20, width: 300, height: 200))
        let first = try await notebook.create(
            title: "Walk round the lake", text: "Start at the boathouse.", images: [(map, Data("a map".utf8))],
            at: day(1))
        transcript.say("note \(first.noteID ?? 0): \(first.title), with \(map.name)")
        let second = try await notebook.create(title: "Shopping", text: "Rice, tea, lamp oil", at: day(2))
        transcript.say("note \(second.noteID ?? 0): \(second.title)")
        let soup = NoteImage(name: "soup.png", frame: .init(x: 0, y: 0, width: 120, height: 90))
        let third = try await notebook.create(
            title: "Soup", text: "Leek, potato, cream.", images: [(soup, Data("a soup".utf8))], at: day(3))
        transcript.say("note \(third.noteID ?? 0): \(third.title), with \(soup.name)")
        try await transcript.refused("without a title") {
            try await notebook.create(title: "", text: "Who am I?", at: day(3))
        }
        try await transcript.refused("without text") {
            try await notebook.create(title: "Blank", text: " ", at: day(3))
        }
        transcript.say("files: \(try notebook.imageFiles().joined(separator: ", "))")
    }

    private static func change(_ notebook: Notebook, _ transcript: Transcript) async throws {
        transcript.part("Newest first; load one by its key; update")
        try await list(notebook, transcript)
        var walk = try await notebook.note(1).orThrow("note 1")
        transcript.say("note 1: “\(walk.text)”, \(walk.fontName) \(walk.fontSize)")
        for image in walk.images {
            let frame = image.frame
            transcript.say("  \(image.name) at (\(frame.x), \(frame.y)), \(frame.width) × \(frame.height)")
        }
        walk.isEditing = true
        _ = try await notebook.store.save(walk)
        transcript.say("isEditing is true here, and after a fetch: \(try await notebook.note(1)?.isEditing ?? false)")
        try await notebook.update(1, at: day(4)) { $0.text = "Start at the mill, the boathouse is closed." }
        transcript.say("updated note 1; there are still \(try await notebook.store.count(Note.all)) notes")
        try await list(notebook, transcript)
        let twin = Note(noteID: 1, title: "Twin", text: "Am I 1?", creationDate: day(4), modificationDate: day(4))
        try await transcript.refused("add a note 1") { try await notebook.add(twin) }
    }

    private static func watch(_ notebook: Notebook, _ transcript: Transcript) async throws {
        transcript.part("The sorted list follows what is written")
        var lists = notebook.observeNotes().makeAsyncIterator()
        func next() async throws {
            transcript.say("\(try await lists.next().orThrow("list").map(\.title))")
        }
        try await next()
        try await notebook.update(2, at: day(5)) { $0.text += ", candles" }
        try await next()
        try await notebook.create(title: "Draft", text: "…", at: day(6))
        try await next()
        try await notebook.delete(Note.where { $0.title == "Draft" })
        try await next()
        try await notebook.update(2, at: day(2)) { $0.text = "Rice, tea, lamp oil" }
        try await next()
    }

    private static func plainRows(_ notebook: Notebook, _ transcript: Transcript) async throws {
        transcript.part("The same rows as plain dictionaries")
        for row in try await notebook.store.dictionaries(Note.where { $0.noteID == 2 }) {
            for name in row.keys.sorted() { transcript.say("\(name): \(row[name] ?? .null)") }
        }
    }

    private static func delete(_ notebook: Notebook, _ transcript: Transcript) async throws {
        transcript.part("Delete by a condition; files go when it is committed")
        let soups = Note.where { $0.title.contains("soup", .caseInsensitive) }
        let report = try await notebook.delete(soups) { report in
            transcript.say("about to delete \(report.deletedCount) note: no, thank you")
            return false
        }
        transcript.say(
            "deleted: \(report?.deletedCount ?? 0); files: \(try notebook.imageFiles().joined(separator: ", "))")
        let done = try await notebook.delete(soups)
        transcript.say(
            "deleted: \(done?.deletedCount ?? 0); files: \(try notebook.imageFiles().joined(separator: ", "))")
        try await list(notebook, transcript)
    }

    private static func bookmarks(_ notebook: Notebook, _ transcript: Transcript) async throws {
        let store = notebook.store
        transcript.part("A key of two columns: one bookmark for each note and device")
        try await store.save([
            Bookmark(note: ToOne(id: 1), device: "desk", line: 12),
            Bookmark(note: ToOne(id: 1), device: "phone", line: 3),
            Bookmark(note: ToOne(id: 2), device: "phone", line: 1),
        ])
        try await store.save(Bookmark(note: ToOne(id: 1), device: "phone", line: 40))
        transcript.say("saved 4, of which one was there: \(try await store.count(Bookmark.all)) bookmarks")
        let key = Bookmark.Key(note: 1, device: "phone")
        transcript.say("note 1 on the phone: line \(try await store.fetch(Bookmark.self, id: key)?.line ?? 0)")
        transcript.report("delete note 2", try await notebook.delete(Note.where { $0.noteID == 2 }).orThrow("report"))
    }

    private static func twoStores(_ notebook: Notebook, _ folder: URL, _ transcript: Transcript) async throws {
        transcript.part("Two stores open at once: a note moves to the archive")
        let archive = try await Notebook.open("archive", in: folder)
        let note = try await notebook.note(1).orThrow("note 1")
        try await archive.add(note)
        for image in note.images {
            try FileManager.default.copyItem(at: notebook.file(of: image), to: archive.file(of: image))
        }
        try await notebook.delete(Note.where { $0.noteID == 1 })
        for (name, book) in [("notes", notebook), ("archive", archive)] {
            let titles = try await book.notes().map(\.title)
            transcript.say("\(name): \(titles.count) note(s) \(titles), files \(try book.imageFiles())")
        }
        try archive.store.close()
    }

    private static func list(_ notebook: Notebook, _ transcript: Transcript) async throws {
        for note in try await notebook.notes() {
            transcript.say("\(note.modificationDate.formatted(.iso8601))  \(note.title)")
        }
    }

    /// A fixed day in spring, so that the transcript is always the same.
    private static func day(_ number: Int) -> Date {
        Date(timeIntervalSince1970: 1_772_366_400 + Double(number) * 86_400)
    }
}
