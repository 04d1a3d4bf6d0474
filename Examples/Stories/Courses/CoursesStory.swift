import Foundation
import Relata

extension Story {
    /// Series, episodes and histories: either side of a relationship can be set, and the four delete rules.
    public static let courses = Story(
        "courses", "series, episodes and histories, and the four delete rules"
    ) { transcript, folder in
        let courses = try await Courses.open(in: folder)
        try await setEitherSide(courses, transcript)
        try await addAndRemove(courses, transcript)
        try await listAll(courses, transcript)
        try await deleteEpisodeAndSeries(courses, transcript)
        try courses.store.close()
        try await fourRules(in: folder, transcript)
    }

    private static func setEitherSide(_ courses: Courses, _ transcript: Transcript) async throws {
        let store = courses.store
        transcript.part("Set either side, and see both")
        let swift = try await store.save(Series(title: "Swift by example", summary: "A language in twelve evenings"))
        let values = try await store.save(Episode(title: "Values", ofSeries: ToOne(swift)))
        transcript.say("episode.ofSeries = series")
        transcript.say("  series.episodes: \(try await courses.episodeTitles(of: swift))")
        let optionals = try await store.save(Episode(title: "Optionals"))
        try await courses.add(optionals, to: swift)
        transcript.say("series.episodes.add(episode)")
        transcript.say("  episode.ofSeries: \(try await courses.seriesTitle(of: optionals) ?? "none")")

        var watched = values
        watched.history.set(History(progress: 0.25))
        _ = try await store.save(watched)
        let history = try await store.related(to: values) { $0.history }.orThrow("history")
        transcript.say("episode.history.set(history)")
        transcript.say("  history.ofEpisode: \(try await store.related(to: history) { $0.ofEpisode }?.title ?? "none")")
        let other = try await store.save(History(progress: 1, ofEpisode: ToOne(optionals)))
        transcript.say("history.ofEpisode = episode")
        let seen = try await store.related(to: optionals) { $0.history }
        transcript.say("  episode.history: \(seen?.progress ?? -1) watched, the same one: \(seen?.id == other.id)")
    }

    private static func addAndRemove(_ courses: Courses, _ transcript: Transcript) async throws {
        let store = courses.store
        transcript.part("Add and remove, one and many")
        let swift = try await store.first(Series.all).orThrow("series")
        try await courses.add(
            [Episode(title: "Protocols"), Episode(title: "Macros"), Episode(title: "Linking C")], to: swift)
        transcript.say("added three new ones: \(try await courses.episodeTitles(of: swift))")
        let macros = try await store.first(Episode.where { $0.title == "Macros" }).orThrow("Macros")
        try await courses.remove(macros, from: swift)
        transcript.say("removed one: \(try await courses.episodeTitles(of: swift))")
        let several = try await store.fetch(Episode.where { $0.title.in(["Protocols", "Linking C"]) })
        try await courses.remove(several, from: swift)
        transcript.say("removed two: \(try await courses.episodeTitles(of: swift))")
        transcript.say("without a series: \(try await store.fetch(Episode.where { $0.ofSeries == nil }).map(\.title))")

        let systems = try await store.save(Series(title: "Systems programming"))
        try await courses.add(several, to: systems)
        let optionals = try await store.first(Episode.where { $0.title == "Optionals" }).orThrow("Optionals")
        try await courses.add(optionals, to: systems)
        transcript.say("another series takes an episode from the first one:")
        transcript.say("  \(systems.title): \(try await courses.episodeTitles(of: systems))")
        transcript.say("  \(swift.title): \(try await courses.episodeTitles(of: swift))")
    }

    private static func listAll(_ courses: Courses, _ transcript: Transcript) async throws {
        transcript.part("Each series with its episode count, and the episode watched last")
        for series in try await courses.overview() {
            let latest = series.latest.map { "last watched “\($0)”, \(Int((series.progress ?? 0) * 100)) %" }
            transcript.say("\(series.title): \(series.episodeCount), \(latest ?? "not begun")")
        }
        let linking = try await courses.store.first(Episode.where { $0.title == "Linking C" }).orThrow("Linking C")
        try await courses.store.insert(History(progress: 0.5, ofEpisode: ToOne(linking)))
        transcript.say("and after half of “Linking C”:")
        for series in try await courses.overview() {
            transcript.say("  \(series.title): last watched “\(series.latest ?? "")”")
        }
    }

    private static func deleteEpisodeAndSeries(_ courses: Courses, _ transcript: Transcript) async throws {
        let store = courses.store
        transcript.part("Delete an episode: its history stays, and refers to nothing")
        let optionals = try await store.first(Episode.where { $0.title == "Optionals" }).orThrow("Optionals")
        transcript.report("done", try await store.delete(optionals))
        try await transcript.rows(
            "History (id, progress, ofEpisode)", "SELECT id, progress, ofEpisodeId FROM History ORDER BY id", in: store)

        transcript.part("Delete a series: its episodes go")
        let systems = try await store.first(Series.where { $0.title == "Systems programming" }).orThrow("series")
        transcript.report("done", try await store.delete(systems))
        try await transcript.rows(
            "Episode (id, title, ofSeries)", "SELECT id, title, ofSeriesId FROM Episode ORDER BY id", in: store)
    }

    private static func fourRules(in folder: URL, _ transcript: Transcript) async throws {
        try await tell(Cascading.Series.self, "cascade", in: folder, transcript)
        try await tell(Nullifying.Series.self, "nullify", in: folder, transcript)
        try await tell(Denying.Series.self, "deny", in: folder, transcript)
        try await tell(LettingDangle.Series.self, "noAction", in: folder, transcript)
    }

    private static func tell<Series: RuledSeries>(
        _ model: Series.Type, _ rule: String, in folder: URL, _ transcript: Transcript
    ) async throws where Series.Episode.Series == Series {
        transcript.part("The same data under the rule \(rule)")
        let path = folder.appendingPathComponent("courses-\(rule).sqlite").path
        let store = try await Store.open(path, for: model)
        let episodes = ["Values", "Optionals"].map { Series.Episode(id: nil, title: $0, ofSeries: nil) }
        let series = try await store.save(Series(id: nil, title: "Swift by example", episodes: ToMany(episodes)))
        try await store.save(Series.Episode(id: nil, title: "A trailer", ofSeries: nil))
        transcript.report("plan", try await store.deletionPlan(for: series))
        do {
            transcript.report("result", try await store.delete(series))
        } catch {
            transcript.say("result")
            transcript.say("  ! \(error)")
        }
        let tables = (series: model.entity.table, episode: Series.Episode.entity.table)
        try await transcript.rows(
            "series (id, title)", "SELECT id, title FROM \(name: tables.series) ORDER BY id", in: store)
        try await transcript.rows(
            "episodes (id, title, ofSeries)", "SELECT id, title, ofSeriesId FROM \(name: tables.episode) ORDER BY id",
            in: store)
        try store.close()
    }
}
