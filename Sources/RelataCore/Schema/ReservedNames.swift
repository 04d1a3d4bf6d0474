/// Names that the tables of entities can't have.
package enum ReservedNames {
    /// Whether tables of that name belong to SQLite or Relata, or may belong to a later version.
    package static func isInternal(_ table: String) -> Bool { begins(table, with: ["sqlite_", "relata_"]) }

    /// Whether a table of that name is SQLite's or Relata's own. Other programs may have tables of other reserved
    /// names.
    package static func isOwn(_ table: String) -> Bool {
        begins(table, with: ["sqlite_"]) || isOfSearch(table) || ownTables.contains(table.foldedName)
    }

    /// Whether a table or a trigger of that name belongs to a search index.
    package static func isOfSearch(_ name: String) -> Bool { begins(name, with: [SearchIndex.prefix.foldedName]) }

    private static let ownTables: Set<FoldedName> = [
        "relata_metadata", "relata_changes", "relata_commits", "relata_copy", "relata_import",
        "relata_parse_classes", "relata_parse_requests",
    ]

    /// Whether a table of that name would hide a table-valued function of SQLite, or may hide one of a later version:
    /// `json_each`, `pragma_table_info`. Queries of other programs would find the table in its place.
    ///
    /// Other modules are for the database to name: see ``DataQuestion/isModule(name:)``.
    package static func isFunction(_ table: String) -> Bool { begins(table, with: ["json_", "jsonb_", "pragma_"]) }

    private static func begins(_ table: String, with prefixes: [FoldedName]) -> Bool {
        let name = table.foldedName
        return prefixes.contains { name.hasPrefix($0) }
    }
}
