import Foundation
import RelataCore
import RelataEngine

/// One save: the objects that are given and those they link to, from being gathered to being written.
///
/// Objects are kept, typed, in one ``Bucket`` for each model, and numbered as the rows of a ``WritePlan``, their
/// *nodes*. Gathering visits links and notes which node needs which; then everything is validated, and a ``WriteRun``
/// writes it.
@usableFromInline
final class SaveSession {
    let catalog: ModelCatalog
    /// The plan and the options of the save.
    let run: WriteRun
    /// In the order in which the models were found.
    // One task saves, so the properties that each object uses do without exclusivity checks.
    @exclusivity(unchecked) @usableFromInline private(set) var buckets: [any AnyBucket] = []
    /// For each table its bucket; -1 for none.
    @exclusivity(unchecked) @usableFromInline private(set) var bucketNumbers: [Int]
    /// The number of objects whose links were visited, and the objects to visit again.
    private var visited = 0
    private var unvisited: [Int] = []
    /// The buckets whose objects are returned changed; computed on first use.
    private var rebuilt: [Bool?] = []
    /// The error of reading a changed row again.
    private var failure: (any Error)?
    /// Writes the row of the one object that isn't written here.
    var caller: RowCaller?
    /// Checks the rights of the store's caller; `nil` for the owner.
    var rights: SaveGuard?

    init(connection: Connection, catalog: ModelCatalog, now: Date) {
        self.catalog = catalog
        run = WriteRun(connection, schema: catalog.schema, isSchemaFixed: true, now: now)
        bucketNumbers = Array(repeating: -1, count: catalog.schema.tables.count)
    }

    // MARK: Gathering

    /// The bucket of a model.
    @inlinable
    func bucket<M: Model>(_ model: M.Type, table index: Int) -> Bucket<M> {
        let number = bucketNumbers[index]
        if number >= 0, let existing = buckets[number] as? Bucket<M> { return existing }
        return makeBucket(model, index)
    }

    @usableFromInline
    func makeBucket<M: Model>(_ model: M.Type, _ index: Int) -> Bucket<M> {
        let bucket = Bucket<M>(catalog.schema.tables[index], self, number: buckets.count)
        bucketNumbers[index] = buckets.count
        buckets.append(bucket)
        run.add(bucket)
        return bucket
    }

    /// Adds objects that were given to the call and returns their nodes.
    @discardableResult
    func add<M: Model>(_ objects: [M], as role: SaveRole) throws -> [Int] {
        try bucket(M.self, table: try catalog.index(of: M.self)).add(objects, as: role, self)
    }

    /// Adds an object that was given to the call.
    func add<M: Model>(_ object: M, as role: SaveRole) throws -> Int { try add([object], as: role)[0] }

    @usableFromInline
    func makeNode(bucket: Int, row: Int) -> Int { run.plan.addRow(row, of: bucket) }

    /// Visits the links of a node whose object was replaced by one with edits.
    func visitAgain(_ node: Int) { if node < visited { unvisited.append(node) } }

    /// Records that one object refers to another. A target with a known key can be written afterwards, with a deferred
    /// check; a target without one only if the reference may be unset temporarily.
    func addEdge(from source: Int, to target: Int, reference: Int, isKeyKnown: Bool) {
        let isBreakable = isKeyKnown || catalog.schema.references[reference].isOptional
        run.plan.addReference(reference, from: source, to: target, isBreakable: isBreakable)
    }

    @usableFromInline
    func keyKnown(_ node: Int) -> Bool { run.key(row: node) != nil }

    @usableFromInline
    func bucketOf(_ node: Int) -> any AnyBucket { buckets[run.plan.rows[node].batch] }

    /// Visits all links: finds nested objects, references and edits. Nothing more happens the second time.
    ///
    /// - Parameter skipsFailures: Whether an object with contradicting links is left out, instead of ending the whole
    ///   save.
    func gather(skipsFailures: Bool = false) throws {
        guard let bucket = buckets.first else { return }
        let gatherer = LinkGatherer(self, bucket)
        func visit(_ number: Int, _ rows: Range<Int>, firstNode: Int) throws {
            do {
                try buckets[number].visit(rows, firstNode: firstNode, gatherer)
            } catch {
                if !skipsFailures { throw error }
            }
        }
        while visited < run.plan.rows.count || !unvisited.isEmpty {
            while visited < run.plan.rows.count {
                let first = visited
                let next = step(from: first, atMost: skipsFailures ? 1 : .max)
                visited += next.rows.count
                try visit(next.batch, next.rows, firstNode: first)
            }
            let again = unvisited
            unvisited = []
            for node in again {
                let row = run.plan.rows[node].row
                try visit(run.plan.rows[node].batch, row..<row + 1, firstNode: node)
            }
        }
        for bucket in buckets { bucket.resolveKeyReferences(self) }
    }

    /// The rows of one bucket that the plan has from a number on, as long as they follow one another.
    private func step(from first: Int, atMost limit: Int) -> WritePlan.Step {
        let rows = run.plan.rows
        let row = rows[first]
        var end = first + 1
        while end < rows.count, end - first < limit, rows[end].batch == row.batch,
            rows[end].row == row.row + (end - first)
        {
            end += 1
        }
        return WritePlan.Step(batch: row.batch, rows: row.row..<row.row + (end - first))
    }

    /// Checks all objects against their limits and their own rules.
    func validate() throws {
        var failures: [ValidationFailure] = []
        for bucket in buckets { bucket.validate(into: &failures) }
        try Validation.refuse(failures)
        for bucket in buckets { try bucket.checkUnset(self) }
    }

    /// Whether there is more to do than writing one node's columns.
    func hasWork(besides node: Int) throws -> Bool {
        try gather()
        return run.plan.rows.count > 1 || !run.plan.edits.isEmpty
    }

    /// The order in which the nodes would be written. An object that can't be saved doesn't have all its dependencies:
    /// its own save reports the error.
    func plannedOrder() throws -> [Int] {
        try gather(skipsFailures: true)
        return run.plan.rowOrder() ?? Array(run.plan.rows.indices)
    }

    /// The first reference, of the node or of nodes saved with it, to one of these objects.
    func firstReference(to objects: Set<ObjectReference>, from node: Int) -> (ObjectReference, property: String)? {
        if objects.isEmpty { return nil }
        let links = catalog.links[bucketOf(node).tableIndex]
        for number in run.plan.rows.indices where number != node {
            guard let key = run.key(row: number) else { continue }
            let table = bucketOf(number).table
            let object = ObjectReference(entity: table.name, key: key)
            if objects.contains(object) {
                return (object, links.first { $0.target == table.index }?.name ?? object.entity)
            }
        }
        for bucket in buckets {
            for (key, source, reference) in bucket.referredKeys() where source == node {
                let reference = catalog.schema.references[reference]
                let object = ObjectReference(entity: catalog.schema.tables[reference.target].name, key: key)
                if objects.contains(object) { return (object, reference.property) }
            }
        }
        return nil
    }

    /// Gathers, validates and writes everything.
    func save() throws {
        try prepare()
        try run.run()
        try rights?.complete(self)
    }

    /// Gathers and validates everything, and checks that it may be written.
    func prepare() throws {
        try gather()
        try validate()
        try rights?.check(self)
    }

    // MARK: Results

    /// Records that an edit gives an object a reference when it is written.
    @usableFromInline
    func touch(node: Int) { run.plan.touch(node) }

    /// Whether objects of a bucket have edits on links, or edits have changed their rows.
    func hasEdits(_ bucket: any AnyBucket) -> Bool {
        run.plan.changedBatches.contains(bucket.number) || run.touched[bucket.tableIndex] != nil
    }

    func isTouched(_ node: Int) -> Bool {
        if run.plan.rows[node].isTouched { return true }
        guard !run.touched.isEmpty, let keys = run.touched[bucketOf(node).tableIndex] else { return false }
        return run.key(row: node).map(keys.contains) ?? false
    }

    /// Whether the objects of a bucket aren't returned as they were given: the save changes them, or those they link
    /// to.
    func isRebuilt(_ number: Int) -> Bool {
        if rebuilt.count < buckets.count { rebuilt += Array(repeating: nil, count: buckets.count - rebuilt.count) }
        if let known = rebuilt[number] { return known }
        let bucket = buckets[number]
        rebuilt[number] = true  // as long as it isn't known, for models that lead back to themselves
        let entity = bucket.table.entity
        let result =
            entity.hasStamps || entity.isKeyAssigned || bucket.hasMatch || bucket.hasRounded
            || hasEdits(bucket)
            || catalog.links[bucket.tableIndex].contains { $0.reference != nil && isReplaced(table: $0.target) }
        rebuilt[number] = result
        return result
    }

    /// Whether links to a table's objects don't stay as they are: the save has other values of them.
    private func isReplaced(table: Int) -> Bool {
        let number = bucketNumbers[table]
        return number >= 0 && (buckets[number].hasGiven || isRebuilt(number))
    }

    /// Whether links to a model's objects don't stay as they are.
    @usableFromInline
    func isReplaced<M: Model>(_ model: M.Type) -> Bool {
        (try? catalog.index(of: model)).map(isReplaced(table:)) ?? false
    }

    /// A stored row. An unreadable one is an error of the save: see ``finish(_:)``.
    func stored<M: Model>(_ model: M.Type, _ key: KeyValue) -> M? {
        do {
            return try RowWriter<M>(table: try catalog.table(model), run: run).stored(key)
        } catch {
            failure = failure ?? error
            return nil
        }
    }

    /// Makes the values of the given objects after the save.
    ///
    /// - Throws: The error of reading the rows that edits on links have changed.
    func finish(_ given: [Int]) throws {
        for bucket in buckets { bucket.confirmLinked() }
        if run.plan.changedBatches.isEmpty, run.touched.isEmpty { return }
        for node in given { bucketOf(node).finish(run.plan.rows[node].row, self) }
        if let failure { throw failure }
    }

    /// An object with its values as they are stored: dates in the precision of their columns.
    func rounded<M: Model>(_ object: M) -> M {
        var state = SavedState(session: self, rowID: nil, isInserted: false, keepsLinks: true, keepsStamps: true)
        return M(saved: object, &state)
    }

    /// The objects that were given, as they are saved.
    func finished<M: Model>(_ objects: [M], _ given: [Int]) -> [M] {
        guard let node = given.first, isRebuilt(run.plan.rows[node].batch) else { return objects }
        let bucket = bucket(M.self, table: bucketOf(node).tableIndex)
        let rows = given.map { run.plan.rows[$0].row }
        for row in rows { bucket.finish(row, self) }
        return rows.elementsEqual(bucket.objects.indices) ? bucket.objects : rows.map { bucket.objects[$0] }
    }

    /// The value of a given object after the save.
    func finished<M: Model>(_ node: Int, as model: M.Type) -> M {
        bucket(model, table: bucketOf(node).tableIndex).finished(run.plan.rows[node].row, self)
    }

    /// The value of a given object after the save.
    func finishedModel(_ node: Int) -> any Model { bucketOf(node).finishModel(run.plan.rows[node].row, self) }

    /// The bucket of a model, if it has one.
    private func existingBucket<M: Model>(_ model: M.Type) -> Bucket<M>? {
        guard let table = try? catalog.index(of: model), bucketNumbers[table] >= 0 else { return nil }
        return buckets[bucketNumbers[table]] as? Bucket<M>
    }

    /// The value of a linked object after the save.
    @usableFromInline
    func saved<M: Model>(_ box: LinkedObject<M>) -> M {
        guard let bucket = existingBucket(M.self), let row = bucket.row(of: box) else { return box.value }
        return bucket.finished(row, self)
    }

    /// The objects of an edited list as they are saved.
    ///
    /// - Parameter unsaved: The edits' names for the objects without a key, in the same order.
    @usableFromInline
    func saved<M: Model>(_ content: [M], unsaved: [LinkedObject<M>]) -> [M] {
        guard isReplaced(M.self), let bucket = existingBucket(M.self) else { return content }
        var boxes = unsaved.makeIterator()
        return content.map { object in
            if let key = object.primaryKey {
                return bucket.row(key: key).map { bucket.finished($0, self) } ?? object
            }
            return boxes.next().map { saved($0) } ?? object
        }
    }
}
