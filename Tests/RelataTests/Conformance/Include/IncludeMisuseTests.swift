import Foundation
import Relata
import RelataCore
import Testing

// A visit of a place that may no longer exist.

@Model struct Visit: Codable {
    var id: Int?
    var day: String
    @Relationship(onTargetDelete: .noAction) var place: ToOne<Sight>
    @Relationship(onTargetDelete: .noAction) var next: ToOne<Visit>?
}

@Model struct Sight: Codable {
    @Attribute(.primaryKey) let name: String
    @Relationship(onTargetDelete: .noAction) var town: ToOne<Town>?
}

@Model struct Town: Codable {
    @Attribute(.primaryKey) let name: String
}

/// Includes that make no sense, and data that a graph can't be made of.
@Suite struct IncludeMisuseTests {
    @Test(arguments: Engine.allCases, [0, 1])
    func unknownRelationshipsAreNamedEvenWithoutObjects(_ engine: Engine, books: Int) throws {
        let store = try TestStore.make(engine, for: Book.self)
        for number in 0..<books { try store.insert(Book(title: "\(number)", authors: ToMany([Author(name: "A")]))) }
        let unknown = thrown { try store.fetch(Book.all.including { _ in return [IncludePlan("autors")] }) }
        #expect(unknown?.kind == "invalidUse")
        #expect("\(unknown as Any)".contains("Book has no relationship autors: did you mean authors?"))
        let nested = thrown {
            try store.fetch(
                Book.all.including { _ in return [IncludePlan("authors", children: [IncludePlan("pets")])] })
        }
        #expect("\(nested as Any)".contains("Author has no relationship pets"))
        let required = thrown {
            try store.fetch(Book.all.including { _ in return [IncludePlan("autors", isRequired: true)] })
        }
        #expect("\(required as Any)".contains("Book has no"))
    }

    @Test(arguments: Engine.allCases, [0, -1, Int.min])
    func aLimitBelowOneIsRefusedAtAnyDepthAndWithoutObjects(_ engine: Engine, limit: Int) throws {
        let store = try TestStore.make(engine, for: Book.self, Folder.self)
        for query in [
            Genre.all.including { $0.books.limit(limit) },
            Genre.all.including { $0.books.including { $0.authors.limit(limit) } },
        ] {
            let error = thrown { try store.fetch(query) }
            #expect(error?.kind == "invalidUse")
            #expect("\(error as Any)".contains("limit of \(limit)"))
        }
        #expect(thrown { try store.fetch(Folder.all.including { $0.children.recursive(depth: limit) }) } != nil)
        #expect(thrown { try store.fetch(Book.all.including { $0.authors.limit(1) }) } == nil)
    }

    @Test(arguments: Engine.allCases) func cyclesInTheDataEndTheTree(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Folder.self)
        // a → b → c → a, and one that is its own parent.
        let folders = ["a", "b", "c", "alone"].map { Folder(name: $0) }
        try store.insert(folders)
        for (child, parent) in [(0, 2), (1, 0), (2, 1), (3, 3)] {
            try store.update(folders[child].id) { $0.parent = ToOne(id: folders[parent].id) }
        }
        let down = try store.fetch(Folder.sorted { $0.name }.including { $0.children.recursive() })
        func names(_ folder: Folder) -> String {
            let children = folder.children.loaded.map { $0.map(names).joined(separator: ",") } ?? "…"
            return "\(folder.name)(\(children))"
        }
        #expect(down.map(names) == ["a(b(c(a(…))))", "alone(alone(…))", "b(c(a(b(…))))", "c(a(b(c(…))))"])
        let up = try store.fetch(Folder.sorted { $0.name }.including { $0.parent.recursive() })
        let path = sequence(first: up[0]) { $0.parent?.loaded }.map(\.name)
        #expect(path == ["a", "c", "b", "a"])
        #expect(sequence(first: up[1]) { $0.parent?.loaded }.map(\.name) == ["alone", "alone"])
        let two = try store.load(down[0]) { $0.children.recursive(depth: 2) }
        #expect(names(two) == "a(b(c(…)))")
    }

    @Test(arguments: Engine.allCases) func aDanglingReferenceLoadsAsMissingWithItsKey(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Visit.self)
        let mill = Sight(name: "Mill", town: ToOne(Town(name: "Ely")))
        let last = try store.save(Visit(day: "Sunday", place: ToOne(mill)))
        _ = try store.save([
            Visit(day: "Friday", place: ToOne(mill), next: last.id.map { ToOne(id: $0) }),
            Visit(day: "Saturday", place: ToOne(Sight(name: "Tower"))),
        ])
        try store.delete(mill)
        try store.delete(last)

        let visits = try store.fetch(
            Visit.sorted { $0.day }.including {
                $0.place.town; $0.next.place
            })
        let friday = try #require(visits.first)
        #expect(friday.place.isLoaded && friday.place.loaded == nil && friday.place.id == "Mill")
        #expect(thrown { try friday.place.object }?.kind == "notFound")
        #expect(friday.next?.isLoaded == true && friday.next?.loaded == nil && friday.next?.id == last.id)
        #expect(visits[1].place.loaded?.name == "Tower" && visits[1].place.loaded?.town == nil)
        #expect(visits[1].next == nil)
        #expect(try store.fetch(Visit.all.including { $0.place.required }).map(\.day) == ["Saturday"])
        #expect(try store.load(friday) { $0.next.recursive() }.next?.isLoaded == true)
        // A link is encoded as its key, and decoded as a link that isn't loaded.
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let json = String(decoding: try encoder.encode(friday), as: UTF8.self)
        #expect(json == #"{"day":"Friday","id":\#(friday.id ?? 0),"next":1,"place":"Mill"}"#)
        let back = try JSONDecoder().decode(Visit.self, from: Data(json.utf8))
        #expect(back.place.id == "Mill" && !back.place.isLoaded)
    }
}
