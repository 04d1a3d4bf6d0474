#if PostgreSQL
import BenchmarkReport
import Relata

/// Books with their genre and their authors in order: one to-one, one many-to-many.
extension Workload {
    static let graphBooks = Workload(name: "pg-graph-books", targets: [.limit(1.2)]) { bench in
        let url = try makeBooks(bench)
        let store = try bench.store(url, for: Novel.self)
        let raw = try RawConnection(url)
        try raw.prepare("genres", #"SELECT "id", "name" FROM "Genre""#)
        try raw.prepare("writers", #"SELECT "id", "name" FROM "Writer""#)
        try raw.prepare("novels", #"SELECT "id", "title", "year", "genreId" FROM "Novel" ORDER BY "id""#)
        try raw.prepare(
            "links", #"SELECT "novelId", "writerId" FROM "Novel_writers" ORDER BY "novelId", "position""#)
        return try await bench.time([
            Contestant(.ours) {
                {
                    let novels = try store.fetch(
                        Novel.all.including {
                            $0.genre; $0.writers
                        })
                    return try novels.reduce(0) { try $0 &+ $1.digest }
                }
            },
            Contestant(.limit) { { try fetchBooks(raw).reduce(0) { $0 &+ $1.digest } } },
        ])
    }

    private static func makeBooks(_ bench: PostgresBench) throws -> String {
        let url = try bench.emptySchema("books")
        try bench.store(url, for: Novel.self).close()
        let (novels, writers) = (bench.count(10_000), bench.count(3_000))
        let raw = try RawConnection(url)
        try raw.execute(
            """
            INSERT INTO "Genre" ("id", "name") SELECT i, 'Genre number ' || i FROM generate_series(1, 20) AS i;
            INSERT INTO "Writer" ("id", "name")
            SELECT i, 'Writer number ' || i FROM generate_series(1, \(writers)) AS i;
            INSERT INTO "Novel" ("id", "title", "year", "genreId")
            SELECT i, 'The wonderful adventures, part ' || i, 1900 + i % 120, i * 7 % 20 + 1
            FROM generate_series(1, \(novels)) AS i;
            INSERT INTO "Novel_writers" ("novelId", "writerId", "position")
            SELECT i, (i * 7919 + n * 613) % \(writers) + 1, n * 1024
            FROM generate_series(1, \(novels)) AS i, generate_series(1, 3) AS n
            """)
        try raw.execute("VACUUM ANALYZE")
        return url
    }

    /// By hand: each genre and each author is read once, and only the keys of the join.
    private static func fetchBooks(_ raw: RawConnection) throws -> [RawNovel] {
        var genres: [Int: RawGenre] = [:]
        let genre = try raw.run("genres")
        for row in 0..<genre.count {
            genres[genre.integer(row, 0)] = RawGenre(id: genre.integer(row, 0), name: genre.text(row, 1))
        }
        var writers: [Int: RawWriter] = [:]
        let writer = try raw.run("writers")
        for row in 0..<writer.count {
            writers[writer.integer(row, 0)] = RawWriter(id: writer.integer(row, 0), name: writer.text(row, 1))
        }
        let (novel, link) = (try raw.run("novels"), try raw.run("links"))
        var novels: [RawNovel] = []
        novels.reserveCapacity(Int(novel.count))
        var next: Int32 = 0
        for row in 0..<novel.count {
            let id = novel.integer(row, 0)
            guard let genre = genres[novel.integer(row, 3)] else { throw Failure("novel \(id) has no genre") }
            var list: [RawWriter] = []
            while next < link.count, link.integer(next, 0) == id {
                if let writer = writers[link.integer(next, 1)] { list.append(writer) }
                next += 1
            }
            novels.append(
                RawNovel(
                    id: id, title: novel.text(row, 1), year: novel.integer(row, 2), genre: genre, writers: list))
        }
        return novels
    }
}

extension Novel {
    fileprivate var digest: Int {
        get throws {
            try writers.objects.reduce(id &+ year &+ title.utf8.count &+ genre.object.name.utf8.count) {
                ($0 &* 31) &+ $1.id &+ $1.name.utf8.count
            }
        }
    }
}

extension RawNovel {
    fileprivate var digest: Int {
        writers.reduce(id &+ year &+ title.utf8.count &+ genre.name.utf8.count) {
            ($0 &* 31) &+ $1.id &+ $1.name.utf8.count
        }
    }
}
#endif
