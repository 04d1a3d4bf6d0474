import Relata

// 10,000 novels, each with a genre and, in order, three of 3,000 writers.

@Model struct Novel {
    let id: Int
    var title: String
    var year: Int
    var genre: ToOne<Genre>
    @Relationship(ordered: true) var writers: ToMany<Writer>
}

@Model struct Genre {
    let id: Int
    var name: String
    @Relationship(inverse: \Novel.genre) var novels: ToMany<Novel>
}

@Model struct Writer {
    let id: Int
    var name: String
    @Relationship(inverse: \Novel.writers) var novels: ToMany<Novel>
}

// 1,000 setlists with twenty items each, and one song for each item.

@Model struct Setlist {
    let id: Int
    var name: String
    @Relationship(inverse: \SetlistItem.setlist, ordered: true) var items: ToMany<SetlistItem>
}

@Model struct SetlistItem {
    let id: Int
    var transposedKey: String
    var setlist: ToOne<Setlist>
    var song: ToOne<Song>
}

@Model struct Song {
    let id: Int
    var title: String
    var length: Int
}

// Five levels below thirteen continents.

@Model struct Continent {
    let id: Int
    var name: String
    @Relationship(inverse: \Country.continent) var countries: ToMany<Country>
}

@Model struct Country {
    let id: Int
    var name: String
    var continent: ToOne<Continent>
    @Relationship(inverse: \Province.country) var provinces: ToMany<Province>
}

@Model struct Province {
    let id: Int
    var name: String
    var country: ToOne<Country>
    @Relationship(inverse: \City.province) var cities: ToMany<City>
}

@Model struct City {
    let id: Int
    var name: String
    var province: ToOne<Province>
    @Relationship(inverse: \Street.city) var streets: ToMany<Street>
}

@Model struct Street {
    let id: Int
    var name: String
    var city: ToOne<City>
    @Relationship(inverse: \House.street) var houses: ToMany<House>
}

@Model struct House {
    let id: Int
    var name: String
    var street: ToOne<Street>
}

// A tree of one model.

@Model struct Folder {
    let id: Int
    var name: String
    var parent: ToOne<Folder>?
    @Relationship(inverse: \Folder.parent) var children: ToMany<Folder>
}
