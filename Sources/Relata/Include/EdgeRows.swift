import RelataCore
import RelataEngine
import RelataSQLite

/// The owner of each row of an edge, and the object that the row gives to it.
@usableFromInline
struct EdgeRows {
    /// The columns with an object's position among those of its owner, and with the key that follows it in the order:
    /// none if rows are in order, or positions aren't stored.
    private let positionColumn: Int32?
    private let placeKeyColumn: Int32?
    /// The column with the object's key in a row of a link.
    private let linkColumn: Int32
    private var numbers: OwnerNumbers
    /// Whether a row belongs to none of the owners; the rows after it weren't read then.
    @usableFromInline private(set) var hasStranger = false
    private var owners: [Int32] = []
    private var objects: [Int32] = []
    /// For each key that came before its object, the number of the object; -1 for none.
    private var targets: [Int32] = []
    private var places: [Place] = []
    private var isSorted = true
    /// Whether rows of objects have their keys, rather than the numbers of these.
    private let tellsKeys: Bool

    /// A position, or a key that is a number or a UUID. Other values sort last.
    private struct Place: Comparable {
        var position: UInt64 = 0
        var high = UInt64.max
        var low = UInt64.max

        init(_ statement: RunningStatement, position column: Int32?, key keyColumn: Int32) {
            if let column {
                let value = ColumnValue(statement, column)
                position = value.isInteger ? Self.ascending(value.integer) : .max
            }
            let key = ColumnValue(statement, keyColumn)
            if key.isInteger {
                (high, low) = (Self.ascending(key.integer), 0)
            } else if key.isBlob, let bytes = key.uuid?.uuid {
                let words = unsafeBitCast(bytes, to: (UInt64, UInt64).self)
                (high, low) = (UInt64(bigEndian: words.0), UInt64(bigEndian: words.1))
            }
        }

        private static func ascending(_ value: Int64) -> UInt64 { UInt64(bitPattern: value) ^ (1 << 63) }

        static func < (left: Place, right: Place) -> Bool {
            (left.position, left.high, left.low) < (right.position, right.high, right.low)
        }
    }

    /// Rows of an edge; none for `nil`.
    init(_ edge: CompiledQuery? = nil, _ numbers: OwnerNumbers = OwnerNumbers()) {
        self.numbers = numbers
        tellsKeys = edge?.objectRows == .keys
        let places = edge?.placeColumns ?? 0
        let first = Int32((edge?.columnTypes.count ?? 0) - places)
        if let edge, edge.objectRows != nil {
            linkColumn = Int32(edge.partColumns[0])
            (positionColumn, placeKeyColumn) = (places > 0 ? first : nil, linkColumn)
        } else {
            linkColumn = 0
            positionColumn = places > 1 ? first : nil
            placeKeyColumn = places > 0 ? first + Int32(places) - 1 : nil
        }
    }

    /// Reserves capacity for a number of rows.
    mutating func reserve(_ count: Int) {
        owners.reserveCapacity(count)
        objects.reserveCapacity(count)
        if placeKeyColumn != nil { places.reserveCapacity(count) }
    }

    /// The number of rows.
    var count: Int { owners.count }

    /// The number of the current row's owner; `nil` for none, which ends the reading.
    @usableFromInline
    mutating func owner(_ statement: RunningStatement) -> Int32? {
        let number = numbers.next(statement)
        if number == nil { hasStranger = true }
        return number
    }

    @usableFromInline
    mutating func add(_ object: Int32, to owner: Int32, _ statement: RunningStatement) {
        if let placeKeyColumn {
            let place = Place(statement, position: positionColumn, key: placeKeyColumn)
            if isSorted, let last = owners.last {
                isSorted = last < owner || last == owner && places[places.count - 1] < place
            }
            places.append(place)
        }
        owners.append(owner)
        objects.append(object)
    }

    /// Reads the rows with keys of objects, up to the first one that is an object. A row of no owner ends the reading.
    @usableFromInline
    mutating func readLinks(
        _ statement: RunningStatement, _ wanted: WantedKeys, _ keyColumn: Int32
    ) throws -> StepResult {
        while true {
            let result = statement.step()
            guard result == .row,
                tellsKeys ? !ColumnValue(statement, 0).isNull : ColumnValue(statement, keyColumn).isNull,
                let owner = owner(statement)
            else { return result }
            add(try wanted.number(of: ColumnValue(statement, linkColumn)), to: owner, statement)
        }
    }

    /// Records the object of the current row, whose key came before; returns whether it did.
    @usableFromInline
    mutating func setPlace(_ place: Int, _ statement: RunningStatement, _ wanted: WantedKeys) -> Bool {
        let column = ColumnValue(statement, linkColumn)
        guard let number = tellsKeys ? wanted.known(column).map({ Int($0) }) : Int(column.integer) - 1 else {
            return false
        }
        if targets.count <= number { targets += repeatElement(-1, count: number + 1 - targets.count) }
        targets[number] = Int32(truncatingIfNeeded: place)
        return true
    }

    /// Replaces the keys of links by objects, and drops dangling links.
    @usableFromInline
    mutating func resolve() {
        var count = 0
        for row in objects.indices {
            let number = Int(objects[row])
            guard number < targets.count, targets[number] >= 0 else { continue }
            objects[count] = targets[number]
            if count < row {
                owners[count] = owners[row]
                if placeKeyColumn != nil { places[count] = places[row] }
            }
            count += 1
        }
        owners.removeLast(owners.count - count)
        objects.removeLast(objects.count - count)
        if placeKeyColumn != nil { places.removeLast(places.count - count) }
    }

    /// Adds the next object of the row's owner; returns whether there is one.
    mutating func addNext(_ statement: RunningStatement) -> Bool {
        guard let owner = owner(statement) else { return false }
        add(Int32(truncatingIfNeeded: objects.count), to: owner, statement)
        return true
    }

    /// The objects of each of the owners, in order.
    ///
    /// - Parameter numbers: For each owner the number that it has from now on.
    func lists(owners count: Int, numbers: [Int32]? = nil) -> MemberLists {
        let owners = numbers.map { numbers in self.owners.map { numbers[Int($0)] } } ?? self.owners
        var lists = MemberLists(owners: owners, members: Array(0..<Int32(owners.count)), count: count)
        if !isSorted { lists.sort { places[Int($0)] < places[Int($1)] } }
        lists.map { objects[Int($0)] }
        return lists
    }

    /// The object of each owner of a to-one, whose key is in a row of the list; -1 for none.
    func lists(ofRows rows: [Int32], keys: Int) -> MemberLists {
        var found = [Int32](repeating: -1, count: keys)
        for (row, object) in zip(owners, objects) { found[Int(row)] = object }
        return MemberLists(rows.map { $0 < 0 ? -1 : found[Int($0)] })
    }
}
