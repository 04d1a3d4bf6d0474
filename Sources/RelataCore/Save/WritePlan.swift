/// The plan of a save, made before anything is written: the rows of several batches, their references to each other,
/// and the edits on links that follow. Pure.
///
/// Rows are numbered. Their values stay in the batches, one for each table: objects of a model, or records.
@usableFromInline
package struct WritePlan {
    /// One row.
    package struct Row {
        /// The batch's number, and the row's within it.
        package let batch: Int
        package let row: Int
        /// Whether the object has edits on links.
        package var isEdited = false
        /// Whether an edit of another object gives it a reference when it is written.
        package var isTouched = false
    }

    /// Rows of one batch that are written one after the other.
    package struct Step {
        package let batch: Int
        package let rows: Range<Int>

        package init(batch: Int, rows: Range<Int>) {
            self.batch = batch
            self.rows = rows
        }
    }

    /// In which order the rows are written.
    @usableFromInline
    package struct Order {
        package internal(set) var steps: [Step] = []
        /// Whether each batch is written as a whole.
        package internal(set) var isByBatch = false
        /// Whether a row is written before another that it refers to, whose key is known.
        package internal(set) var waitsForReferences = false
        /// References that are set once the database has assigned their target's key.
        package internal(set) var lateKeys: [(row: Int, reference: Int, target: Int)] = []

        /// The order of one batch by itself.
        package init(ofBatchWith count: Int) {
            steps = [Step(batch: 0, rows: 0..<count)]
            isByBatch = true
        }

        init(byBatch steps: [Step]) {
            self.steps = steps
            isByBatch = true
        }

        init() {}

        /// In which place each of the rows of a batch is written.
        package func places(of batch: Int, count: Int) -> [Int] {
            var places = Array(repeating: 0, count: count)
            var next = 0
            for step in steps where step.batch == batch {
                for row in step.rows {
                    places[row] = next
                    next += 1
                }
            }
            return places
        }
    }

    package private(set) var rows: [Row] = []
    private var edges: [SaveOrder.Edge] = []
    private var references: [Int] = []
    /// The edits on links, in the order in which they were found.
    package private(set) var edits: [LinkEdits] = []
    /// The batches with rows that are edited or touched.
    package private(set) var changedBatches: Set<Int> = []

    package init() {}

    // MARK: Building

    /// Adds a row of a batch and returns its number.
    package mutating func addRow(_ row: Int, of batch: Int) -> Int {
        rows.append(Row(batch: batch, row: row))
        return rows.count - 1
    }

    /// Records that one row refers to another.
    ///
    /// - Parameter isBreakable: Whether it can be written first: its key is known, and the check can wait, or the
    ///   reference may be unset temporarily.
    package mutating func addReference(_ reference: Int, from source: Int, to target: Int, isBreakable: Bool) {
        edges.append(SaveOrder.Edge(source: source, target: target, isBreakable: isBreakable))
        references.append(reference)
    }

    /// Records the edits on a link.
    package mutating func add(_ edit: LinkEdits) {
        edits.append(edit)
        guard case .row(let owner) = edit.owner else { return }
        rows[owner].isEdited = true
        changedBatches.insert(rows[owner].batch)
    }

    /// Records that an edit gives a row a reference when it is written.
    package mutating func touch(_ row: Int) {
        rows[row].isTouched = true
        changedBatches.insert(rows[row].batch)
    }

    /// Whether each row of a batch refers to a row of the plan by a reference, and no two to the same.
    package func refersToOthers(_ batch: Int, by reference: Int) -> Bool {
        var isSource = [Bool](repeating: false, count: rows.count)
        var isTarget = isSource
        var count = 0
        for (number, edge) in edges.enumerated()
        where references[number] == reference && rows[edge.source].batch == batch {
            if isSource[edge.source] || isTarget[edge.target] { return false }
            (isSource[edge.source], isTarget[edge.target]) = (true, true)
            count += 1
        }
        return count == rows.count { $0.batch == batch }
    }

    // MARK: Order

    /// The rows in the required order; `nil` if some need each other and no reference among them can be written later.
    package func rowOrder() -> [Int]? { SaveOrder(count: rows.count, edges: edges)?.order }

    /// The order of all rows: batch by batch if the batches don't depend on each other in a cycle, otherwise row by
    /// row.
    ///
    /// - Parameters:
    ///   - counts: The number of rows each batch has.
    ///   - isKeyKnown: Whether the key of a row is known before it is written.
    /// - Throws: ``RelataError/invalidUse(_:)`` for rows that need each other, if the database assigns all of their
    ///   keys.
    package func order(of counts: [Int], isKeyKnown: (Int) -> Bool) throws(RelataError) -> Order {
        if counts.count == 1, edges.isEmpty { return Order(ofBatchWith: counts[0]) }
        if let batches = batchOrder(counts.count) {
            return Order(byBatch: batches.map { Step(batch: $0, rows: 0..<counts[$0]) })
        }
        guard let plan = SaveOrder(count: rows.count, edges: edges) else {
            throw .invalidUse(
                "objects with keys that the database assigns need each other: make one of the references optional, or save one object first"
            )
        }
        var order = Order()
        for number in plan.broken {
            let edge = edges[number]
            if isKeyKnown(edge.target) {
                order.waitsForReferences = true
            } else {
                order.lateKeys.append((edge.source, references[number], edge.target))
            }
        }
        order.steps = plan.order.map { Step(batch: rows[$0].batch, rows: rows[$0].row..<rows[$0].row + 1) }
        return order
    }

    /// The order in which the batches can be written as a whole; `nil` if rows of one refer to each other, or those of
    /// several in a cycle.
    private func batchOrder(_ count: Int) -> [Int]? {
        var isNeeded = Array(repeating: false, count: count * count)
        for edge in edges { isNeeded[rows[edge.source].batch * count + rows[edge.target].batch] = true }
        let needs = isNeeded.indices.filter { isNeeded[$0] }.map {
            SaveOrder.Edge(source: $0 / count, target: $0 % count, isBreakable: false)
        }
        return SaveOrder(count: count, edges: needs)?.order
    }
}
