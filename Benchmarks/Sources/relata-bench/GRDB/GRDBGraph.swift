import GRDB

// The graph of novels as GRDB records that the compiler makes `Codable`.

struct CodableNovel: Codable, TableRecord {
    static let databaseTableName = "Novel"
    static let genre = belongsTo(CodableGenre.self, key: "genre", using: ForeignKey(["genreId"]))
    static let authorships = hasMany(CodableNovelWriter.self, using: ForeignKey(["novelId"])).order(Column("position"))
    static let writers = hasMany(
        CodableWriter.self, through: authorships, using: CodableNovelWriter.writer, key: "writers")
    var id: Int
    var title: String
    var year: Int
}

struct CodableGenre: Codable, TableRecord {
    static let databaseTableName = "Genre"
    var id: Int
    var name: String
}

struct CodableWriter: Codable, TableRecord {
    static let databaseTableName = "Writer"
    var id: Int
    var name: String
}

struct CodableNovelWriter: TableRecord {
    static let databaseTableName = "Novel_writers"
    static let writer = belongsTo(CodableWriter.self, using: ForeignKey(["writerId"]))
}

/// A novel with its related objects.
struct CodableNovelGraph: Codable, FetchableRecord {
    var novel: CodableNovel
    var genre: CodableGenre
    var writers: [CodableWriter]
}
