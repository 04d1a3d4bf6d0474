import BenchmarkReport
import GRDB
import Relata

/// Books with their genre and their authors in order: one to-one, one many-to-many.
extension Workload {
    static let graphBooks = Workload(
        name: "graph-books", targets: [.limit(1.3), .faster(5, than: "GRDB Codable")]
    ) { bench in
        let file = try GraphBooks.makeFile(bench)
        let store = try bench.store(file, for: Novel.self)
        let database = try RawDatabase(file)
        let pool = try bench.grdb(file)
        return try await bench.time([
            Contestant(.ours) { { try GraphBooks.fetch(store).reduce(0) { try $0 &+ $1.digest } } },
            Contestant(.limit) { { try GraphBooks.fetch(database).reduce(0) { $0 &+ $1.digest } } },
            Contestant(.codable) { { try GraphBooks.fetch(pool).reduce(0) { $0 &+ $1.digest } } },
        ])
    }

    /// The factor by which the time for a book grows with ten times as many books, for Relata and by hand.
    static let graphBooksGrowth = Workload(name: "graph-books-growth", targets: [.below(1.2)]) { bench in
        let files = [
            try GraphBooks.makeFile(bench, "small.sqlite"),
            try GraphBooks.makeFile(bench, "large.sqlite", factor: 10),
        ]
        let stores = try files.map { try bench.store($0, for: Novel.self) }
        let databases = try files.map { try RawDatabase($0) }
        // The fetched books don't matter here, and differ between the two sizes.
        func fetch(_ store: Store) throws -> Int { try GraphBooks.fetch(store).isEmpty ? 0 : 1 }
        func fetch(_ database: RawDatabase) throws -> Int { try GraphBooks.fetch(database).isEmpty ? 0 : 1 }
        let times = try await bench.time([
            Contestant(.ours) { { try fetch(stores[1]) } },
            Contestant(.limit) { { try fetch(databases[1]) } },
            Contestant(.peer("few")) { { try fetch(stores[0]) } },
            Contestant(.peer("few by hand")) { { try fetch(databases[0]) } },
        ])
        return Outcome(
            unit: .times, ours: times.ours / times.peers[0].value / 10,
            limit: times.limit.map { $0 / times.peers[1].value / 10 })
    }

    /// The peak memory of a process that fetches the books and keeps them.
    static let graphBooksMemory = Workload(name: "graph-books-memory", targets: [.limit(1.5)]) { bench in
        let file = try GraphBooks.makeFile(bench)
        return Outcome(
            unit: .megabytes, ours: try ChildProcess.peak("graph-ours", file),
            limit: try ChildProcess.peak("graph-limit", file),
            peers: [("GRDB Codable", try ChildProcess.peak("graph-codable", file))])
    }
}

enum GraphBooks {
    static func makeFile(_ bench: Bench, _ name: String = "books.sqlite", factor: Int = 1) throws -> String {
        let file = try bench.emptyFile(name, for: Novel.self)
        let (novels, writers) = (bench.count(10_000) * factor, bench.count(3_000) * factor)
        try RawDatabase(file).execute(
            """
            BEGIN;
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
            INSERT INTO Genre (id, name) SELECT i, 'Genre number ' || i FROM n;
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(writers))
            INSERT INTO Writer (id, name) SELECT i, 'Writer number ' || i FROM n;
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(novels))
            INSERT INTO Novel (id, title, year, genreId)
            SELECT i, 'The wonderful adventures, part ' || i, 1900 + i % 120, i * 7 % 20 + 1 FROM n;
            WITH n(i) AS (VALUES (1), (2), (3))
            INSERT INTO Novel_writers (novelId, writerId, position)
            SELECT id, (id * 7919 + n.i * 613) % \(writers) + 1, n.i * 1024 FROM Novel, n ORDER BY id, n.i;
            COMMIT;
            PRAGMA wal_checkpoint(TRUNCATE)
            """)
        return file
    }

    static func fetch(_ store: Store) throws -> [Novel] {
        try store.fetch(
            Novel.all.including {
                $0.genre; $0.writers
            })
    }

    /// By hand: each genre and each author is read once, and only the keys of the join.
    static func fetch(_ database: RawDatabase) throws -> [RawNovel] {
        var genres: [Int: RawGenre] = [:]
        let genre = try database.prepare("SELECT id, name FROM Genre")
        while try genre.step() { genres[genre.integer(0)] = RawGenre(id: genre.integer(0), name: genre.text(1)) }
        var writers: [Int: RawWriter] = [:]
        let writer = try database.prepare("SELECT id, name FROM Writer")
        while try writer.step() { writers[writer.integer(0)] = RawWriter(id: writer.integer(0), name: writer.text(1)) }
        let novel = try database.prepare("SELECT id, title, year, genreId FROM Novel ORDER BY id")
        let link = try database.prepare("SELECT novelId, writerId FROM Novel_writers ORDER BY novelId, position")
        var novels: [RawNovel] = []
        var hasLink = try link.step()
        while try novel.step() {
            let id = novel.integer(0)
            guard let genre = genres[novel.integer(3)] else { throw Failure("novel \(id) has no genre") }
            var list: [RawWriter] = []
            while hasLink, link.integer(0) == id {
                if let writer = writers[link.integer(1)] { list.append(writer) }
                hasLink = try link.step()
            }
            novels.append(
                RawNovel(id: id, title: novel.text(1), year: novel.integer(2), genre: genre, writers: list))
        }
        return novels
    }

    static func fetch(_ pool: DatabasePool) throws -> [CodableNovelGraph] {
        let request = CodableNovel.including(required: CodableNovel.genre).including(all: CodableNovel.writers)
            .asRequest(of: CodableNovelGraph.self)
        return try pool.read { try request.fetchAll($0) }
    }

    // In separate processes.

    static func fetchOurs(_ file: String) throws -> Int { try fetch(try Store.open(file, for: Novel.self)).count }
    static func fetchLimit(_ file: String) throws -> Int { try fetch(try RawDatabase(file)).count }
    static func fetchCodable(_ file: String) throws -> Int { try fetch(try DatabasePool(path: file)).count }
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

extension CodableNovelGraph {
    fileprivate var digest: Int {
        writers.reduce(novel.id &+ novel.year &+ novel.title.utf8.count &+ genre.name.utf8.count) {
            ($0 &* 31) &+ $1.id &+ $1.name.utf8.count
        }
    }
}
