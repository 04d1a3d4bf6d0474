public import RelataEngine

/// Reads the parts of a shape from the current row, one after the other.
@_documentation(visibility: internal)
@frozen
public struct ShapeReader {
    /// The columns.
    public var row: RowReader
    /// The end of each to-one that begins at a column.
    @usableFromInline let ends: [Int32]
    /// The objects so far of the to-one that begins at a column.
    @usableFromInline var known: [KnownTargets?]
    /// The keys of that.
    @usableFromInline let numbers: [KeyNumbers?]

    init(_ statement: RunningStatement, ends: [Int32], numbers: [KeyNumbers?]) {
        row = RowReader(statement)
        self.ends = ends
        self.numbers = numbers
        known = Array(repeating: nil, count: ends.count)
    }

    /// Reads the key of the shape's object.
    @inlinable
    public mutating func readKey<Root: Model>(_ root: Root.Type) throws -> Root.Key { try Root.readKey(from: &row) }

    /// Passes over that key.
    public mutating func skipKey<Root: Model>(_ root: Root.Type) { row.skip(Root.keyColumnCount) }

    /// Passes over a to-one.
    @inlinable
    mutating func skipToOne() { row.column = ends[Int(row.column)] }

    /// Reads the object at the end of a to-one: the owner's key, and then the object, which begins with its own. An
    /// object of an earlier row isn't made again, and may be left out of the row. `nil`, at the object's own key, for
    /// none.
    @inlinable
    mutating func readToOne<Value>(_ read: (inout ShapeReader) throws -> Value) throws -> Value? {
        let place = Int(row.column)
        let targets: TypedTargets<Value>
        if let known = known[place] as? TypedTargets<Value> {
            targets = known
        } else {
            targets = TypedTargets(numbers[place] ?? KeyNumbers())
            known[place] = targets
        }
        let key = row.next
        if targets.areShared, let target = targets[key] {
            skipToOne()
            return target
        }
        row.skip(1)
        if row.isNull {
            // SQLite may be some rows ahead, and have skipped the row before the row was included.
            guard !targets.areShared, let target = targets[key] else { return nil }
            row.skip(-1)
            skipToOne()
            return target
        }
        let target = try read(&self)
        if targets.areShared { targets.add(target, key) }
        return target
    }

    /// The error for a missing required object; the caller adds the property.
    @usableFromInline
    static var missing: RelataError { .corruptStore("the object isn't there") }
}

/// The objects that a to-one has led to.
@usableFromInline
class KnownTargets {
    @usableFromInline let numbers: KeyNumbers
    // Only its reader uses it; otherwise each access would be checked for every row.

    /// Whether rows share objects often enough for a look-up.
    @exclusivity(unchecked) @usableFromInline var areShared = true
    /// The number of successful look-ups.
    @exclusivity(unchecked) @usableFromInline var finds = 0

    @usableFromInline init(_ numbers: KeyNumbers) { self.numbers = numbers }
}

/// The objects that a to-one has led to, by their keys.
@usableFromInline
final class TypedTargets<Target>: KnownTargets {
    @exclusivity(unchecked) @usableFromInline var targets: [Target] = []

    @inlinable override init(_ numbers: KeyNumbers) { super.init(numbers) }

    @inlinable
    subscript(key: ColumnValue) -> Target? {
        guard let number = numbers[key] else { return nil }
        finds += 1
        return targets[Int(number)]
    }

    @inlinable
    func add(_ target: Target, _ key: ColumnValue) {
        if targets.count >= 500, finds < targets.count / 2 {
            areShared = false
            numbers.isClosed = true
            return
        }
        numbers[key] = Int32(truncatingIfNeeded: targets.count)
        targets.append(target)
    }
}

/// Steps through the rows of one level of a shape, and records the owner of each and the lists to load.
@_documentation(visibility: internal)
public struct ShapeCursor {
    /// Reads the current row.
    public var reader: ShapeReader
    let connection: Connection
    let statement: RunningStatement
    /// 1 if rows begin with the number of their owner, otherwise 0.
    let firstColumn: Int32
    /// The owner of each row.
    var rows: EdgeRows
    /// For each list its owners' keys.
    var keys: [ShapeKeys]
    /// The end of the page, if it is one.
    var page: PageEnd?

    init(
        reader: ShapeReader, connection: Connection, statement: RunningStatement, firstColumn: Int32, rows: EdgeRows,
        keys: [ShapeKeys]
    ) {
        self.rows = rows
        self.reader = reader
        self.connection = connection
        self.statement = statement
        self.firstColumn = firstColumn
        self.keys = keys
    }

    /// Steps to the next row, if there is one.
    public mutating func next() throws -> Bool {
        guard try connection.step(statement) else { return false }
        if page?.takes(Row(statement)) == false { return false }
        if firstColumn > 0, !rows.addNext(statement) { return false }
        for index in keys.indices { keys[index].append(Row(statement)) }
        reader.row.column = firstColumn
        return true
    }
}

/// Reads all rows of one level of a shape; `Shape.read(_:)` runs it.
@_documentation(visibility: internal)
public struct ShapeLoop<Value> {
    /// The current row.
    public var cursor: ShapeCursor
    /// The values that were read.
    public var values: [Value] = []

    /// Reserves capacity for that many rows.
    mutating func reserve(_ count: Int) {
        values.reserveCapacity(count)
        if cursor.firstColumn > 0 { cursor.rows.reserve(count) }
    }
}

/// Gives shapes the lists that were loaded for them.
@_documentation(visibility: internal)
public struct ShapeLoader {
    @usableFromInline let lists: [any LoadedShapes]
    @usableFromInline var row = 0
    @usableFromInline var next = 0

    init(_ lists: [any LoadedShapes]) { self.lists = lists }

    /// Begins with a row.
    @inlinable
    mutating func begin(_ row: Int) {
        self.row = row
        next = 0
    }

    /// Skips the lists of a missing to-one.
    @inlinable
    mutating func skip(_ count: Int) { next += count }

    /// The row's next list.
    @inlinable
    mutating func list<Value>(of type: Value.Type) -> [Value] {
        defer { next += 1 }
        // Lists are described and taken in the same order, so each has the expected type.
        return (lists[next] as? LoadedShapeList<Value>)?.list(of: row) ?? []
    }
}

/// The loaded objects of one list of many owners, without their type.
@usableFromInline
protocol LoadedShapes: AnyObject {}

/// The loaded objects of one list of many owners.
@usableFromInline
final class LoadedShapeList<Value>: LoadedShapes {
    @usableFromInline let values: [Value]
    /// The values of each key.
    @usableFromInline let lists: MemberLists
    /// For each row the number of its key.
    @usableFromInline let numbers: [Int32]

    init(_ values: [Value], lists: MemberLists, numbers: [Int32]) {
        (self.values, self.lists, self.numbers) = (values, lists, numbers)
    }

    @inlinable
    func list(of row: Int) -> [Value] {
        let number = Int(numbers[row])
        guard number >= 0 else { return [] }
        return lists[number].map { values[Int(lists.members[$0])] }
    }
}
