import BenchmarkReport
import Relata

extension Workload {
    /// The twenty best of 1,000,000 rows, for words of different frequency, a phrase and the beginning of a word;
    /// compared with a hand-written FTS5 index.
    static let search = Workload(name: "search", targets: [.limit(1.2)]) { bench in
        let file = try bench.articleFile("articles.sqlite", count: bench.count(1_000_000))
        let store = try bench.store(file, for: Article.self)
        let database = try RawDatabase(file)
        try database.execute(
            """
            CREATE VIRTUAL TABLE found USING fts5(title, body, content = 'Article', content_rowid = 'id');
            INSERT INTO found (found) VALUES ('rebuild')
            """)
        let query = try database.prepare(
            """
            SELECT Article.id, Article.title, Article.body FROM found JOIN Article ON Article.id = found.rowid
            WHERE found MATCH ?1 ORDER BY rank LIMIT 20
            """)
        let searches = ["w3", "w40", "w2500 w12", "\"w1 w2\"", "w123*", "w77 w400*"]
        return try await bench.time([
            Contestant(.ours) {
                {
                    try searches.reduce(0) { $0 + (try store.fetch(Article.search($1).limit(20)).count) }
                }
            },
            Contestant(.limit) {
                {
                    try searches.reduce(0) { sum, search in
                        query.bind(search, 1)
                        var articles: [Article] = []
                        while try query.step() {
                            articles.append(Article(id: query.integer(0), title: query.text(1), body: query.text(2)))
                        }
                        query.reset()
                        return sum + articles.count
                    }
                }
            },
        ])
    }
}

extension Bench {
    /// A file with that many articles.
    fileprivate func articleFile(_ name: String, count: Int) throws -> String {
        let file = try directory.file(name)
        let store = try Store.open(file, for: Article.self)
        try store.insert(contentsOf: Article.sequence(count))
        try store.close()
        return file
    }
}
