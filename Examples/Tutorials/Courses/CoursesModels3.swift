import Foundation
import Relata

@Model struct Series {
    let id: ID<Series>
    @Attribute(.notEmpty) var title: String
    @Relationship(deleteRule: .cascade, inverse: \Episode.ofSeries) var episodes: ToMany<Episode>
}

@Model struct Episode {
    let id: ID<Episode>
    @Attribute(.notEmpty) var title: String
    var ofSeries: ToOne<Series>?
    @Relationship(deleteRule: .nullify, inverse: \History.ofEpisode) var history: HasOne<History>
}

@Model struct History {
    let id: ID<History>
    @Attribute(.range(0...1)) var progress: Double
    @Attribute(.updatedAt) var updatedAt: Date = .distantPast
    var ofEpisode: ToOne<Episode>?
}
