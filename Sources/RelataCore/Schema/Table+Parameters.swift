extension AttributeType {
    /// The type of parameters, on engines whose parameters have types: PostgreSQL's `numeric` for numbers with integers
    /// among them, because `double precision` would round those.
    package func bound(keepsIntegers: Bool) -> AttributeType { self == .real && keepsIntegers ? .decimal : self }
}

extension Entity {
    /// Whether it is a class as Parse's clients make them.
    package var isOfClients: Bool { key == ["objectId"] && createdAt == "createdAt" && updatedAt == "updatedAt" }
}

extension Table {
    /// The type of the parameter for a new value of a column, on engines whose parameters have types; `nil` for the
    /// column's own type.
    ///
    /// A column of numbers may become `numeric` while statements continue that were prepared when it was `double
    /// precision`. PostgreSQL would convert their parameters and keep 15 digits. A parameter of `numeric` is exact in a
    /// column of either type.
    package func writtenType(of index: Int) -> AttributeType? {
        let column = columns[index]
        // A key has the type of the columns that refer to it.
        guard column.type == .real, !keyColumns.contains(index), column.reference == nil else { return nil }
        return column.keepsIntegers || entity.isOfClients ? .decimal : nil
    }
}
