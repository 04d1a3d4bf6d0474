import RelataCore
import RelataEngine
import RelataSQLite
import Testing

/// The objects of many owners' relationships in one statement.
struct QueryEdgeTests {
    let library: QueryLibrary

    init() throws { library = try .small() }

    @Test func rowsSortedByTheReaderHavePositions() throws {
        try library.insert("Person_friends", [["personId": 3, "friendId": 4], ["personId": 2, "friendId": 4]])
        try library.connection.execute("DELETE FROM Person_friends WHERE friendId = 2")
        try library.insert("Person_friends", [["personId": 1, "friendId": 2]])
        let query = try library.compiler.edge(
            QueryPlan(entity: "Person"), from: "Person", along: "friends", of: nil,
            columns: .parts([.key(path: [])]), sortsRows: false)
        let rows = try library.run(query)
        #expect(rows.count == 5)
        let width = query.columnTypes.count - query.placeColumns
        // Sorted by the position alone, as the rows of one owner are.
        func targets(of owner: Value) -> [Value] {
            let own = rows.filter { $0[0] == owner }
            let sorted =
                query.placeColumns == 0
                ? own
                : own.sorted { left, right in
                    guard case .integer(let first) = left[width], case .integer(let second) = right[width] else {
                        return false
                    }
                    return first < second
                }
            return sorted.map { $0[1] }
        }
        #expect(targets(of: 1) == [2, 3])
        #expect(targets(of: 3) == [1, 4])
        #expect(targets(of: 2) == [4])
    }

    @Test func linksAndObjectsAreReadSeparately() throws {
        let owners = KeyList(values: [1, 2], width: 1)
        let query = try library.compiler.edge(
            QueryPlan(entity: "Author"), from: "Book", along: "authors", of: owners, tellsOnce: true)
        // A reader can't sort by text, so the objects come with their links.
        #expect(query.objectRows == nil)
        #expect(try library.run(query).map { $0[1] }.sorted { "\($0)" < "\($1)" } == ["le", "le", "mi"])

        let friends = try library.compiler.edge(
            QueryPlan(entity: "Person"), from: "Person", along: "friends", of: KeyList(values: [1, 3], width: 1),
            tellsOnce: true)
        guard case .numbers(let parameter)? = friends.objectRows else { throw RelataError.invalidUse("no rows apart") }
        // The reader of the links adds the keys of the objects that it found.
        var statement = friends.statement
        statement.parameters[parameter - 1] = .list([2, 3, 1])
        let rows = try library.connection.values(statement, types: friends.columnTypes)
        let parts = friends.partColumns
        let links = rows.filter { !$0[0].isNull }.map { [$0[0], $0[parts[0]]] }
        #expect(links.sorted { "\($0)" < "\($1)" } == [[1, 2], [1, 3], [3, 1]])
        // An object is within the bounds of its part, after its number among the keys.
        let objects = rows.filter { $0[0].isNull }.map { Array($0[parts[1]..<parts[2]]) }
        #expect(objects.sorted { "\($0)" < "\($1)" } == [[1, "Ada", nil], [2, "Bea", 1], [3, "Cy", 2]])
    }

    @Test func knownTargetsAreLeftOutOfRows() throws {
        let columns = SelectedColumns.parts([
            .key(path: []), .expression(the("mother")), .key(path: ["mother"]), .expression(the("mother.name")),
        ])
        let query = try library.compiler.select(
            QueryPlan(entity: "Person", sort: [SortTerm(the("id"))]), columns: columns, sharing: [1..<4])
        let whole: [[Value]] = [[1, nil, nil, nil], [2, 1, 1, "Ada"], [3, 2, 2, "Bea"], [4, 99, nil, nil]]
        #expect(query.knownKeys.count == 1 && query.knownKeys[0] != nil)
        #expect(try library.run(query) == whole)
        // A part that the order or another part reads is never left out.
        let sorted = try library.compiler.select(
            QueryPlan(entity: "Person", sort: [SortTerm(the("mother.name")), SortTerm(the("id"))]), columns: columns,
            sharing: [1..<4])
        #expect(sorted.knownKeys == [nil])
        #expect(Set(try library.run(sorted)) == Set(whole))
    }
}
