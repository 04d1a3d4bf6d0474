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
}
