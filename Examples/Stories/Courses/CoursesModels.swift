import Foundation
import Relata

/// A series of episodes, which go with it.
@Model public struct Series {
    public var id: Int?
    public var title: String
    public var summary: String = ""
    @Relationship(deleteRule: .cascade, inverse: \Episode.ofSeries) public var episodes: ToMany<Episode>
}

/// An episode. Its history stays when it is deleted.
@Model public struct Episode {
    public var id: Int?
    public var title: String
    public var summary: String = ""
    @Relationship(deleteRule: .nullify) public var ofSeries: ToOne<Series>?
    @Relationship(deleteRule: .nullify, inverse: \History.ofEpisode) public var history: HasOne<History>
}

/// The part of an episode that somebody has watched.
@Model public struct History {
    public var id: Int?
    @Attribute(.range(0...1)) public var progress: Double
    @Attribute(.updatedAt) public var updatedAt: Date = .distantPast
    @Relationship(deleteRule: .nullify) public var ofEpisode: ToOne<Episode>?
}
