import Relata
import RelataTesting
import Testing

@Suite struct RelataTestingTests {
    @Test func tooManyStatementsFailWithTheirSQL() throws {
        let recorder = StatementRecorder()
        let store = try Store.inMemory(for: Book.self, options: recorder.options)
        let error = #expect(throws: UnexpectedStatements.self) {
            try recorder.expectQueries(1) {
                _ = try store.count(Book.all)
                _ = try store.count(Author.all)
            }
        }
        #expect(error?.statements.count == 2)
        #expect(error?.description.contains("\"Author\"") == true)
    }

    @Test func aFullTableScanFailsWithItsPlan() throws {
        let recorder = StatementRecorder()
        let store = try Store.inMemory(for: Book.self, options: recorder.options)
        try recorder.expectIndexed(on: store) { _ = try store.first(Genre.where { $0.name == "x" }) }
        #expect(throws: FullTableScan.self) {
            try recorder.expectIndexed(on: store) { _ = try store.first(Book.where { $0.title == "x" }) }
        }
    }

    @Test func aDumpIsTheSameInEveryRun() throws {
        func dump() throws -> String {
            let store = try Store.inMemory(for: Book.self)
            let author = Author(name: "A")
            var book = Book(title: "B", genre: ToOne(Genre(name: "G")))
            book.authors.add(author)
            try store.save(book)
            return try store.dump(["Book", "Genre", "Author"])
        }
        let text = try dump()
        #expect(try dump() == text)
        #expect(text.contains("genreId: #1"))
        #expect(text.contains("Book.authors (1)\n  #1 → #1"))
    }

    @Test func theSameSeedMakesTheSameSample() {
        func sample() -> [String] {
            var random = SampleRandom(seed: 3)
            return random.objects(5) { number, random in Author(name: "\(number) " + random.words(2)) }.map(\.name)
        }
        #expect(sample() == sample())
        #expect(Set(sample()).count == 5)
    }
}
