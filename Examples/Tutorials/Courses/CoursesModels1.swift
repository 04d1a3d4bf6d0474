import Relata

@Model struct Series {
    let id: ID<Series>
    @Attribute(.notEmpty) var title: String
}

@Model struct Episode {
    let id: ID<Episode>
    @Attribute(.notEmpty) var title: String
    var ofSeries: ToOne<Series>?
}
