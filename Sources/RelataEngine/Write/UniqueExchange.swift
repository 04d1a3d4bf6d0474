import RelataCore

/// A row of a batch as the exchange of unique values sees it.
package struct UniqueClaimant {
    /// The row's number in the batch.
    package let row: Int
    /// The new values of the row, in the order of ``Table/columns``. Unset if they aren't known yet.
    package let values: [Value]
    /// The columns that are written; `nil` for all.
    package let columns: [Int]?
    /// The columns that identify the stored row: the key's, or those of an upsert.
    package let identity: [Int]
    /// Whether an existing row stays unchanged.
    package let yields: Bool
    /// Whether the row is stored, so that it can wait for its turn without a value that it writes.
    package let canWait: Bool
    /// The one-to-ones whose partner an edit sets.
    package let edited: [Int]

    package init(
        row: Int, values: [Value], columns: [Int]?, identity: [Int], yields: Bool, canWait: Bool, edited: [Int]
    ) {
        self.row = row
        self.values = values
        self.columns = columns
        self.identity = identity
        self.yields = yields
        self.canWait = canWait
        self.edited = edited
    }

    /// Whether a column of a unique set is written.
    func writes(_ set: UniqueSet) -> Bool { columns.map { !Set($0).isDisjoint(with: set.columns) } ?? true }

    /// Whether it can wait without the values of a unique set: it gets all of them back.
    fileprivate func canWait(_ set: UniqueSet) -> Bool {
        canWait && columns.map { Set($0).isSuperset(of: set.columns) } ?? true
    }
}

/// A plan for rows of a batch that take over unique values of other rows, made before the first of them is written.
///
/// A stored row that is written later in the same batch waits with another value. The partner of a one-to-one is taken
/// from a row that doesn't require it.
package struct UniqueExchange {
    /// Before a row is written, its partner is taken from the row that has it.
    package struct Taking {
        package let reference: Int
        package let partner: KeyValue
        /// Whether that is a separate change of the row that loses it, which revisions count.
        package let isCounted: Bool
    }

    private let run: WriteRun
    private let table: Table
    private let sets: [UniqueSet]
    /// The temporary values that each row takes first.
    package private(set) var takings: [Int: [Taking]] = [:]
    /// The rows that wait for their turn without a value.
    package private(set) var waiting: Set<Int> = []

    /// - Parameter sets: The table's unique sets whose values other rows may have.
    package init(_ run: WriteRun, _ table: Table, _ sets: [UniqueSet]) {
        self.run = run
        self.table = table
        self.sets = sets
    }

    /// Decides about the work, and lets rows wait that must.
    ///
    /// - Parameter places: The position at which each row of the batch is written, called if it matters.
    /// - Throws: ``RelataError/uniqueViolation(entity:properties:)`` if a row can't wait: another program's table
    ///   accepts no other value.
    package mutating func plan(_ claimants: [UniqueClaimant], places: () -> [Int]) throws {
        let claims = claims(of: claimants)
        let found = try UniqueHolders(table: table).find(claims, on: run.connection)
        let hasPartners = sets.contains { $0.reference != nil }
        guard !found.isEmpty || hasPartners && claimants.count > 1 else { return }
        let places = places()
        defer { takeTwice(claimants.sorted { places[$0.row] < places[$1.row] }) }
        var rowsOfKeys: [KeyValue: Int] = [:]
        for claimant in claimants where claimant.canWait {
            rowsOfKeys[KeyValue(table.keyColumns.map { claimant.values[$0] })] = claimant.row
        }
        let byRow = Dictionary(claimants.map { ($0.row, $0) }) { first, _ in first }
        var parked: [Int: [KeyValue]] = [:]
        for (number, row, holder) in found {
            guard let claimant = byRow[row] else { continue }
            let set = claims[number].set
            let other = rowsOfKeys[holder].flatMap { byRow[$0]?.canWait(set) == true ? $0 : nil }
            let later = other.map { places[$0] > places[row] } ?? false
            if other != nil, !later { continue }
            if let reference = takeable(set, by: claimant), reference.removeRule == .nullify || !later {
                take(reference, set, claimant, isCounted: table.entity.revision == nil || !later)
            } else if let other, later {
                parked[number, default: []].append(holder)
                waiting.insert(other)
            }
        }
        for (number, keys) in parked.sorted(by: { $0.key < $1.key }) { try park(keys, claims[number].set) }
    }

    /// The one-to-one of a set whose partner a row takes from another that doesn't require it, or is deleted.
    private func takeable(_ set: UniqueSet, by claimant: UniqueClaimant) -> Reference? {
        guard let reference = set.reference.map({ run.schema.references[$0] }) else { return nil }
        // Only an edit of the has-one deletes the partner before.
        let isPossible =
            reference.removeRule == .delete ? claimant.edited.contains(reference.index) : reference.isOptional
        return isPossible ? reference : nil
    }

    private mutating func take(
        _ reference: Reference, _ set: UniqueSet, _ claimant: UniqueClaimant, isCounted: Bool
    ) {
        if takings[claimant.row]?.contains(where: { $0.reference == reference.index }) == true { return }
        let partner = KeyValue(set.columns.map { claimant.values[$0] })
        takings[claimant.row, default: []].append(
            Taking(reference: reference.index, partner: partner, isCounted: isCounted))
    }

    /// If several rows of the batch get the same partner, each takes it from the row that is written before it.
    private mutating func takeTwice(_ claimants: [UniqueClaimant]) {
        for set in sets where set.reference != nil {
            var taken: Set<[Value]> = []
            for claimant in claimants {
                let values = set.columns.map { claimant.values[$0] }
                guard !values.contains(.null), claimant.writes(set), !taken.insert(values).inserted,
                    let reference = takeable(set, by: claimant)
                else { continue }
                take(reference, set, claimant, isCounted: true)
            }
        }
    }

    /// The new values of the rows, by unique set and by the identity of their stored rows.
    private func claims(of claimants: [UniqueClaimant]) -> [UniqueHolders.Claims] {
        var result: [UniqueHolders.Claims] = []
        let canWait = claimants.count > 1 && claimants.contains(where: \.canWait)
        for set in sets {
            var numbers: [[Int]: Int] = [:]
            for claimant in claimants {
                let values = set.columns.map { claimant.values[$0] }
                guard !values.contains(.null), canWait || takeable(set, by: claimant) != nil,
                    claimant.writes(set)
                else { continue }
                if numbers[claimant.identity] == nil {
                    numbers[claimant.identity] = result.count
                    result.append(UniqueHolders.Claims(set: set, identity: claimant.identity))
                }
                result[numbers[claimant.identity] ?? 0].claims.append(
                    UniqueHolders.Claim(
                        row: claimant.row, identity: claimant.identity.map { claimant.values[$0] },
                        yields: claimant.yields, values: values))
            }
        }
        return result
    }

    // MARK: Waiting

    /// Lets rows wait without the values of a unique set, with unique random values instead, or unset ones. Dependent
    /// values in tables that the schema doesn't know follow the random value, and keep their object; but a reference
    /// would dangle, so it is unset.
    private func park(_ keys: [KeyValue], _ set: UniqueSet) throws {
        let written = RowSQL.written(table).filter(set.columns.contains)
        let plain = written.filter { table.columns[$0].reference == nil }
        let optional = written.filter { table.columns[$0].isOptional }
        let references = written.filter { table.columns[$0].reference != nil && !table.columns[$0].isOptional }
        let ways =
            plain.map { (column: $0, isUnset: false) } + optional.map { (column: $0, isUnset: true) }
            + references.map { (column: $0, isUnset: false) }
        for (number, way) in ways.enumerated() {
            if try park(keys, way.column, isUnset: way.isUnset, isLast: number == ways.count - 1) { return }
        }
        throw RelataError.uniqueViolation(entity: table.name, properties: table.properties(of: set.columns))
    }

    /// Whether the rows accept another value in a column: a `CHECK` of another program's table may refuse it, and only
    /// the engine can evaluate that.
    ///
    /// - Parameter isLast: Whether there is no other way to try.
    private func park(_ keys: [KeyValue], _ number: Int, isUnset: Bool, isLast: Bool) throws -> Bool {
        let column = table.columns[number]
        if !isUnset, let reference = column.reference, run.schema.references[reference].isEnforced {
            try run.deferReferences()
        }
        let dialect = run.connection.dialect
        let sql =
            "UPDATE \(dialect.quote(table.sqlName)) SET \(dialect.quote(column.name)) = "
            + (isUnset ? "NULL" : dialect.randomValue(of: column.type))
            + " WHERE \(dialect.tuple(table.keyColumnNames)) IN "
            + dialect.rows(ofParameter: 1, types: table.keyTypes)
        func write() throws { try run.connection.run(SQLStatement(sql, [.keys(keys)])) }
        do {
            // If an error would end the transaction, a savepoint lets the next way be tried.
            let survives = isLast || run.connection.driver.capabilities.survivesErrors
            try survives ? write() : run.connection.savepoint(write)
            return true
        } catch {
            guard ConstraintErrors.isOfConstraint(error) else { throw error }
            return false
        }
    }
}
