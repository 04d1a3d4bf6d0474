import RelataCore
public import RelataEngine
public import RelataSQLite

/// Reads the rows of a statement as objects of one model; `Model.read(_:)` runs it.
@_documentation(visibility: internal)
@frozen
public struct ReadLoop<M: Model> {
    /// The columns before the object in a row of an edge.
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
    /// The first column of the object's key, if one object may be in several rows; otherwise a negative number.
    @usableFromInline let keyColumn: Int32
    /// Whether each object is in one row, if rows have owners' keys.
    @usableFromInline let areOnce: Bool
    /// The first column of an object that comes after all links.
    @usableFromInline let objectColumn: Int32
    /// Collects the keys of objects, if links come before all objects.
    @usableFromInline let wanted: WantedKeys?
    /// The objects, each once.
    @usableFromInline var objects: [M] = []
    /// The positions of objects that may be in several rows.
    @usableFromInline var places: [StoredKey<M>: Int32] = [:]
    /// The owner of each row.
    @usableFromInline var rows: EdgeRows
    /// The owners' keys, by their numbers, if rows have keys.
    @usableFromInline var ownerKeys: [StoredKey<M>] = []
    @usableFromInline var ownerNumbers: [StoredKey<M>: Int32] = [:]
    /// The positions of the owners among the objects, by their numbers; -1 for an owner that isn't among them. They are
    /// found here, because the compiler knows the keys' type here: elsewhere each look-up costs more.
    @usableFromInline var ownerPlaces: [Int32] = []
    /// Whether all links were read that come before objects.
    @usableFromInline var hasLinks = false
    /// The result of the last step.
    @usableFromInline var result = StepResult.done
    /// The unreadable column of the row, and the first column of its object, after a failure. Reading again continues
    /// with the next row.
    @usableFromInline var failure: (column: Int32, first: Int32)?

    /// Reads rows that are objects.
    init(_ statement: RunningStatement) {
        (self.statement, owner, keyColumn, objectColumn, areOnce) = (statement, .none, -1, 0, true)
        (wanted, rows) = (nil, EdgeRows())
    }

    /// Reads the rows of an edge.
    ///
    /// - Parameters:
    ///   - keyColumn: The first column of the key among an object's, if one may be in several rows.
    ///   - areOnce: Whether each object is in one row, if rows have owners' keys.
    init(
        _ statement: RunningStatement, edge: CompiledQuery, owner: Owner, numbers: OwnerNumbers = OwnerNumbers(),
        keyColumn: Int? = nil, areOnce: Bool = false
    ) throws {
        let first = edge.objectRows == nil ? (owner == .number ? 1 : M.keyColumnCount) : edge.partColumns[1]
        objectColumn = Int32(first)
        wanted = try edge.objectRows.map { _ in try WantedKeys() }
        if let wanted, case .numbers(let parameter)? = edge.objectRows {
            try wanted.bind(to: statement, at: parameter)
        }
        (self.statement, self.owner, self.areOnce) = (statement, owner, areOnce)
        self.keyColumn = keyColumn.map { Int32(first + $0) } ?? -1
        rows = EdgeRows(edge, numbers)
    }

    /// The number of rows.
    var rowCount: Int { owner == .none ? objects.count : rows.count }

    /// Reserves capacity for that many rows.
    mutating func reserve(_ count: Int) {
        // An object may come in several rows, so there are fewer objects than rows.
        if keyColumn < 0 { objects.reserveCapacity(count) }
        if owner == .key && !areOnce || keyColumn >= 0 && wanted == nil { places.reserveCapacity(count) }
        if owner != .none { rows.reserve(count) }
    }

    @inlinable
    mutating func run() throws {
        if let wanted { return try runAfterLinks(wanted) }
        while true {
            result = statement.step()
            guard result == .row else {
                if owner == .key { findOwners() }
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
            if keyColumn >= 0 {
                var reader = RowReader(statement, column: keyColumn)
                place = places.number(of: StoredKey(try M.readKey(from: &reader)), new: place)
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
                if owner == .key, !areOnce, let key = object.ownKey {
                    place = places.number(of: key, new: place)
                }
                if place == objects.count { objects.append(object) }
            }
            if owner != .none { rows.add(place, to: number, statement) }
        }
    }

    /// Reads the rows of an edge whose links come before all objects.
    @inlinable
    mutating func runAfterLinks(_ wanted: WantedKeys) throws {
        result = hasLinks ? statement.step() : try rows.readLinks(statement, wanted, keyColumn)
        hasLinks = true
        while result == .row, !rows.hasStranger {
            var reader = RowReader(statement, column: objectColumn)
            guard rows.setPlace(objects.count, statement, wanted) else {
                // Nobody links to it.
                result = statement.step()
                continue
            }
            do {
                objects.append(try M(from: &reader))
            } catch {
                fail(at: reader.column, first: objectColumn)
                throw error
            }
            result = statement.step()
        }
        rows.resolve()
    }

    /// Finds the owners among the objects. If each object occurs once, the few owners are searched for each object,
    /// instead of the reverse: a table of all objects wouldn't fit into the processor's caches.
    @inlinable
    mutating func findOwners() {
        guard areOnce else {
            ownerPlaces = ownerKeys.map { places[$0] ?? -1 }
            return
        }
        ownerPlaces = Array(repeating: -1, count: ownerKeys.count)
        for index in objects.indices {
            guard let key = objects[index].ownKey, let number = ownerNumbers[key] else { continue }
            ownerPlaces[Int(number)] = Int32(truncatingIfNeeded: index)
        }
    }

    /// Discards the object of the current row, which can't be read.
    @usableFromInline
    mutating func fail(at column: Int32, first: Int32) {
        failure = (column, first)
        if let wanted {
            _ = rows.setPlace(-1, statement, wanted)
            return
        }
        guard keyColumn >= 0 else { return }
        var reader = RowReader(statement, column: keyColumn)
        if let key = try? M.readKey(from: &reader) { places[StoredKey(key)] = nil }
    }

    /// Owners are numbered in order of appearance. Rows of one owner are mostly consecutive.
    @inlinable
    mutating func ownerNumber(_ key: StoredKey<M>) -> Int32 {
        if let last = ownerKeys.last, last == key { return Int32(truncatingIfNeeded: ownerKeys.count - 1) }
        let number = ownerNumbers.number(of: key, new: Int32(truncatingIfNeeded: ownerKeys.count))
        if number == ownerKeys.count { ownerKeys.append(key) }
        return number
    }
}
