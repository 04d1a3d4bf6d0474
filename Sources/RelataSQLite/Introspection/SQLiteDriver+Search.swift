import RelataCore
import RelataEngine

extension SQLiteDriver {
    /// The indexes are read from the file itself, regardless of the store's models.
    package func searchIndexes(_ connection: Connection) throws(RelataError) -> [SearchIndex] {
        let query = "SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, ?1) = ?2"
        let prefix: [Parameter] = [
            .value(.integer(Int64(SearchIndex.prefix.count))), .value(.text(SearchIndex.prefix)),
        ]
        let names = try connection.values(SQLStatement(query, prefix)).map { $0[0].description }
        var indexes: [SearchIndex] = []
        for name in names {
            guard let table = SearchIndex.table(ofWords: name),
                let index = SearchIndex(
                    words: name, columns: try columnNames(of: name, connection),
                    changes: try columnNames(of: SearchIndex.changes(of: table), connection),
                    hasNumbers: names.contains(SearchIndex.numbers(of: table))),
                try hasTable(table, connection)
            else { continue }
            indexes.append(index)
        }
        return indexes
    }
}
