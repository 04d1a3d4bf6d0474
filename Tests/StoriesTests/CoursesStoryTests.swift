import Relata
import RelataCore
import RelataEngine
import RelataSQLite
import RelataStories
import Testing

@Test func coursesAreSeenFromBothSidesAndHistoriesStay() async throws {
    let told = try await Told(.courses)
    #expect(
        try told.part("Set either side, and see both") == [
            "episode.ofSeries = series",
            "  series.episodes: [\"Values\"]",
            "series.episodes.add(episode)",
            "  episode.ofSeries: Swift by example",
            "episode.history.set(history)",
            "  history.ofEpisode: Values",
            "history.ofEpisode = episode",
            "  episode.history: 1.0 watched, the same one: true",
        ])
    #expect(
        try told.part("Each series with its episode count, and the episode watched last") == [
            "Swift by example: 1, last watched “Values”, 25 %",
            "Systems programming: 3, last watched “Optionals”, 100 %",
            "and after half of “Linking C”:",
            "  Swift by example: last watched “Values”",
            "  Systems programming: last watched “Linking C”",
        ])
    let store = try await Courses.open(in: told.folder).store
    #expect(try await store.rows("SELECT id, title FROM Series") == [[1, "Swift by example"]])
    #expect(
        try await store.rows("SELECT title, ofSeriesId FROM Episode ORDER BY id") == [["Values", 1], ["Macros", nil]])
    #expect(
        try await store.rows("SELECT progress, ofEpisodeId FROM History ORDER BY id") == [
            [0.25, 1], [1.0, nil], [0.5, nil],
        ])
}

@Test(arguments: [
    ("cascade", [], [3]),
    ("nullify", [], [1, 2, 3]),
    ("deny", [1], [1, 2, 3]),
    ("noAction", [], [1, 2, 3]),
])
func eachRuleLeavesItsRows(rule: String, series: [Int64], episodes: [Int64]) async throws {
    let told = try await Told(.courses)
    let connection = try Connection(path: told.file("courses-\(rule).sqlite"))
    func ids(_ sql: String) throws -> [Value] { try connection.values(SQLStatement(sql)).map { $0[0] } }
    #expect(try ids("SELECT id FROM Series") == series.map { .integer($0) })
    #expect(try ids("SELECT id FROM Episode ORDER BY id") == episodes.map { .integer($0) })
    let references: [Value] =
        switch rule {
        case "cascade": [nil]
        case "nullify": [nil, nil, nil]
        default: [1, 1, nil]
        }
    #expect(try ids("SELECT ofSeriesId FROM Episode ORDER BY id") == references)
    let part = try told.part("The same data under the rule \(rule)")
    #expect(part.contains("plan") && part.contains("result"))
}
