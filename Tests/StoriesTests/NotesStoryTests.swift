import Foundation
import Relata
import RelataStories
import Testing

@Test func notesAndTheirFilesEndUpInTheArchive() async throws {
    let told = try await Told(.notes)
    let deletion = try told.part("Delete by a condition; files go when it is committed")
    #expect(deletion[1] == "deleted: 0; files: map.png, soup.png", "a file went with a deletion that was taken back")
    #expect(deletion[2] == "deleted: 1; files: map.png")

    #expect(
        try told.part("The sorted list follows what is written")[0...1] == [
            #"["Walk round the lake", "Soup", "Shopping"]"#, #"["Shopping", "Walk round the lake", "Soup"]"#,
        ])
    let notes = try await Notebook.open(in: told.folder)
    #expect(try await notes.store.count(Note.all) == 0)
    #expect(try await notes.store.count(Bookmark.all) == 0)
    #expect(try notes.imageFiles().isEmpty)

    let archive = try await Notebook.open("archive", in: told.folder)
    let note = try #require(try await archive.note(1))
    #expect(note.title == "Walk round the lake")
    #expect(note.images.map(\.name) == ["map.png"])
    #expect(note.images[0].frame.width == 300)
    #expect(try Data(contentsOf: archive.file(of: note.images[0])) == Data("a map".utf8))
    let json = try await archive.store.rows("SELECT json_extract(images, '$[0].name') FROM Note")
    #expect(json == [["map.png"]])
    let columns = try await archive.store.rows("SELECT name FROM pragma_table_info('Note') WHERE name = 'isEditing'")
    #expect(columns.isEmpty, "a transient property is stored")
}

@Test func aNoteThatCantBeSavedLeavesNoFile() async throws {
    let told = try await Told(.notes)
    let notes = try await Notebook.open(in: told.folder)
    let image = NoteImage(name: "lost.png", frame: .init(x: 0, y: 0, width: 1, height: 1))
    await #expect(throws: RelataError.self) {
        try await notes.create(title: "", text: "x", images: [(image, Data([1]))], at: Date())
    }
    #expect(try notes.imageFiles().isEmpty)
}

@Test func dictionariesHoldEveryColumnAsItIsStored() async throws {
    let told = try await Told(.notes)
    let archive = try await Notebook.open("archive", in: told.folder)
    let rows = try await archive.store.dictionaries(Note.all)
    #expect(rows.count == 1)
    #expect(rows[0]["title"] == "Walk round the lake")
    #expect(rows[0]["noteID"] == 1)
    #expect(rows[0]["fontSize"] == 16.0)
    #expect(
        Set(rows[0].keys) == [
            "noteID", "title", "text", "textColor", "fontName", "fontSize", "creationDate", "modificationDate",
            "images",
        ])
    #expect(try await archive.store.dictionaries(Note.where { $0.noteID == 99 }).isEmpty)
}
