import Foundation
import Relata
import Testing

@Model struct Film {
    @Attribute(.primaryKey) let title: String
    var year: Int
    var minutes: Int?
    var released: Date?
    var director: ToOne<Director>
    var actors: ToMany<Actor>
    @Relationship(deleteRule: .cascade, inverse: \Review.film) var reviews: ToMany<Review>
    var tags: [String] = []
    var premiere: Premiere?

    struct Premiere: Codable, Hashable { var city: String, year: Int }
}

@Model struct Director {
    @Attribute(.primaryKey) let name: String
    var country: String
    @Relationship(deleteRule: .deny, inverse: \Film.director) var films: ToMany<Film>
}

@Model struct Actor {
    @Attribute(.primaryKey) let name: String
    @Relationship(inverse: \Film.actors) var films: ToMany<Film>
}

@Model struct Review {
    var id: Int?
    @Attribute(.range(1...5)) var stars: Int
    var text: String?
    var film: ToOne<Film>
}

// docs: hide
private func cinema() async throws -> Store {
    let store = try await Store.open(temporary("cinema.sqlite"), for: Film.self)
    let varda = Director(name: "Agnès Varda", country: "France")
    let kiarostami = Director(name: "Abbas Kiarostami", country: "Iran")
    let denis = Director(name: "Claire Denis", country: "France")
    let marchand = Actor(name: "Corinne Marchand")
    let bonnaire = Actor(name: "Sandrine Bonnaire")
    let binoche = Actor(name: "Juliette Binoche")
    let day = { Date(timeIntervalSince1970: $0) }
    try await store.save([
        Film(
            title: "Cléo from 5 to 7", year: 1962, minutes: 90, released: day(-243_734_400), director: ToOne(varda),
            actors: ToMany([marchand]), tags: ["new wave", "paris"], premiere: .init(city: "Cannes", year: 1962)),
        Film(title: "Vagabond", year: 1985, minutes: 105, director: ToOne(varda), actors: ToMany([bonnaire])),
        Film(title: "Close-Up", year: 1990, minutes: 98, director: ToOne(kiarostami), tags: ["new wave"]),
        Film(title: "Certified Copy", year: 2010, minutes: 106, director: ToOne(kiarostami), actors: ToMany([binoche])),
        Film(title: "High Life", year: 2018, director: ToOne(denis), actors: ToMany([binoche])),
        Review(stars: 5, text: "Two hours, and a life.", film: ToOne(id: "Cléo from 5 to 7")),
        Review(stars: 4, film: ToOne(id: "Cléo from 5 to 7")),
        Review(stars: 5, film: ToOne(id: "Close-Up")),
        Review(stars: 2, text: "Cold.", film: ToOne(id: "High Life")),
    ])
    return store
}

@Test func conditions() async throws {
    try await example {
        let store = try await cinema()
        // docs: show
        func show(_ films: Query<Film>) async throws {
            print(try await store.fetch(films.sorted { $0.year }).map(\.title))
        }

        try await show(Film.where { $0.year >= 1990 && $0.minutes != nil })
        try await show(Film.where { $0.year.in(1960...1990) || $0.title == "High Life" })
        try await show(Film.where { $0.title.in(["Vagabond", "Close-Up"]) })
        try await show(Film.where { $0.title.contains("cleo", [.caseInsensitive, .diacriticInsensitive]) })
        try await show(Film.where { $0.minutes.or(0) + 10 > 110 })
        try await show(Film.where { $0.released.year == 1962 })
        // docs: hide
        try printed(in: "Documentation/Queries.md")
        // docs: show

        try await show(Film.where { $0.minutes ?? 0 > 100 })
        try await show(Film.where { $0.title + " by " + $0.director.name == "Close-Up by Abbas Kiarostami" })
        try await show(Film.where { $0.released + .years(28) < Date(timeIntervalSince1970: 650_000_000) })
        try await show(Film.where { $0.tags.isEmpty && !$0.reviews.isEmpty })
        try await show(Film.where { $0.tags.contains("paris") || $0.tags.contains { $0.hasSuffix("wave") } })
        try await show(Film.where { $0.premiere.city == "Cannes" })
        // docs: hide
        try printed(in: "Documentation/Queries.md")
        // docs: show

        try await show(Film.where { $0.director.country == "Iran" })
        try await show(Film.where { $0.actors.contains { $0.name.hasPrefix("Juliette") } })
        try await show(Film.where { $0.actors.isEmpty || $0.reviews.all { $0.stars == 2 } })
        try await show(Film.where { $0.reviews.count > 1 })
        try await show(Film.where { $0.reviews.average { $0.stars }.or(0) >= 4.5 })
        try await show(Film.where { $0.director.films.count(where: { $0.year > 2000 }) > 0 })
        // docs: hide
        try printed(in: "Documentation/Queries.md")
        // docs: show

        let figures = Director.sorted { $0.name }.select {
            ($0.name, $0.films.reviews.film.count, $0.films.reviews.film.distinct.count)
        }
        for (name, reviews, films) in try await store.fetch(figures) { print(name, reviews, films) }
        // docs: hide
        try printed(in: "Documentation/Queries.md")
        // docs: show

        let french = Film.where { $0.director.country == "France" }
        let praised = Film.matching("ANY reviews.stars == 5")
        try await show(french && praised)
        try await show(praised || Film.sorted { $0.year.descending }.limit(1))
        // docs: hide
        try printed(in: "Documentation/Queries.md")
        // docs: show

        let binoche = try await store.first(Actor.where { $0.name == "Juliette Binoche" })
        if let binoche {
            try await show(Film.where { $0.actors.contains(binoche) })
            try await show(binoche.related { $0.films }.where { $0.year > 2015 })
        }
        try await show(Film.where { $0.director == "Claire Denis" })
        // docs: hide
        try printed(in: "Documentation/Queries.md")
        // docs: show

        let newest = Film.sorted {
            $0.director.country
            $0.minutes.descending.nulls(.last)
        }
        print(try await store.fetch(newest.limit(3)).map(\.title))
        print(try await store.fetch(newest.limit(3, offset: 3)).map(\.title))
        // docs: hide
        try printed(in: "Documentation/Queries.md")
        // docs: show

        print(try await store.fetch(Film.sorted { $0.title.localized("fr") }.limit(3)).map(\.title))
        // docs: hide
        try printed(in: "Documentation/Queries.md")
        // docs: show

        let query = Film.sorted { $0.year }
        var page = try await store.page(query, size: 2)
        print(page.objects.map(\.title))
        while let next = page.next {
            page = try await store.page(query, size: 2, after: next)
            print(page.objects.map(\.title))
        }
        // docs: hide
        try printed(in: "Documentation/Queries.md")
        // docs: show
    }
}

@Test func figures() async throws {
    try await example {
        // docs: hide
        let store = try await cinema()
        // docs: show
        print(try await store.count(Film.where { $0.year < 2000 }))
        print(try await store.exists(Film.where { $0.year < 1900 }))
        print(try await store.value(of: Film.all) { $0.minutes.maximum() } as Any)

        let rows = try await store.fetch(
            Film.sorted { $0.year }.select { ($0.title, $0.director.name, $0.reviews.count) })
        for (title, director, reviews) in rows.prefix(2) { print(title, director, reviews) }

        let groups = Film.all.grouped { $0.director.country }
            .having { $0.objectCount > 1 }
            .select { ($0.director.country, $0.objectCount, $0.year.minimum()) }
        for (country, films, first) in try await store.fetch(groups) { print(country, films, first ?? 0) }
        // docs: hide
        try printed(in: "Documentation/Queries.md")
        // docs: show

        let longest = Film.all.grouped { $0.director.name }
            .sorted {
                $0.minutes.sum().descending
                $0.director.name
            }
            .limit(2)
            .select { ($0.director.name, $0.minutes.sum()) }
        for (director, minutes) in try await store.fetch(longest) { print(director, minutes) }
        // docs: hide
        try printed(in: "Documentation/Queries.md")
        // docs: show
    }
}

@Test func includes() async throws {
    try await example {
        // docs: hide
        let store = try await cinema()
        // docs: show
        let films = try await store.fetch(
            Film.sorted { $0.year }.including {
                $0.director
                $0.reviews.where { $0.stars > 3 }.sorted { $0.stars.descending }.limit(1)
            })
        for film in films.prefix(3) {
            let best = try film.reviews.objects.first
            print(film.title, try film.director.object.country, best.map { "\($0.stars) stars" } ?? "no good review")
        }
        // docs: hide
        try printed(in: "Documentation/Queries.md")
        // docs: show
    }
}

@Test func predicateFormat() async throws {
    try await example {
        // docs: hide
        let store = try await cinema()
        func show(_ films: Query<Film>) async throws {
            print(try await store.fetch(films.sorted { $0.year }).map(\.title))
        }
        // docs: show
        try await show(Film.matching("director.name == %@ AND year > %d", "Agnès Varda", 1970))
        try await show(Film.matching("ANY actors.name BEGINSWITH[c] %@", "juliette"))
        try await show(Film.matching("reviews.@count > 1 OR reviews.@avg.stars >= 5"))
        try await show(Film.matching("director IN %@", ["Claire Denis", "Abbas Kiarostami"]))
        try await show(Film.matching("SUBQUERY(reviews, $r, $r.stars > 3 AND $r.text == nil).@count > 0"))
        try await show(Film.matching("released + days(30) < now() AND tags CONTAINS %@", "new wave"))
        try await show(Film.matching("premiere.city == 'Cannes' OR minutes ?? 120 > 105"))

        do {
            try await show(Film.matching("year > 1970 AND directr.country == 'Iran'"))
        } catch {
            print(error)
        }
        // docs: hide
        try printed(in: "Documentation/Queries.md")
        // docs: show
    }
}

@Test func waysOut() async throws {
    try await example {
        // docs: hide
        let store = try await cinema()
        // docs: show
        let year = 1985
        for row in try await store.rows("SELECT title, minutes FROM Film WHERE year >= \(year) ORDER BY year") {
            print(row[0], row[1])
        }

        for row in try await store.dictionaries(Director.where { $0.country == "Iran" }) {
            print(row["name"] ?? .null, row["country"] ?? .null)
        }

        let explanation = try await store.explain(Film.where { $0.director == "Agnès Varda" })
        print(explanation.plan[0])
        // docs: hide
        try printed(in: "Documentation/Queries.md")
        // docs: show

        var minutes = 0
        for try await film in store.stream(Film.all.sorted { $0.year }) {
            minutes += film.minutes ?? 0
            if minutes > 250 { break }
        }
        print(minutes)
        // docs: hide
        try printed(in: "Documentation/Queries.md")
        // docs: show

        let total = try await store.read { tx in
            var minutes = 0
            try tx.forEach(Film.all) { minutes += $0.minutes ?? 0 }
            return minutes
        }
        print(total)
        // docs: hide
        try printed(in: "Documentation/Queries.md")
        // docs: show
    }
}

@Test func byKey() async throws {
    try await example {
        // docs: hide
        let store = try await cinema()
        // docs: show
        let vagabond = try await store.fetch(Film.self, id: "Vagabond") { $0.director }
        print(try vagabond?.director.object.country ?? "")
        let films = try await store.fetch(Film.self, ids: ["Close-Up", "Metropolis", "Vagabond"])
        print(films.map { $0?.year ?? 0 })
        print(try await store.related(to: Director.self, id: "Claire Denis") { $0.films }.map(\.title))
        // docs: hide
        try printed(in: "Documentation/Queries.md")
        // docs: show

        let keys = [ObjectKey(Film.self, "Vagabond"), ObjectKey(Director.self, "Nobody")]
        for found in try await store.fetch(ids: keys) {
            switch found.result {
            case .success: print(found.object(as: Film.self)?.year ?? 0)
            case .failure(let error): print(error)
            }
        }
        // docs: hide
        try printed(in: "Documentation/Queries.md")
        // docs: show
    }
}

@Test func observing() async throws {
    try await example {
        // docs: hide
        let store = try await cinema()
        // docs: show
        var recent = store.observe(Film.where { $0.year > 2000 }.sorted { $0.year }).makeAsyncIterator()
        print(try await recent.next()?.map(\.title) ?? [])

        let sciamma = Director(name: "Céline Sciamma", country: "France")
        try await store.save(Film(title: "Petite Maman", year: 2021, director: sciamma))
        print(try await recent.next()?.map(\.title) ?? [])
        // docs: hide
        try printed(in: "Documentation/Queries.md")
        // docs: show
    }
}
