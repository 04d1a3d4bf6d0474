#if PostgreSQL
import BenchmarkReport
import Relata

extension Workload {
    /// 10,000 books, each with a new ISBN and three new authors, in one call: 80,000 rows of four tables. By hand, each
    /// table is written by `COPY`. The objects are new in each round, because objects that were saved before are saved
    /// in another way.
    static let saveGraph = Workload(name: "pg-save-graph", targets: [.limit(1.4)]) { bench in
        let count = bench.count(10_000)
        let urls = (try bench.emptySchema("graph_ours"), try bench.emptySchema("graph_limit"))
        let store = try bench.store(urls.0, for: Book.self)
        try bench.store(urls.1, for: Book.self).close()
        let (cleaner, raw) = (try RawConnection(urls.0), try RawConnection(urls.1))
        let truncate = #"TRUNCATE "Book", "ISBN", "Author", "Book_authors""#
        return try await bench.time([
            Contestant(.ours) {
                try cleaner.execute(truncate)
                let books = NewBook.samples(count).map(\.book)
                return { try store.save(books).count }
            },
            Contestant(.limit) {
                try raw.execute(truncate)
                let graph = NewBook.samples(count)
                return {
                    try raw.transaction { try save(graph, raw) }
                    return graph.count
                }
            },
        ])
    }

    private static func save(_ graph: [NewBook], _ raw: RawConnection) throws {
        var copy = try RawCopy(#"COPY "ISBN" ("value") FROM STDIN (FORMAT binary)"#, on: raw)
        for new in graph {
            try copy.beginRow(1)
            copy.append(new.isbn.value)
        }
        _ = try copy.finish()
        copy = try RawCopy(#"COPY "Author" ("id", "name") FROM STDIN (FORMAT binary)"#, on: raw)
        for new in graph {
            for author in new.authors {
                try copy.beginRow(2)
                copy.append(author.id.uuid)
                copy.append(author.name)
            }
        }
        _ = try copy.finish()
        copy = try RawCopy(#"COPY "Book" ("id", "title", "year", "isbnId") FROM STDIN (FORMAT binary)"#, on: raw)
        for new in graph {
            try copy.beginRow(4)
            copy.append(new.book.id.uuid)
            copy.append(new.book.title)
            copy.append(new.book.year)
            copy.append(new.isbn.value)
        }
        _ = try copy.finish()
        copy = try RawCopy(#"COPY "Book_authors" ("bookId", "authorId") FROM STDIN (FORMAT binary)"#, on: raw)
        for new in graph {
            for author in new.authors {
                try copy.beginRow(2)
                copy.append(new.book.id.uuid)
                copy.append(author.id.uuid)
            }
        }
        _ = try copy.finish()
    }
}
#endif
