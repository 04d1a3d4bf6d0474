import RelataCore
public import RelataEngine

/// Reads the rows of a statement as objects of one model; `Model.read(_:)` runs it.
@_documentation(visibility: internal)
@frozen
public struct ReadLoop<M: Model> {
    /// What stands before the object in a row of an edge.
    @usableFromInline
    enum Owner {
        /// Nothing: no edge.
        case none
        /// The owner's number or key.
        case number
        /// The key of an owner of the same model.
        case key
    }

    @usableFromInline let statement: RunningStatement
    @usableFromInline let owner: Owner
    /// Where the object's key begins, if one object may come in several rows; else a negative number.
    @usableFromInline let keyColumn: Int32
    /// Where those objects are that were read, if their key stands before them in each row: rows may leave out what is
    /// known.
    @usableFromInline let known: KeyNumbers?
    /// The objects, each once.
    @usableFromInline var objects: [M] = []
    /// Where those are that may come in several rows, where not ``known`` tells.
    @usableFromInline var places: [StoredKey<M>: Int32] = [:]
    /// Which owner each row is of.
    @usableFromInline var rows: EdgeRows
    /// The owners' keys, by their numbers, where rows tell keys.
    @usableFromInline var ownerKeys: [StoredKey<M>] = []
    @usableFromInline var ownerNumbers: [StoredKey<M>: Int32] = [:]
    /// Where the owners are among the objects, by their numbers; -1 for one that isn't. Found here, where the compiler
    /// knows the keys' type: elsewhere each look-up costs more.
    @usableFromInline var ownerPlaces: [Int32] = []
    /// What the last step came to.
    @usableFromInline var result = StepResult.done
    /// The column of the row that can't be read, and where its object begins, once a reading failed. Reading again goes
    /// on with the next row.
    @usableFromInline var failure: (column: Int32, first: Int32)?

    /// Reads rows that are objects.
    init(_ statement: RunningStatement) {
        (self.statement, owner, keyColumn, known, rows) = (statement, .none, -1, nil, EdgeRows())
    }

    /// Reads the rows of an edge.
    ///
    /// - Parameters:
    ///   - keyColumn: Where the key begins among an object's columns, if one may come in several rows.
    ///   - known: Takes the keys of objects, where each row tells it before the object.
    init(
        _ statement: RunningStatement, edge: CompiledQuery, owner: Owner, numbers: OwnerNumbers = OwnerNumbers(),
        keyColumn: Int? = nil, known: KeyNumbers? = nil
    ) {
        let first = (owner == .number ? 1 : M.keyColumnCount) + (known == nil ? 0 : 1)
        if let known, let parameter = edge.knownKeys { known.bind(to: statement, at: parameter) }
        self.known = known
        (self.statement, self.owner) = (statement, owner)
        self.keyColumn = keyColumn.map { Int32(first + $0) } ?? -1
        rows = EdgeRows(edge, numbers)
    }

    /// How many rows there were.
    var rowCount: Int { owner == .none ? objects.count : rows.count }

    /// Makes room for what so many rows tell.
    mutating func reserve(_ count: Int) {
        // An object that may come in several rows is one of fewer.
        if keyColumn < 0 { objects.reserveCapacity(count) }
        if owner == .key || keyColumn >= 0 && known == nil { places.reserveCapacity(count) }
        if owner != .none { rows.reserve(count) }
    }

    @inlinable
    mutating func run() throws {
        while true {
            result = statement.step()
            guard result == .row else {
                ownerPlaces = ownerKeys.map { places[$0] ?? -1 }
                return
            }
            var reader = RowReader(statement)
            var number: Int32 = 0
            switch owner {
            case .none: break
            case .number:
                guard let known = rows.owner(statement) else { return }
                number = known
                reader.skip(1)
            case .key: number = ownerNumber(StoredKey(try M.readKey(from: &reader)))
            }
            var place = Int32(truncatingIfNeeded: objects.count)
            if let known {
                if let number = known[ColumnValue(statement, 1)] {
                    place = number
                } else if ColumnValue(statement, keyColumn).isNull {
                    continue  // a row that leads nowhere
                }
                reader.skip(1)
            } else if keyColumn >= 0 {
                var reader = RowReader(statement, column: keyColumn)
                let key = StoredKey<M>(try M.readKey(from: &reader))
                if let known = places[key] { place = known } else { places[key] = place }
            }
            if place == objects.count {
                let first = reader.column
                let object: M
                do {
                    object = try M(from: &reader)
                } catch {
                    fail(at: reader.column, first: first)
                    throw error
                }
                // In a tree every object is looked for by its key later.
                if owner == .key, let key = object.ownKey {
                    if let known = places[key] { place = known } else { places[key] = place }
                }
                if let known { known[ColumnValue(statement, 1)] = place }
                if place == objects.count { objects.append(object) }
            }
            if owner != .none { rows.add(place, to: number, statement) }
        }
    }

    /// Forgets the object of the current row, which can't be read.
    @usableFromInline
    mutating func fail(at column: Int32, first: Int32) {
        failure = (column, first)
        guard known == nil, keyColumn >= 0 else { return }
        var reader = RowReader(statement, column: keyColumn)
        if let key = try? M.readKey(from: &reader) { places[StoredKey(key)] = nil }
    }

    /// Owners are numbered as they come. Rows of one owner mostly come together.
    @inlinable
    mutating func ownerNumber(_ key: StoredKey<M>) -> Int32 {
        if let last = ownerKeys.last, last == key { return Int32(truncatingIfNeeded: ownerKeys.count - 1) }
        if let known = ownerNumbers[key] { return known }
        let number = Int32(truncatingIfNeeded: ownerKeys.count)
        ownerNumbers[key] = number
        ownerKeys.append(key)
        return number
    }
}

/// Which object each row of an edge gives to which owner.
@usableFromInline
struct EdgeRows {
    /// Where the columns begin that tell an object's place among those of its owner, and how many they are: none where
    /// rows come in order.
    private let placeColumn: Int32
    private let placeColumns: Int
    private var numbers: OwnerNumbers
    /// Whether a row belongs to none of the owners; those after it weren't read then.
    private(set) var hasStranger = false
    private var owners: [Int32] = []
    private var objects: [Int32] = []
    private var places: [Place] = []
    private var isSorted = true

    /// A position, and a key that is a number or a UUID. Whatever else a column holds comes last.
    private struct Place: Comparable {
        var position: UInt64 = 0
        var high = UInt64.max
        var low = UInt64.max

        init(_ statement: RunningStatement, _ column: Int32, hasPosition: Bool) {
            if hasPosition {
                let value = ColumnValue(statement, column)
                position = value.isInteger ? Self.ascending(value.integer) : .max
            }
            let key = ColumnValue(statement, hasPosition ? column + 1 : column)
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

    /// Rows of an edge; of none where it is `nil`.
    init(_ edge: CompiledQuery? = nil, _ numbers: OwnerNumbers = OwnerNumbers()) {
        self.numbers = numbers
        placeColumns = edge?.placeColumns ?? 0
        placeColumn = Int32((edge?.columnTypes.count ?? 0) - placeColumns)
    }

    /// Makes room for so many rows.
    mutating func reserve(_ count: Int) {
        owners.reserveCapacity(count)
        objects.reserveCapacity(count)
        if placeColumns > 0 { places.reserveCapacity(count) }
    }

    /// How many there are.
    var count: Int { owners.count }

    /// The number of the owner that the current row begins with; `nil` where it is of none, which ends the reading.
    @usableFromInline
    mutating func owner(_ statement: RunningStatement) -> Int32? {
        let number = numbers.next(statement)
        if number == nil { hasStranger = true }
        return number
    }

    @usableFromInline
    mutating func add(_ object: Int32, to owner: Int32, _ statement: RunningStatement) {
        if placeColumns > 0 {
            let place = Place(statement, placeColumn, hasPosition: placeColumns > 1)
            if isSorted, let last = owners.last {
                isSorted = last < owner || last == owner && places[places.count - 1] < place
            }
            places.append(place)
        }
        owners.append(owner)
        objects.append(object)
    }

    /// Adds the next object of the owner that the row begins with; whether there is such an owner.
    mutating func addNext(_ statement: RunningStatement) -> Bool {
        guard let owner = owner(statement) else { return false }
        add(Int32(truncatingIfNeeded: objects.count), to: owner, statement)
        return true
    }

    /// The objects of each of so many owners, in order.
    ///
    /// - Parameter numbers: For each owner the number that it has from now on.
    func lists(owners count: Int, numbers: [Int32]? = nil) -> MemberLists {
        let owners = numbers.map { numbers in self.owners.map { numbers[Int($0)] } } ?? self.owners
        var lists = MemberLists(owners: owners, members: Array(0..<Int32(owners.count)), count: count)
        if !isSorted { lists.sort { places[Int($0)] < places[Int($1)] } }
        lists.map { objects[Int($0)] }
        return lists
    }

    /// The object of each owner of a to-one, whose key stands in a row of the list; -1 for none.
    func lists(ofRows rows: [Int32], keys: Int) -> MemberLists {
        var found = [Int32](repeating: -1, count: keys)
        for (row, object) in zip(owners, objects) { found[Int(row)] = object }
        return MemberLists(rows.map { $0 < 0 ? -1 : found[Int($0)] })
    }
}

/// For each owner the numbers of its members, in order.
@frozen @usableFromInline
struct MemberLists {
    /// Where each owner's members begin in `members`, and after the last owner the end.
    @usableFromInline var starts: [Int32]
    @usableFromInline var members: [Int32]

    /// Sorts members by their owners, and leaves those of one owner as they stand.
    init(owners: [Int32], members: [Int32], count: Int) {
        var starts = [Int32](repeating: 0, count: count + 1)
        for owner in owners { starts[Int(owner) + 1] += 1 }
        for owner in 0..<count { starts[owner + 1] += starts[owner] }
        var next = starts
        var sorted = [Int32](repeating: 0, count: members.count)
        for (owner, member) in zip(owners, members) {
            sorted[Int(next[Int(owner)])] = member
            next[Int(owner)] += 1
        }
        self.starts = starts
        self.members = sorted
    }

    /// One member an owner; -1 for none.
    init(_ targets: [Int32]) {
        members = targets.filter { $0 >= 0 }
        starts = [0]
        for target in targets { starts.append(starts[starts.count - 1] + (target < 0 ? 0 : 1)) }
    }

    /// Where an owner's members stand.
    @inlinable
    subscript(owner: Int) -> Range<Int> { Int(starts[owner])..<Int(starts[owner + 1]) }

    /// Sorts the members of each owner.
    mutating func sort(by precedes: (Int32, Int32) -> Bool) {
        for owner in 0..<starts.count - 1 where self[owner].count > 1 { members[self[owner]].sort(by: precedes) }
    }

    mutating func map(_ change: (Int32) -> Int32) {
        for index in members.indices { members[index] = change(members[index]) }
    }
}
