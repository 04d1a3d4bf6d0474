/// Finds entities and properties by a person's input: Relata's names or the database's, regardless of case.
///
/// An exact name always wins, so that nothing is ever ambiguous.
package struct NameResolver: Sendable {
    private let schema: Schema

    /// Resolves names of a schema.
    package init(_ schema: Schema) { self.schema = schema }

    /// The entity that a name means: `Album`, `album`, its table's name, or its name without context.
    package func entity(_ name: String) -> Table? {
        schema[name]
            ?? schema.tables.first { $0.sqlName == name }
            ?? schema.tables.first { $0.entity.source?.fullName == name }
            ?? schema.tables.first { $0.name.isSameName(as: name) || $0.sqlName.isSameName(as: name) }
            ?? schema.tables.first { $0.entity.shortName.isSameName(as: name) }
            ?? schema.tables.first { Self.plain($0.name) == Self.plain(name) }
    }

    /// The property of an entity by a name: `artist`, `ArtistId`, `artist_id`, regardless of case.
    package func property(_ name: String, of table: Table) -> String? {
        let properties = table.entity.properties.map(\.name)
        if properties.contains(name) { return name }
        if let column = table.columns.first(where: { $0.name == name }) { return column.property }
        if let property = properties.first(where: { $0.isSameName(as: name) }) { return property }
        if let column = table.columns.first(where: { $0.name.isSameName(as: name) }) { return column.property }
        let plain = Self.plain(name)
        return properties.first { Self.plain($0) == plain }
            ?? table.columns.first { Self.plain($0.name) == plain }?.property
            ?? joined(name, to: table)
    }

    /// A many-to-many by its join table's name.
    private func joined(_ name: String, to table: Table) -> String? {
        for relationship in table.entity.relationships {
            if case .join(let number, _)? = table.links[relationship.name],
                schema.joins[number].table.isSameName(as: name)
            {
                return relationship.name
            }
        }
        return nil
    }

    /// The letters and digits alone, in lower case.
    private static func plain(_ name: String) -> String {
        name.lowercased().filter { $0.isLetter || $0.isNumber }
    }
}
