import Relata

// Models of people and places, for links of every kind.

@Model struct Person {
    let id: ID<Person>
    var name: String
    var boss: ToOne<Person>?
    @Relationship(inverse: \Person.boss) var reports: ToMany<Person>
    var following: ToMany<Person>
    @Relationship(inverse: \Person.following) var followers: ToMany<Person>
    @Relationship(ordered: true) var favourites: ToMany<Person>
}

@Model struct Citizen {
    var id: Int?
    var name: String
    @Relationship(deleteRule: .cascade, inverse: \Passport.holder) var passport: HasOne<Passport>
    @Relationship(inverse: \Desk.user) var desk: HasOne<Desk>
}

@Model struct Passport {
    @Attribute(.primaryKey) let number: String
    var holder: ToOne<Citizen>
}

@Model struct Desk {
    let id: ID<Desk>
    var place: String
    var user: ToOne<Citizen>?
    var lamp: ToOne<Lamp>?
}

@Model struct Lamp {
    @Attribute(.primaryKey) let name: String
    @Relationship(inverse: \Desk.lamp) var desk: HasOne<Desk>
}

@Model struct Flight {
    @Attribute(.primaryKey) let number: String
    var origin: ToOne<Airport>
    var destination: ToOne<Airport>
    var stops: ToMany<Airport>
    @Relationship(ordered: true) var alternates: ToMany<Airport>
}

@Model struct Airport {
    @Attribute(.primaryKey) let code: String
    @Relationship(deleteRule: .cascade, inverse: \Flight.origin) var departures: ToMany<Flight>
    @Relationship(inverse: \Flight.destination) var arrivals: ToMany<Flight>
    @Relationship(inverse: \Flight.stops) var stopovers: ToMany<Flight>
}

@Model struct Album {
    let id: ID<Album>
    var title: String
    @Relationship(inverse: \Song.album, ordered: true) var songs: ToMany<Song>
}

@Model struct Song {
    var id: Int?
    var title: String
    var album: ToOne<Album>?
    @Relationship(inverse: \Playlist.songs, ordered: true) var playlists: ToMany<Playlist>
}

@Model struct Playlist {
    var id: Int?
    var name: String
    @Relationship(ordered: true) var songs: ToMany<Song>
}

@Model struct Setlist {
    let id: ID<Setlist>
    var name: String
    @Relationship(deleteRule: .cascade, inverse: \SetlistItem.setlist, order: \SetlistItem.position)
    var items: ToMany<SetlistItem>
    @Relationship(through: \Setlist.items, \SetlistItem.tune) var tunes: Through<Tune>
}

@Model struct SetlistItem {
    let id: ID<SetlistItem>
    var position: Int = 0
    var transposedKey: String?
    @Attribute(.revision) var revision: Int
    var setlist: ToOne<Setlist>
    var tune: ToOne<Tune>
}

@Model struct Tune {
    @Attribute(.primaryKey) let name: String
    @Relationship(deleteRule: .cascade, inverse: \SetlistItem.tune) var items: ToMany<SetlistItem>
}

@Model struct Squad {
    let id: ID<Squad>
    var name: String
    @Relationship(minimum: 1, maximum: 3) var members: ToMany<Member>
}

@Model struct Member {
    let id: ID<Member>
    var name: String
    @Relationship(inverse: \Squad.members, minimum: 0, maximum: 2) var squads: ToMany<Squad>
}

@Model struct Boat {
    let id: ID<Boat>
    var name: String
    @Relationship(inverse: \Sailor.boat, minimum: 1, maximum: 2) var crew: ToMany<Sailor>
}

@Model struct Sailor {
    let id: ID<Sailor>
    var name: String
    var boat: ToOne<Boat>?
}

@Model struct Shelf {
    let id: ID<Shelf>
    @Relationship(inverse: \Box.shelves, minimum: 1) var boxes: ToMany<Box>
}

@Model struct Box {
    let id: ID<Box>
    @Relationship(minimum: 1) var shelves: ToMany<Shelf>
}
