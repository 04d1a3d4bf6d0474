import Relata

@main struct Courses {
    static func main() async throws {
        let store = try Store.inMemory(for: Series.self)
        let swift = try await store.save(Series(title: "Swift by example"))
        let values = try await store.save(Episode(title: "Values", ofSeries: swift))
        try await store.update(swift.id) {
            $0.episodes.add([Episode(title: "Optionals"), Episode(title: "Linking C")])
        }
        print(values.title, "is in", try await titles(of: swift, in: store))
        try store.close()
    }

    static func titles(of series: Series, in store: Store) async throws -> [String] {
        try await store.fetch(series.related { $0.episodes }.sorted { $0.title }).map(\.title)
    }
}
