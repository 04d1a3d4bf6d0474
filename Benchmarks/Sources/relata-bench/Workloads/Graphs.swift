import BenchmarkReport
import GRDB
import Relata

/// Graphs of other forms: a few objects for each parent, figures instead of objects, many levels, and many levels of
/// one model.
extension Workload {
    /// 1,000 setlists with their twenty items in order, and each item's song.
    static let graphSetlists = Workload(name: "graph-setlists", targets: [.limit(1.3)]) { bench in
        let file = try Graphs.makeSetlists(bench)
        let store = try bench.store(file, for: Setlist.self)
        let database = try RawDatabase(file)
        return try await bench.time([
            Contestant(.ours) {
                {
                    try store.fetch(SetlistPage.all).reduce(0) {
                        $1.items.reduce($0 &+ $1.name.utf8.count) {
                            ($0 &* 31) &+ $1.id &+ $1.song.title.utf8.count &+ $1.song.length
                        }
                    }
                }
            },
            Contestant(.limit) {
                {
                    try Graphs.fetchSetlists(database).reduce(0) {
                        $1.items.reduce($0 &+ $1.name.utf8.count) {
                            ($0 &* 31) &+ $1.id &+ $1.song.title.utf8.count &+ $1.song.length
                        }
                    }
                }
            },
        ])
    }

    /// The last three of twenty items for each of 1,000 setlists.
    static let graphTopPerParent = Workload(name: "graph-top-per-parent", targets: [.limit(1.3)]) { bench in
        let file = try Graphs.makeSetlists(bench)
        let store = try bench.store(file, for: Setlist.self)
        let database = try RawDatabase(file)
        let setlists = try database.prepare("SELECT id, name FROM Setlist")
        let items = try database.prepare(
            """
            SELECT id, transposedKey, setlistId, songId FROM SetlistItem WHERE setlistId = ?1 ORDER BY id DESC LIMIT 3
            """)
        return try await bench.time([
            Contestant(.ours) {
                {
                    try store.fetch(Setlist.all.including { $0.items.sorted { $0.id.descending }.limit(3) }).reduce(0) {
                        try $1.items.objects.reduce($0 &+ $1.name.utf8.count) {
                            ($0 &* 31) &+ $1.id &+ ($1.song.id ?? 0) &+ $1.transposedKey.utf8.count
                        }
                    }
                }
            },
            Contestant(.limit) {
                {
                    var found: [RawSetlist<Int>] = []
                    while try setlists.step() {
                        var setlist = RawSetlist<Int>(id: setlists.integer(0), name: setlists.text(1), items: [])
                        items.bind(setlist.id, 1)
                        while try items.step() { setlist.items.append(items.setlistItem(items.integer(3))) }
                        items.reset()
                        found.append(setlist)
                    }
                    setlists.reset()
                    return found.reduce(0) {
                        $1.items.reduce($0 &+ $1.name.utf8.count) {
                            ($0 &* 31) &+ $1.id &+ $1.song &+ $1.transposedKey.utf8.count
                        }
                    }
                }
            },
        ])
    }

    /// The number of books of each of 3,000 authors.
    static let graphCounts = Workload(name: "graph-counts", targets: [.limit(1.2)]) { bench in
        let file = try GraphBooks.makeFile(bench)
        let store = try bench.store(file, for: Novel.self)
        let database = try RawDatabase(file)
        let query = try database.prepare(
            """
            SELECT id, name, (SELECT COUNT(*) FROM Novel_writers WHERE writerId = Writer.id) FROM Writer
            """)
        return try await bench.time([
            Contestant(.ours) {
                {
                    try store.fetch(WriterOutput.all).reduce(0) {
                        ($0 &* 31) &+ $1.id &+ $1.name.utf8.count &+ $1.novelCount
                    }
                }
            },
            Contestant(.limit) {
                {
                    var rows: [(Int, String, Int)] = []
                    while try query.step() { rows.append((query.integer(0), query.text(1), query.integer(2))) }
                    query.reset()
                    return rows.reduce(0) { ($0 &* 31) &+ $1.0 &+ $1.1.utf8.count &+ $1.2 }
                }
            },
        ])
    }

    /// 50,000 objects on five levels below thirteen.
    static let graphDeep = Workload(name: "graph-deep", targets: [.limit(1.3)]) { bench in
        let file = try Graphs.makeContinents(bench)
        let store = try bench.store(file, for: Continent.self)
        let database = try RawDatabase(file)
        return try await bench.time([
            Contestant(.ours) {
                {
                    try store.fetch(
                        Continent.all.including {
                            $0.countries.including {
                                $0.provinces.including { $0.cities.including { $0.streets.including { $0.houses } } }
                            }
                        }
                    ).reduce(0) { try $0 &+ $1.digest }
                }
            },
            Contestant(.limit) { { try Graphs.fetchContinents(database).reduce(0) { try $0 &+ $1.digest } } },
        ])
    }

    /// A tree of 100,000 folders.
    static let graphTree = Workload(name: "graph-tree", targets: [.limit(1.2)]) { bench in
        let file = try Graphs.makeFolders(bench)
        let store = try bench.store(file, for: Folder.self)
        let database = try RawDatabase(file)
        return try await bench.time([
            Contestant(.ours) {
                {
                    try store.fetch(Folder.where { $0.parent == nil }.including { $0.children.recursive() })
                        .reduce(0) { try $0 &+ $1.digest }
                }
            },
            Contestant(.limit) { { try Graphs.fetchFolders(database).reduce(0) { try $0 &+ $1.digest } } },
        ])
    }
}

enum Graphs {
    static func makeSetlists(_ bench: Bench) throws -> String {
        let file = try bench.emptyFile("setlists.sqlite", for: Setlist.self)
        try RawDatabase(file).execute(
            """
            BEGIN;
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
            INSERT INTO Song (id, title, length) SELECT i, 'A song by the name of ' || i, 120 + i % 240 FROM n;
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(bench.count(1000)))
            INSERT INTO Setlist (id, name) SELECT i, 'Evening number ' || i FROM n;
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
            INSERT INTO SetlistItem (transposedKey, setlistId, setlistPosition, songId)
            SELECT substr('CDEFGAH', i % 7 + 1, 1), id, i * 1024, (id * 7 + i * 31) % 500 + 1 FROM Setlist, n
            ORDER BY id, i;
            COMMIT;
            PRAGMA wal_checkpoint(TRUNCATE)
            """)
        return file
    }

    /// By hand: each song is read once, and the items are read along with their setlists.
    static func fetchSetlists(_ database: RawDatabase) throws -> [RawSetlist<RawSong>] {
        var songs: [Int: RawSong] = [:]
        let song = try database.prepare("SELECT id, title, length FROM Song")
        while try song.step() {
            songs[song.integer(0)] = RawSong(id: song.integer(0), title: song.text(1), length: song.integer(2))
        }
        let setlist = try database.prepare("SELECT id, name FROM Setlist ORDER BY id")
        let item = try database.prepare(
            "SELECT id, transposedKey, setlistId, songId FROM SetlistItem ORDER BY setlistId, setlistPosition")
        var setlists: [RawSetlist<RawSong>] = []
        var hasItem = try item.step()
        while try setlist.step() {
            var found = RawSetlist<RawSong>(id: setlist.integer(0), name: setlist.text(1), items: [])
            while hasItem, item.integer(2) == found.id {
                guard let song = songs[item.integer(3)] else { throw Failure("an item has no song") }
                found.items.append(item.setlistItem(song))
                hasItem = try item.step()
            }
            setlists.append(found)
        }
        return setlists
    }

    // MARK: Levels

    private static let levels = ["Continent", "Country", "Province", "City", "Street", "House"]

    static func makeContinents(_ bench: Bench) throws -> String {
        let file = try bench.emptyFile("levels.sqlite", for: Continent.self)
        var sql = """
            BEGIN;
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(bench.count(130) / 10))
            INSERT INTO Continent (id, name) SELECT i, 'Continent number ' || i FROM n;
            """
        for (above, level) in zip(levels, levels.dropFirst()) {
            sql += """
                WITH n(i) AS (VALUES (1), (2), (3), (4), (5))
                INSERT INTO \(level) (name, \(above.lowercased())Id) SELECT '\(level) number ' || i, id FROM \(above), n
                ORDER BY id, i;
                """
        }
        try RawDatabase(file).execute(sql + "COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")
        return file
    }

    typealias RawContinent = RawPlace<RawPlace<RawPlace<RawPlace<RawPlace<RawPlace<Nothing>>>>>>

    /// By hand: each table is read once, from the lowest level up.
    static func fetchContinents(_ database: RawDatabase) throws -> [RawContinent] {
        func level<Below>(_ table: String, _ above: String?, _ below: [RawPlace<Below>]) throws -> [RawPlace<
            RawPlace<Below>
        >] {
            try places(database, table, above, Dictionary(grouping: below, by: \.above))
        }
        let houses: [RawPlace<Nothing>] = try places(database, "House", "streetId", [:])
        let streets = try level("Street", "cityId", houses)
        let cities = try level("City", "provinceId", streets)
        let provinces = try level("Province", "countryId", cities)
        let countries = try level("Country", "continentId", provinces)
        return try level("Continent", nil, countries)
    }

    private static func places<Below>(
        _ database: RawDatabase, _ table: String, _ above: String?, _ below: [Int: [Below]]
    ) throws -> [RawPlace<Below>] {
        let query = try database.prepare("SELECT id, name, \(above ?? "0") FROM \(table) ORDER BY id")
        var places: [RawPlace<Below>] = []
        while try query.step() {
            let id = query.integer(0)
            places.append(RawPlace(id: id, name: query.text(1), above: query.integer(2), below: below[id] ?? []))
        }
        return places
    }

    // MARK: Trees

    static func makeFolders(_ bench: Bench) throws -> String {
        let file = try bench.emptyFile("folders.sqlite", for: Folder.self)
        // Ten roots; the parent of each other folder is the one with a tenth of its number.
        try RawDatabase(file).execute(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(bench.count(100_000)))
            INSERT INTO Folder (id, name, parentId)
            SELECT i, 'Folder number ' || i, CASE WHEN i > 10 THEN (i + 9) / 11 END FROM n;
            PRAGMA wal_checkpoint(TRUNCATE)
            """)
        return file
    }

    /// By hand: a recursive statement for all folders below the roots, and then the values by their keys.
    static func fetchFolders(_ database: RawDatabase) throws -> [RawFolder] {
        let query = try database.prepare(
            """
            WITH RECURSIVE tree(id, name, parentId) AS (
                SELECT id, name, parentId FROM Folder WHERE parentId IS NULL
                UNION ALL SELECT f.id, f.name, f.parentId FROM tree JOIN Folder f ON f.parentId = tree.id)
            SELECT id, name, parentId FROM tree
            """)
        var members: [Int: [RawFolder]] = [:]
        while try query.step() {
            let parent = query.isNull(2) ? nil : query.integer(2)
            members[parent ?? 0, default: []].append(
                RawFolder(id: query.integer(0), name: query.text(1), parent: parent, children: []))
        }
        func fill(_ parent: Int) -> [RawFolder] {
            guard var folders = members[parent] else { return [] }
            for index in folders.indices { folders[index].children = fill(folders[index].id) }
            return folders
        }
        return fill(0)
    }
}

extension RawStatement {
    fileprivate func setlistItem<Song>(_ song: Song) -> RawSetlistItem<Song> {
        RawSetlistItem(id: integer(0), transposedKey: text(1), setlist: integer(2), song: song)
    }
}

// MARK: Digests

/// An object with others below it.
private protocol Place {
    associatedtype Below: Place
    var name: String { get }
    var placesBelow: [Below] { get throws }
}

extension Place {
    /// A number that depends on every name and its position.
    fileprivate var digest: Int {
        get throws { try placesBelow.reduce(name.utf8.count) { try ($0 &* 31) &+ $1.digest } }
    }
}

/// The place below the lowest level.
enum Nothing: Place {
    fileprivate var name: String { "" }
    fileprivate var placesBelow: [Nothing] { [] }
}

extension Continent: Place { fileprivate var placesBelow: [Country] { get throws { try countries.objects } } }
extension Country: Place { fileprivate var placesBelow: [Province] { get throws { try provinces.objects } } }
extension Province: Place { fileprivate var placesBelow: [City] { get throws { try cities.objects } } }
extension City: Place { fileprivate var placesBelow: [Street] { get throws { try streets.objects } } }
extension Street: Place { fileprivate var placesBelow: [House] { get throws { try houses.objects } } }
extension House: Place { fileprivate var placesBelow: [Nothing] { [] } }
extension Folder: Place { fileprivate var placesBelow: [Folder] { get throws { try children.objects } } }
extension RawPlace: Place where Below: Place { fileprivate var placesBelow: [Below] { below } }
extension RawFolder: Place { fileprivate var placesBelow: [RawFolder] { children } }
