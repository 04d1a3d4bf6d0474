import Foundation
import PostgresCluster
import RelataCore
import RelataRecords
import RelataTesting
import TestEngines
import Testing

extension RecordStore {
    /// The store for a caller who sees only objects of a class whose field has a value.
    fileprivate func seeing(_ className: String, _ field: String, _ value: Value) throws -> RecordStore {
        let condition = ExpressionNode.comparison(
            .equal, .property(scope: 0, path: [field]), .value(value), [])
        return acting(under: try Access([className: condition], in: currentClasses.schema))
    }
}

extension RecordStore {
    /// The names of the objects found, each with those of the included ones.
    fileprivate func texts(_ query: RecordQuery) async throws -> [String] {
        func name(_ record: Record?) -> String { record?["name"].text ?? "-" }
        return try await fetch(query).map { record in
            let lists = ["children", "friends", "fans"].map { list in
                record[list].records.map(name).sorted().joined(separator: " ")
            }
            return ([name(record), name(record["parent"].record)] + lists).joined(separator: " / ")
        }
    }
}

private func thrown<Result: Sendable>(_ body: () async throws -> Result) async -> RelataError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? RelataError
    }
}

private func isNotFound(_ error: RelataError?) -> Bool {
    if case .notFound? = error { true } else { false }
}

/// Records for a caller who doesn't see all of them.
@Suite(.timeLimit(.minutes(20)), .onEveryEngine) struct AccessTests {
    /// Two albums with their artist; the caller sees only the first album.
    private func music(
        _ options: RecordStore.Options = RecordStore.Options()
    ) async throws -> (all: RecordStore, seen: RecordStore, albums: [Record], miles: Record) {
        let all = try RecordStore.make(options: options)
        let (miles, albums) = try await all.addMusic()
        try await all.alter { schema in
            try schema.addList("albums", of: "Album", to: "Artist", inverse: "artist", isOrdered: false)
        }
        return (all, try all.seeing("Album", "year", .integer(1959)), albums, miles)
    }

    @Test func hiddenRecordsAreNotFoundByKey() async throws {
        let (all, seen, albums, miles) = try await music()
        let key = try #require(albums[1].key)
        #expect(try await seen.fetch("Album", key: key) == nil)
        #expect(try await seen.refreshed(albums[1]) == nil)
        #expect(try await seen.refreshed(albums[0])?["title"] == "Kind of Blue")
        #expect(try await seen.count(RecordQuery("Album")) == 1)
        #expect(try await seen.titles(RecordQuery("Album")) == ["Kind of Blue"])
        let artist = try await seen.first(RecordQuery("Artist").including("albums"))
        #expect(artist?["albums"].records.map { $0["title"] } == ["Kind of Blue"])
        #expect(try await seen.count(RecordQuery("Artist", where: "albums.@count == 2")) == 0)
        #expect(try await all.fetch("Album", key: key)?["artist"].link == RecordLink(miles))
    }

    @Test func hiddenRecordsCannotBeWritten() async throws {
        let (all, seen, albums, miles) = try await music()
        var hidden = albums[1]
        hidden["title"] = "Seen?"
        let (changed, key) = (hidden, try #require(hidden.key))
        guard case .uuid(let id) = key.values[0] else { return }
        let taken = Record("Album", ["id": .uuid(id), "title": "Taken"])
        let seenAlbum = albums[0]
        #expect(isNotFound(await thrown { try await seen.save(changed) }))
        #expect(isNotFound(await thrown { try await seen.save(taken) }))
        #expect(isNotFound(await thrown { try await seen.save([seenAlbum, taken]) }))
        #expect(await thrown { try await seen.insert(taken) } != nil)
        #expect(try await seen.delete(changed).deletedCount == 0)
        #expect(try await seen.delete(RecordQuery("Album", where: "year == 1970")).deletedCount == 0)
        #expect(try await all.titles(RecordQuery("Album", sort: "year")) == ["Kind of Blue", "Bitches Brew"])
        // A visible object can be written as usual, even if the change hides it.
        var first = albums[0]
        first["year"] = 1958
        #expect(try await seen.save(first)["year"] == 1958)
        #expect(try await seen.count(RecordQuery("Album")) == 0)
        let plan = try await seen.deletionPlan(for: miles)
        #expect(plan.nullified.map(\.hiddenCount) == [2] && plan.nullified.allSatisfy { $0.keys.isEmpty })
    }

    @Test func observersAndTheLogExcludeHiddenRecords() async throws {
        var options = RecordStore.Options()
        options.changeLog = true
        let (all, seen, albums, _) = try await music(options)
        var titles = seen.observe(RecordQuery("Album", sort: "title")).makeAsyncIterator()
        #expect(try await titles.next()?.map { $0["title"] } == ["Kind of Blue"])
        var second = seen.observe("Album", key: try #require(albums[1].key)).makeAsyncIterator()
        #expect(try await second.next() == .some(nil))
        var feed = seen.changes.makeAsyncIterator()
        var hidden = albums[1]
        hidden["title"] = "Still hidden"
        hidden = try await all.save(hidden)
        hidden["year"] = 1959
        try await all.save(hidden)
        #expect(try await titles.next()?.map { $0["title"] } == ["Kind of Blue", "Still hidden"])
        #expect(try await second.next()??["title"] == "Still hidden")
        let set = try #require(await feed.next())
        #expect(set.changes == [Change(entity: "Album", kind: .unknown)])
        // A server shows logged changes once no older transaction runs in any of its databases.
        let updates = try await polling(forAtLeast: 2) {
            try await all.changes(after: 0).filter { $0.change.kind == .update }
        }
        #expect(updates.count == 2 && updates.allSatisfy { !$0.change.keys.isEmpty })
        let logged = try await seen.changes(after: 0).filter { $0.change.entity == "Album" }
        #expect(logged.count >= 3 && logged.allSatisfy { $0.change.keys.isEmpty && $0.versions.isEmpty })
    }

    @Test func checksAndRepairsNeedEveryRecord() async throws {
        let (all, seen, _, _) = try await music()
        let findings = try await all.check()
        #expect(findings.isEmpty)
        for error in [await thrown { try await seen.check() }, await thrown { try await seen.repair(findings) }] {
            guard case .invalidUse(let text)? = error else {
                Issue.record("\(error as Any)")
                continue
            }
            #expect(text.contains("a check shows every row"))
        }
    }

    // MARK: Any graph

    /// Objects of one class with a to-one and a list of one another; those with `level` 1 are hidden.
    private struct Graph {
        var levels: [Int]
        var parents: [Int?]
        var friends: [Set<Int>]
        /// Whether objects with `level` 1 have no name.
        var lacksNames = false

        init(using random: inout SampleRandom) {
            let range = 0..<12
            levels = range.map { _ in Int.random(in: 0...1, using: &random) }
            parents = range.map { _ in Bool.random(using: &random) ? Int.random(in: range, using: &random) : nil }
            friends = range.map { _ in Set((0..<3).map { _ in Int.random(in: range, using: &random) }) }
        }

        /// As if the hidden objects had never been stored.
        var withoutHidden: Graph {
            var graph = self
            graph.parents = parents.map { $0.flatMap { levels[$0] == 0 ? $0 : nil } }
            graph.friends = friends.map { $0.filter { levels[$0] == 0 } }
            return graph
        }

        /// As if objects with `level` 1 had neither a name nor a parent.
        var withoutMasked: Graph {
            var graph = self
            graph.parents = parents.indices.map { levels[$0] == 0 ? parents[$0] : nil }
            graph.lacksNames = true
            return graph
        }

        static func id(_ number: Int) throws -> UUID {
            try #require(UUID(uuidString: "00000000-0000-0000-0000-0000000000\(number + 10)"))
        }

        func store(hasHidden: Bool) async throws -> RecordStore {
            let store = try RecordStore.make()
            try await store.alter { schema in
                try schema.addClass("Knot")
                try schema.addField("name", .text, to: "Knot")
                try schema.addField("level", .integer, to: "Knot")
                try schema.addLink("parent", to: "Knot", in: "Knot")
                try schema.addList("children", of: "Knot", to: "Knot", inverse: "parent", isOrdered: false)
                try schema.addList("friends", of: "Knot", to: "Knot", isOrdered: false)
                try schema.addList("fans", of: "Knot", to: "Knot", inverse: "friends", isOrdered: false)
            }
            let numbers = levels.indices.filter { hasHidden || levels[$0] == 0 }
            var records: [Int: Record] = [:]
            for number in numbers {
                records[number] = try await store.save(
                    Record(
                        "Knot",
                        [
                            "id": .uuid(try Self.id(number)),
                            "name": lacksNames && levels[number] == 1 ? .null : .text("knot \(number)"),
                            "level": .integer(Int64(levels[number])),
                        ]))
            }
            for number in numbers {
                guard var record = records[number] else { continue }
                if let parent = parents[number].flatMap({ records[$0] }) { record["parent"] = .link(parent) }
                record["friends"] = .links(friends[number].sorted().compactMap { records[$0] })
                try await store.save(record)
            }
            return store
        }
    }

    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func hiddenRecordsAppearNowhere(seed: UInt64) async throws {
        var random = SampleRandom(seed: seed)
        let graph = Graph(using: &random)
        let expected = try await graph.withoutHidden.store(hasHidden: false)
        let seen = try await graph.store(hasHidden: true).seeing("Knot", "level", .integer(0))
        try await expectSame(seen, expected, "seed \(seed)")
        for number in graph.levels.indices {
            let key = KeyValue(.uuid(try Graph.id(number)))
            let (found, wanted) = (
                try await seen.fetch("Knot", key: key), try await expected.fetch("Knot", key: key)
            )
            #expect(found?["name"] == wanted?["name"], "seed \(seed): \(number)")
        }
        // The same deletion in both stores leaves the same rows.
        let (some, same) = (RecordQuery("Knot", where: "name CONTAINS '1'"), RecordQuery("Knot", sort: "name"))
        let (report, other) = (try await seen.deletionPlan(for: some), try await expected.deletionPlan(for: some))
        #expect(report.deletedKeys(of: "Knot").sorted() == other.deletedKeys(of: "Knot").sorted(), "seed \(seed)")
        try await seen.delete(some)
        try await expected.delete(some)
        let (left, wanted) = (try await seen.texts(same), try await expected.texts(same))
        #expect(left == wanted, "seed \(seed): after it")
    }

    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func maskedPropertiesAppearNowhere(seed: UInt64) async throws {
        var random = SampleRandom(seed: seed)
        let graph = Graph(using: &random)
        let (all, expected) = (
            try await graph.store(hasHidden: true), try await graph.withoutMasked.store(hasHidden: true)
        )
        let isOpen = ExpressionNode.comparison(
            .equal, .property(scope: 0, path: ["level"]), .value(.integer(0)), [])
        let access = try Access(
            [:], masks: ["Knot": ["name": isOpen, "parent": isOpen]], in: all.currentClasses.schema)
        try await expectSame(all.acting(under: access), expected, "seed \(seed)")
    }

    @Test func onlyPropertiesWithColumnsCanBeMasked() async throws {
        let store = try await music().all
        let condition = ExpressionNode.comparison(
            .equal, .property(scope: 0, path: ["name"]), .value(.text("x")), [])
        for name in ["id", "albums", "nothing"] {
            #expect(throws: RelataError.self) {
                try Access([:], masks: ["Artist": [name: condition]], in: store.currentClasses.schema)
            }
        }
    }

    /// Expects that queries find the same in two stores.
    private func expectSame(_ seen: RecordStore, _ expected: RecordStore, _ place: String) async throws {
        let conditions: [String?] = [
            nil, "parent != nil", "parent.name CONTAINS '1'", "ANY friends.name CONTAINS '1'", "friends.@count > 1",
            "ALL children.level == 0", "NONE fans.name CONTAINS '2'", "children.@count == 0",
            "parent.parent.name CONTAINS '1'", "SUBQUERY(friends, $f, $f.children.@count > 0).@count > 0",
        ]
        for condition in conditions {
            for sort in ["name", "parent.name, name", "friends.@count, name"] {
                let query = RecordQuery("Knot", where: condition, sort: sort)
                let whole = query.including("parent").including("children").including("friends").including("fans")
                let (found, wanted) = (try await seen.texts(whole), try await expected.texts(whole))
                #expect(found == wanted, "\(place): \(condition ?? "all") by \(sort)")
            }
            let query = RecordQuery("Knot", where: condition)
            #expect(
                try await seen.count(query) == expected.count(query), "\(place): count of \(condition ?? "all")")
        }
    }
}
