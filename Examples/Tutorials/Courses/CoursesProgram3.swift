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
        if let history = try await store.related(to: values, { $0.history }) {
            print(values.title, "was watched to", history.progress)
        }
        try store.close()
    }

    static func titles(of series: Series, in store: Store) async throws -> [String] {
        try await store.fetch(series.related { $0.episodes }.sorted { $0.title }).map(\.title)
    }
}
