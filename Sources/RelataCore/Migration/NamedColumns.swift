/// The columns of a table in order, with look-up by name: a class may get hundreds, one after the other.
package struct NamedColumns: RandomAccessCollection, MutableCollection, Hashable, Sendable, ExpressibleByArrayLiteral {
    private var columns: [ColumnDescription]
    /// The positions of columns by name; empty while there are so few that a linear search is faster.
    private var places: [FoldedName: [Int]] = [:]

    private static let few = 16

    package init(_ columns: [ColumnDescription]) {
        self.columns = columns
        findPlaces()
    }

    package init(arrayLiteral columns: ColumnDescription...) { self.init(columns) }

    package var startIndex: Int { columns.startIndex }
    package var endIndex: Int { columns.endIndex }

    package subscript(position: Int) -> ColumnDescription {
        get { columns[position] }
        _modify {
            let name = columns[position].name
            defer { if columns[position].name != name { findPlaces() } }
            yield &columns[position]
        }
    }

    /// The column of that name, regardless of case.
    package subscript(name: String) -> ColumnDescription? { place(of: name).map { columns[$0] } }

    /// The position of the column of that name, regardless of case. Of several, the one with the exact spelling is
    /// meant: to PostgreSQL they are different names.
    package func place(of name: String) -> Int? {
        guard columns.count > Self.few else {
            return columns.firstIndex { $0.name == name } ?? columns.firstIndex { $0.name.isSameName(as: name) }
        }
        guard let found = places[name.foldedName] else { return nil }
        return found.first { columns[$0].name == name } ?? found.first
    }

    package mutating func append(_ column: ColumnDescription) {
        columns.append(column)
        if columns.count == Self.few + 1 {
            findPlaces()
        } else if columns.count > Self.few {
            places[column.name.foldedName, default: []].append(columns.count - 1)
        }
    }

    package mutating func removeAll(where isGone: (ColumnDescription) throws -> Bool) rethrows {
        try columns.removeAll(where: isGone)
        findPlaces()
    }

    private mutating func findPlaces() {
        places = [:]
        guard columns.count > Self.few else { return }
        for (place, column) in columns.enumerated() { places[column.name.foldedName, default: []].append(place) }
    }

    package static func == (left: NamedColumns, right: NamedColumns) -> Bool { left.columns == right.columns }

    package func hash(into hasher: inout Hasher) { hasher.combine(columns) }
}
