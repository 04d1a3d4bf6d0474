import Foundation
import Relata

/// The operations on courses.
public struct Courses: Sendable {
    /// The database.
    public let store: Store

    /// Opens the courses of a folder, `courses.sqlite`.
    public static func open(in folder: URL) async throws -> Courses {
        let path = folder.appendingPathComponent("courses.sqlite").path
        return Courses(store: try await Store.open(path, for: Series.self))
    }

    /// The titles of a series' episodes, in the order they were made.
    public func episodeTitles(of series: Series) async throws -> [String] {
        try await store.fetch(series.related { $0.episodes }.sorted { $0.id }).map(\.title)
    }

    /// The title of the series that an episode belongs to now, or `nil`.
    public func seriesTitle(of episode: Episode) async throws -> String? {
        try await store.related(to: episode) { $0.ofSeries }?.title
    }

    /// Every series by title, with the number of its episodes and the one that was watched last: four statements in all.
    public func overview() async throws -> [SeriesOverview] {
        try await store.read { tx in
            let counts = try tx.fetch(Series.all.select { ($0.id, $0.episodes.count) })
            let countOf = Dictionary(uniqueKeysWithValues: counts)
            let series = try tx.fetch(
                Series.sorted { $0.title }.including {
                    $0.episodes.where { $0.history.progress > 0 }
                        .sorted {
                            $0.history.updatedAt.descending
                            $0.history.id.descending
                        }
                        .limit(1).including { $0.history }
                })
            return try series.map {
                let episode = try $0.episodes.objects.first
                return SeriesOverview(
                    title: $0.title, episodeCount: countOf[$0.id] ?? 0, latest: episode?.title,
                    progress: try episode?.history.object?.progress)
            }
        }
    }

    /// Adds one episode to a series, or takes it from another.
    public func add(_ episode: Episode, to series: Series) async throws { try await add([episode], to: series) }

    /// Adds episodes to a series: new ones, or episodes of another series.
    public func add(_ episodes: [Episode], to series: Series) async throws {
        var series = series
        series.episodes.add(episodes)
        _ = try await store.save(series)
    }

    /// Takes one episode out of a series. It stays, without one.
    public func remove(_ episode: Episode, from series: Series) async throws {
        try await remove([episode], from: series)
    }

    /// Takes episodes out of a series. They stay, without one.
    public func remove(_ episodes: [Episode], from series: Series) async throws {
        var series = series
        series.episodes.remove(episodes)
        _ = try await store.save(series)
    }
}

/// A line of a list of series.
public struct SeriesOverview: Equatable, Sendable {
    /// The series' title.
    public let title: String
    /// The number of its episodes.
    public let episodeCount: Int
    /// The title of the episode that was watched last; `nil` if none was.
    public let latest: String?
    /// The part of it that somebody has watched.
    public let progress: Double?
}
