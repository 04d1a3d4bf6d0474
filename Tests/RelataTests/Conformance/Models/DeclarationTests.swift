import Foundation
import Relata
import Testing

@Model(table: "tbl \"notes\"") struct Note: Codable {
    @Attribute(column: "note-id") let id: Int?
    @Attribute(.unique, column: "the \"title\"") var title: String
    @Attribute(column: "select") var body: String = ""
    @Relationship(columns: ["note's parent"]) var parent: ToOne<Note>?
    @Relationship(inverse: \Note.parent) var replies: ToMany<Note>
    @Relationship(joinTable: "links 'x'", joinColumns: ["from", "to"]) var links: ToMany<Note>
}

@Model struct Order {
    @Attribute(.primaryKey) let `where`: Int
    var select: String = "x"
    var group: ToOne<Group>?
    var `default`: Bool = true
    var table: String = ""
    var index: Int = 0
}

@Model struct Group {
    let id: ID<Group>
    @Attribute(.unique) var values: Int
    var from: Date = Date(timeIntervalSince1970: 0)
    @Relationship(inverse: \Order.group, ordered: true) var order: ToMany<Order>
}

private enum Weather: String, Codable { case calm, wild }

/// A model that more can see than the types of some of its properties.
@Model struct Logbook {
    let id: Relata.ID<Logbook>
    fileprivate var mood: Weather = .calm
    fileprivate var former: Weather?
    fileprivate var moods: [Weather] = []
    private(set) var pages: Int = 0
    var text: String
}

enum Archive {
    @Model struct Book {
        let id: ID<Archive.Book>
        var title: String
        var shelf: ToOne<Archive.Shelf>?
    }

    @Model struct Shelf {
        let id: ID<Archive.Shelf>
        @Relationship(inverse: \Archive.Book.shelf) var books: ToMany<Archive.Book>
    }
}

@Model struct Hidden {
    let id: ID<Hidden>
    private var secret: String = "s"
    private(set) var count: Int
    fileprivate var note: String?
    @Transient var cache: [Int] = [1]
    @Transient let fixed = 3
    var doubled: Int { count * 2 }
    static let shared = 1

    mutating func tell(_ text: String) {
        secret = text
        count += 1
    }
    var told: String { secret }
}

@Model struct Page: Codable {
    let id: ID<Page>
    var text: String
    var chapter: ToOne<Chapter>?
}

@Model struct Chapter: Codable {
    let id: ID<Chapter>
    var title: String
    @Relationship(inverse: \Page.chapter) var pages: ToMany<Page>
}

/// The parts of a declaration besides its attributes.
@Suite struct DeclarationTests {
    @Test(arguments: Engine.allCases) func givenNamesAreUsedUnchanged(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Note.self)
        var note = Note(title: "a", body: "it's \"b\"", parent: ToOne(Note(title: "parent")))
        note.links.add(Note(title: "linked"))
        let saved = try store.insert(note)
        #expect(try store.fetch(Note.where { $0.parent.title == "parent" }).map(\.body) == ["it's \"b\""])
        #expect(try store.fetch(Note.where { $0.links.contains { $0.title == "linked" } }).map(\.id) == [saved.id])
        let rows = try store.rows(
            #"SELECT "the ""title""", "select" FROM "tbl ""notes""" WHERE "note's parent" IS NOT NULL"#)
        #expect(rows == [["a", "it's \"b\""]])
        #expect(try store.rows(#"SELECT count(*) FROM "links 'x'" WHERE "from" <> "to""#) == [[1]])
        #expect(thrown { try store.insert(Note(title: "a")) }.map { "\($0)" }?.contains("title") == true)
        try store.update(Note.where { $0.title == "linked" }) { $0.body.set(to: "x") }
        let report = try store.delete(saved)
        #expect(report.deletedCount == 1)
        #expect(try store.count(Note.all) == 2)
    }

    @Test(arguments: Engine.allCases) func keywordsAreNames(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Order.self)
        var group = Group(values: 7)
        group.order.add([Order(where: 2, select: "b"), Order(where: 1, default: false)])
        let saved = try store.insert(group)
        #expect(try store.related(to: saved) { $0.order }.map(\.where) == [2, 1])
        #expect(try store.fetch(Order.where { $0.group.values == 7 && !$0.default }).map(\.select) == ["x"])
        #expect(try store.fetch(Order.sorted { $0.select }.limit(1)).map(\.where) == [2])
        try store.update(Order.self, id: 1) { $0.index = 4 }
        try store.save([Order(where: 1, table: "t", index: 5)])
        #expect(try store.fetch(Order.self, id: 1)?.table == "t")
        #expect(try store.delete(Group.all).deletedCount == 1)
        #expect(try store.count(Order.where { $0.group == nil }) == 2)
    }

    @Test(arguments: Engine.allCases) func nestedModelsAreModels(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Archive.Book.self)
        #expect(Archive.Book.entityName == "Archive.Book")
        let book = try store.insert(Archive.Book(title: "t", shelf: ToOne(Archive.Shelf())))
        #expect(try store.fetch(Archive.Shelf.where { $0.books.contains(book) }).count == 1)
        #expect(try store.rows(#"SELECT "title" FROM "Book""#) == [["t"]])
    }

    @Test(arguments: Engine.allCases) func privatePropertiesAreStoredAndTransientOnesAreNot(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Hidden.self)
        var hidden = Hidden(count: 1)
        hidden.tell("told")
        hidden.note = "n"
        hidden.cache = [7, 8]
        let saved = try store.insert(hidden)
        #expect(saved.cache == [7, 8])
        let stored = try #require(try store.fetch(Hidden.self, id: hidden.id))
        #expect(stored.told == "told" && stored.count == 2 && stored.note == "n")
        #expect(stored.cache == [1] && stored.fixed == 3 && stored.doubled == 4)
        #expect(Hidden.entity.properties.map(\.name) == ["id", "secret", "count", "note"])
    }

    @Test func equalityComparesAllPropertiesAndTheHashUsesTheKey() throws {
        let genre = Genre(name: "a")
        var book = Book(title: "t", genre: ToOne(genre))
        let other = book
        #expect(book == other && book.hashValue == other.hashValue)
        book.isSelected = true
        #expect(book != other && book.hashValue == other.hashValue)
        book = other
        book.genre = ToOne(id: genre.id)
        #expect(book != other)
        book = other
        book.authors.add(Author(name: "x"))
        #expect(book != other && Set([book, other]).count == 2)
        #expect(Book(id: book.id, title: "t", genre: ToOne(genre)) == other)
        let place = Place(latitude: 1)
        let sample = RichSample(place: place)
        #expect(sample == RichSample(id: sample.id, place: place))
        #expect(sample != RichSample(id: sample.id, place: Place(latitude: 2)))
    }

    @Test func modelsAreCodableOnRequest() throws {
        var chapter = Chapter(title: "c")
        let page = Page(text: "p", chapter: ToOne(chapter))
        chapter.pages.set([Page(text: "q", chapter: ToOne(id: chapter.id))])
        let back = try JSONDecoder().decode(Page.self, from: JSONEncoder().encode(page))
        #expect(back.id == page.id && back.chapter?.id == chapter.id && back.chapter?.loaded?.title == "c")
        let whole = try JSONDecoder().decode(Chapter.self, from: JSONEncoder().encode(chapter))
        #expect(whole.pages.loaded?.map(\.text) == ["q"] && whole.pages.loaded?[0].chapter?.id == chapter.id)
        #expect(!whole.pages.hasEdits)
    }

    @Test func otherLinksAreCodableWithTheirModels() throws {
        func decoded<Link: Codable>(_ json: String) throws -> [Link] {
            // A link is the same after each way there and back.
            let links = try JSONDecoder().decode([Link].self, from: Data(json.utf8))
            return try JSONDecoder().decode([Link].self, from: JSONEncoder().encode(links))
        }
        let encoded = try JSONEncoder().encode(Page(text: "p", chapter: ToOne(Chapter(title: "c"))))
        let page = String(decoding: encoded, as: UTF8.self)
        let through: [Through<Page>] = try decoded("[[\(page),\(page)],[],null]")
        #expect(through.map(\.isLoaded) == [true, true, false])
        #expect(try through[0].objects.map(\.text) == ["p", "p"] && through[1].objects.isEmpty)
        #expect(thrown { try through[2].objects }?.kind == "notLoaded")
        let partners: [HasOne<Page>] = try decoded("[\(page),null]")
        #expect(partners.map(\.isLoaded) == [true, false])
        #expect(try partners[0].object?.text == "p" && !partners[0].hasEdits)
        #expect(thrown { try partners[1].object }?.kind == "notLoaded")
    }

    @Test func errorsInLinkedJSONAreReported() throws {
        func path(_ json: String) -> String {
            do {
                return try "\(JSONDecoder().decode(Note.self, from: Data(json.utf8)).parent?.id ?? 0)"
            } catch DecodingError.typeMismatch(let type, let context) {
                return "\(context.codingPath.map(\.stringValue)) \(type)"
            } catch DecodingError.keyNotFound(let key, let context) {
                return "\(context.codingPath.map(\.stringValue)) lacks \(key.stringValue)"
            } catch {
                return "\(error)"
            }
        }
        func note(_ parent: String) -> String {
            #"{"id":1,"title":"t","body":"b","replies":null,"links":null,"parent":\#(parent)}"#
        }
        #expect(path(note("7")) == "7")
        #expect(path(note(#"{"id":2,"title":"u","body":"","replies":null,"links":null}"#)) == "2")
        #expect(
            path(note(#"{"id":2,"title":7,"body":"","replies":null,"links":null}"#)) == #"["parent", "title"] String"#)
        #expect(path(note(#"{"id":2,"title":"u"}"#)).hasPrefix(#"["parent"] lacks "#))
        #expect(path(note(#""x""#)) == #"["parent"] Int"#)
    }

    @Test(arguments: Engine.allCases) func unloadedLinksAreEncodedAsTheirKeyOrNull(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Page.self)
        let chapter = try store.insert(Chapter(title: "c"))
        let page = try store.insert(Page(text: "p", chapter: ToOne(chapter)))
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let stored = try #require(try store.fetch(Page.self, id: page.id))
        let json = String(decoding: try encoder.encode(stored), as: UTF8.self)
        #expect(
            json == #"{"chapter":"\#(chapter.id.uuid.uuidString)","id":"\#(page.id.uuid.uuidString)","text":"p"}"#)
        #expect(try JSONDecoder().decode(Page.self, from: Data(json.utf8)) == stored)
        let plain = try #require(try store.fetch(Chapter.self, id: chapter.id))
        let text = String(decoding: try encoder.encode(plain), as: UTF8.self)
        #expect(text == #"{"id":"\#(chapter.id.uuid.uuidString)","pages":null,"title":"c"}"#)
        #expect(try JSONDecoder().decode(Chapter.self, from: Data(text.utf8)).pages.isLoaded == false)
    }

    @Test(arguments: Engine.allCases) func typesMayBeLessVisibleThanTheirModel(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Logbook.self)
        var logbook = Logbook(text: "t")
        (logbook.mood, logbook.moods) = (.wild, [.calm, .wild])
        try store.insert([logbook, Logbook(text: "u")])
        #expect(try store.refresh(logbook) == logbook)
        #expect(try store.fetch(Logbook.where { $0.mood == .wild && $0.former == nil }).map(\.text) == ["t"])
    }

    @Test func aCompositeKeyIsCodableWithItsModel() throws {
        let enrolment = Enrolment(student: ToOne(id: 3), course: "c", grade: nil)
        let back = try JSONDecoder().decode(Enrolment.self, from: JSONEncoder().encode(enrolment))
        #expect(back == enrolment)
        let remark = Remark(text: "t", enrolment: ToOne(id: Enrolment.Key(student: 3, course: "c")))
        #expect(try JSONDecoder().decode(Remark.self, from: JSONEncoder().encode(remark)) == remark)
    }
}
