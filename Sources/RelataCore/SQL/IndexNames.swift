/// Gives indexes their names: `index_Book_genreId`, `unique_Book_title_year`.
///
/// The same columns always get the same name, and all names of indexes and tables are different: a name that is
/// ambiguous, or too long for a database, gets a hash of its parts.
struct IndexNames {
    private var taken: Set<FoldedName>
    /// Whether a table has a name.
    private let isTable: (FoldedName) -> Bool

    /// Names that no table of the schema has.
    init(_ schema: Schema) {
        taken = []
        isTable = { schema.tableOwners[$0] != nil }
    }

    /// Names that none of these is.
    init(taken: some Sequence<String>) {
        self.taken = Set(taken.map { $0.foldedName })
        isTable = { _ in false }
    }

    mutating func name(table: String, columns: [String], isUnique: Bool) -> String {
        name(table: table, columns: columns, isUnique: isUnique) { _ in false }
    }

    /// The name of an index.
    ///
    /// - Parameter isTaken: Whether an object outside of the schema has a name.
    mutating func name<Failure: Error>(
        table: String, columns: [String], isUnique: Bool, unless isTaken: (String) throws(Failure) -> Bool
    ) throws(Failure) -> String {
        let name = Self.name(table: table, columns: columns, isUnique: isUnique)
        var candidate = name
        var number = 2
        while try isKnown(candidate) ? true : isTaken(candidate) {
            candidate = "\(name)_\(number)"
            number += 1
        }
        taken.insert(candidate.foldedName)
        return candidate
    }

    private func isKnown(_ name: String) -> Bool { isTable(name.foldedName) || taken.contains(name.foldedName) }

    /// The name that an index on these columns has unless something else is called so.
    static func name(table: String, columns: [String], isUnique: Bool) -> String {
        let parts = [table] + columns
        let name = (isUnique ? "unique_" : "index_") + parts.joined(separator: "_")
        guard parts.dropFirst().contains(where: { $0.contains("_") }) || name.utf8.count > 60 else { return name }
        var hasher = StableHasher()
        // As in the first version: files keep such names.
        for part in parts { hasher.combine(part.lowercased()) }
        // No database truncates a name of that many bytes.
        var start = name.prefix(40)
        while start.utf8.count > 50 { start.removeLast() }
        return "\(start)_\(hasher.digits.prefix(8))"
    }
}
