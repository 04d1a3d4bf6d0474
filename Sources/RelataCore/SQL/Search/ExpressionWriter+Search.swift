/// Full-text search.
extension ExpressionWriter {
    /// The search of a query in its statement.
    struct FoundRows {
        /// The relevance of a row.
        let relevance: Term
        /// The number of a found row, which orders rows of equal relevance; `nil` if only the key does.
        let number: Term?
    }

    /// The index of a table, and the columns among its own that are looked at; `nil` for all of them.
    private func index(
        _ search: ObjectSearch, of table: Table
    ) throws(RelataError) -> (index: SearchIndex, columns: [String]?) {
        guard let names = table.entity.search, let index = SearchIndex(table) else {
            throw .invalidUse(
                "\(table.name) has no search: declare the searched attributes, such as #Search<\(table.name)>([\\.title])"
            )
        }
        if let stray = search.properties.first(where: { !names.contains($0) }) {
            throw .invalidUse(
                "\(table.name).\(stray) isn't among the searched attributes (\(names.joined(separator: ", "))): add it to #Search"
            )
        }
        if search.properties.isEmpty || Set(search.properties) == Set(names) { return (index, nil) }
        return (
            index,
            table.columns.filter { search.properties.contains($0.property) }.map(\.name)
        )
    }

    /// Whether an object is found by a search.
    mutating func requireFound(by search: ObjectSearch) throws(RelataError) {
        var position = try position(of: search.scope)
        for name in search.path { position = try follow(name, from: position) }
        let table = schema.tables[positions[position].table]
        let (index, columns) = try index(search, of: table)
        guard !search.text.isEmpty else { return sql.append(dialect.never) }
        // The row itself is required, because a key may dangle, or lead to a hidden row.
        let alias = alias(of: position)
        guard dialect == .sqlite else { return sql.append(isFound(search.text, columns, in: alias).condition) }
        let key = tuple(self.columns(alias, index.key))
        sql.append("\(key) IN " + index.foundKeys(bind(.text(search.text.fullTextQuery(columns)), as: .text)))
    }

    /// Begins a query's rows with those that a search finds.
    ///
    /// - Parameter limit: The number of best matches that are needed, if nothing else filters them; `nil` for all.
    /// - Returns: The condition on them, and their form in the statement.
    mutating func begin(
        with search: ObjectSearch, best limit: Int? = nil
    ) throws(RelataError) -> (condition: String, rows: FoundRows) {
        let position = try position(of: 0)
        let table = schema.tables[positions[position].table]
        let (index, columns) = try index(search, of: table)
        guard !search.text.isEmpty else {
            return (dialect.never, FoundRows(relevance: relevance("CAST(0 AS double precision)"), number: nil))
        }
        let alias = alias(of: position)
        guard dialect == .sqlite else {
            let found = isFound(search.text, columns, in: alias)
            return (found.condition, FoundRows(relevance: relevance(found.relevance), number: nil))
        }
        let parameter = bind(.text(search.text.fullTextQuery(columns)), as: .text)
        let best = limit.map { bind(.integer(Int64($0)), as: .integer) }
        // FTS5 weighs a word by the number of rows that have it. If some rows are hidden, each is weighed by itself:
        // otherwise hidden rows would affect the order.
        let text = access.guards(table) ? bind(.text(search.text.text), as: .text) : nil
        let frame = positions[position].frame
        // The search comes first: otherwise SQLite would look each row of another table up in the index.
        let found = index.found(parameter, best: best, telling: text)
        frames[frame] = "\(found) AS found CROSS JOIN \(frames[frame])"
        let isSame = pairwise(self.columns(alias, index.key), index.key.indices.map { "found.k\($0)" })
        let number = Term(sql: "found.number", type: .integer, isNullable: false)
        let figures = (columns ?? index.columns).map { name in
            "relata_search_relevance(found.search, coalesce(\(column(alias, name)), ''))"
        }
        let own = text == nil ? "found.relevance" : "(\(figures.joined(separator: " + ")))"
        return (isSame, FoundRows(relevance: relevance(own), number: number))
    }

    private func relevance(_ sql: String) -> Term {
        Term(sql: sql, type: .real, isNullable: false, name: "the relevance")
    }

    /// Whether PostgreSQL finds a row, and how well.
    private mutating func isFound(
        _ text: SearchText, _ columns: [String]?, in alias: String
    ) -> (condition: String, relevance: String) {
        let query = "CAST(\(bind(.text(text.textSearchQuery), as: .text)) AS tsquery)"
        let words = column(alias, SearchIndex.column)
        var condition = "\(words) @@ \(query)"
        var ranked = words
        if let columns {
            // The index finds candidates by the words of all columns, and other columns may contain excluded words.
            if !text.excluded.isEmpty {
                let wanted = bind(.text(text.withoutExclusions.textSearchQuery), as: .text)
                condition = "\(words) @@ CAST(\(wanted) AS tsquery)"
            }
            ranked = "relata.search_vector(ARRAY[\(self.columns(alias, columns).joined(separator: ", "))]::text[])"
            condition = "(\(condition) AND \(ranked) @@ \(query))"
        }
        return (condition, "CAST(ts_rank_cd(\(ranked), \(query), 1) AS double precision)")
    }
}

extension SearchText {
    /// The search as FTS5 reads it, each word in quotes.
    ///
    /// - Parameter columns: The columns that are looked at; `nil` for all.
    func fullTextQuery(_ columns: [String]?) -> String {
        let phrase = { (phrase: SearchPhrase) in
            "\"" + phrase.words.joined(separator: " ") + (phrase.isPrefix ? "\" *" : "\"")
        }
        let clauses = clauses.map { "(" + $0.map(phrase).joined(separator: " OR ") + ")" }
        var query = clauses.joined(separator: " AND ")
        if !excluded.isEmpty { query = "(\(query)) NOT (\(excluded.map(phrase).joined(separator: " OR ")))" }
        guard let columns else { return query }
        let names = columns.map { Dialect.sqlite.quote(SearchIndex.wordColumn($0)) }.joined(separator: " ")
        return "{\(names)} : (\(query))"
    }

    /// The search as PostgreSQL's `tsquery` is spelled, each word in quotes.
    var textSearchQuery: String {
        let phrase = { (phrase: SearchPhrase) in
            var words = phrase.words.map { "'" + String($0.unicodeScalars.prefix(SearchText.longestWord)) + "'" }
            if phrase.isPrefix { words[words.count - 1] += ":*" }
            return "(" + words.joined(separator: " <-> ") + ")"
        }
        let clauses =
            clauses.map { "(" + $0.map(phrase).joined(separator: " | ") + ")" } + excluded.map { "!" + phrase($0) }
        return clauses.joined(separator: " & ")
    }

    /// The number of characters of a word that PostgreSQL keeps: it takes words of two thousand bytes.
    static let longestWord = 500
}
