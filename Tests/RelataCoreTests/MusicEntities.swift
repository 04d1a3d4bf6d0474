import RelataCore

/// Entities that conditions as text are about: those of the tests, and of `Tests/Fuzzing`.
enum MusicEntities {
    static let all: [Entity] = [
        Entity(
            name: "Artist",
            properties: [
                .attribute(Attribute("id", type: .text)), .attribute(Attribute("name", column: "Name", type: .text)),
                .relationship(Relationship("albums", target: "Album", kind: .toMany(inverse: "artist"))),
            ]),
        Entity(
            name: "Album",
            properties: [
                .attribute(Attribute("id", type: .integer)), .attribute(Attribute("title", type: .text)),
                .attribute(Attribute("price", type: .decimal)),
                .attribute(Attribute("released", type: .date(.iso8601))),
                .attribute(Attribute("isLive", type: .boolean)), .attribute(Attribute("code", type: .uuid(.text))),
                .attribute(Attribute("in", type: .integer)), .attribute(Attribute("odd name", type: .integer)),
                .relationship(
                    Relationship("artist", target: "Artist", kind: .toOne(isOptional: true, columns: ["ArtistId"]))),
                .relationship(Relationship("tracks", target: "Track", kind: .toMany(inverse: "album"))),
                .relationship(Relationship("tags", target: "Tag", kind: .manyToMany())),
            ]),
        Entity(
            name: "Track",
            properties: [
                .attribute(Attribute("id", type: .integer)), .attribute(Attribute("title", type: .text)),
                .attribute(Attribute("length", type: .integer)),
                .relationship(Relationship("album", target: "Album", kind: .toOne(isOptional: false))),
            ]),
        Entity(
            name: "Tag",
            properties: [
                .attribute(Attribute("first", type: .text)), .attribute(Attribute("second", type: .integer)),
            ], key: ["first", "second"]),
    ]
}
