import Relata

@main struct Courses {
    static func main() async throws {
        let store = try Store.inMemory(for: Series.self)
        let swift = try await store.save(Series(title: "Swift by example"))
        let values = try await store.save(Episode(title: "Values", ofSeries: swift))
        try await store.update(swift.id) {
            $0.episodes.add([Episode(title: "Optionals"), Episode(title: "Linking C")])
        }
        try await store.save(History(progress: 0.25, ofEpisode: values))

        let systems = try await store.save(Series(title: "Systems programming"))
        let linking = try await store.fetch(Episode.where { $0.title == "Linking C" })
        try await store.update(systems.id) { $0.episodes.add(linking) }

        let counts = Series.sorted { $0.title }.select { ($0.title, $0.episodes.count) }
        for (title, count) in try await store.fetch(counts) { print(title, count) }
        try store.close()
    }
}
