import Foundation
import RelataCore
import RelataEngine

/// The objects of one model in a save, as a session sees them without knowing the type.
@usableFromInline
protocol AnyBucket: RowBatch {
    /// The bucket's number in the session.
    var number: Int { get }
    /// Whether the call was given objects, or only linked ones are here.
    var hasGiven: Bool { get }
    /// Whether a row must match others by their unique columns, whose key it takes over.
    var hasMatch: Bool { get }
    /// Whether a written object has a value with another stored form: a date with nanoseconds.
    var hasRounded: Bool { get }
    func visit(_ rows: Range<Int>, firstNode: Int, _ gatherer: LinkGatherer) throws
    func resolveKeyReferences(_ session: SaveSession)
    func validate(into failures: inout [ValidationFailure])
    func noteUnset(node: Int, row: Int, reference: Int)
    func checkUnset(_ session: SaveSession) throws
    /// Records that a linked object is stored unchanged.
    func confirmLinked()
    func override(row: Int, reference: Int, owner: PlannedKey)
    /// The required operation for a row.
    func role(of row: Int) -> SaveRole
    /// The values of a row's columns, as the object has them.
    func values(of row: Int) throws -> [Value]
    /// Whether other objects give a row a reference.
    func isGivenReferences(_ row: Int) -> Bool
    /// Lets a row be inserted with a placeholder for its position in a list with unique positions: it gets the final
    /// one afterwards.
    func standIn(row: Int, column: Int)
    /// The objects that others refer to by key alone: key, referring node and reference.
    func referredKeys() -> [(key: KeyValue, node: Int, reference: Int)]
    func finish(_ row: Int, _ session: SaveSession)
    func finishModel(_ row: Int, _ session: SaveSession) -> any Model
}

/// The result of a row in a save. It is exact for objects with edits on links; other inserted objects may be recorded
/// as written if it makes no difference.
enum RowProgress: UInt8 {
    case pending, written, inserted
}

/// The objects of one model in a save.
///
/// The work for each object while a save is gathered is inlined into the app's module; the rest isn't.
@usableFromInline
final class Bucket<M: Model>: AnyBucket {
    @usableFromInline package let table: Table
    @usableFromInline package let tableIndex: Int
    /// The save, which holds the bucket.
    unowned let session: SaveSession
    /// The bucket's number in the session.
    @usableFromInline let number: Int
    // A save has its buckets alone, so the properties that each object uses do without exclusivity checks.
    @exclusivity(unchecked) @usableFromInline var objects: [M] = []
    @exclusivity(unchecked) @usableFromInline var roles: [SaveRole] = []
    @exclusivity(unchecked) @usableFromInline var nodes: [Int] = []
    @exclusivity(unchecked) @usableFromInline var rows: [StoredKey<M>: Int] = [:]
    /// The rows of objects that get a key from the database, or a part of it from another object.
    @usableFromInline var keyless: Set<Int> = []
    @usableFromInline private(set) var hasGiven = false
    @usableFromInline private(set) var hasMatch = false
    @usableFromInline var hasRounded = false
    /// The keys of rows that got a part of it from another new object: they are written, and the objects don't know it
    /// yet.
    private var givenKeys: [Int: KeyValue] = [:]
    /// Linked objects without a key, by identity: a copy of the same link is the same object.
    private var rowsOfBoxes: [ObjectIdentifier: Int] = [:]
    /// The content of linked objects without a key, to notice one that was linked twice; and whether a one-to-many owns
    /// it.
    private var unsavedContents: [[Value]: Bool] = [:]
    /// The given objects by identity, collected when the first link of this kind is found.
    private var givenContents: Set<[Value]>?
    var overrides: [Int: [ColumnOverride]] = [:]
    /// The one-to-ones whose partners rows take from others before they are written.
    var takings: [Int: [UniqueExchange.Taking]] = [:]
    /// The columns of rows with a placeholder for the position in a list.
    var standIns: [Int: Int] = [:]
    /// References by key alone, to find out at the end whether the object is in the session.
    @usableFromInline var keyReferences: [(key: M.Key, node: Int, reference: Int)] = []
    private var resolved = 0
    private var unset: [(node: Int, row: Int, reference: Int)] = []
    private var isFinished: [Bool] = []
    /// Whether writing its row ends the transaction.
    var endsTransaction = false
    /// Whether the model links to its own objects.
    @usableFromInline let leadsToItself: Bool
    /// The result of each row; empty before the first is written.
    private var progress: [RowProgress] = []
    /// The rows of linked objects that existed already.
    var kept: Set<Int> = []
    /// The rows of linked objects that an earlier save has stored unchanged.
    @usableFromInline var confirmed: Set<Int> = []
    /// The links to objects that may exist already.
    @exclusivity(unchecked) @usableFromInline var linked: [LinkedObject<M>] = []

    init(_ table: Table, _ session: SaveSession, number: Int = 0) {
        self.table = table
        self.session = session
        tableIndex = table.index
        self.number = number
        leadsToItself = table.entity.relationships.contains { $0.target == table.name }
    }

    /// Objects of a model without links, which need neither nodes nor rows by key.
    convenience init(_ table: Table, _ session: SaveSession, plain objects: [M], as role: SaveRole) {
        self.init(table, session)
        self.objects = objects
        roles = Array(repeating: role, count: objects.count)
        if table.entity.isKeyAssigned { keyless = Set(objects.indices.filter { objects[$0].primaryKey == nil }) }
    }

    /// Whether the objects have neither nodes nor rows by key.
    var isPlain: Bool { nodes.isEmpty }

    @usableFromInline package var count: Int { objects.count }

    // MARK: Gathering

    func add(_ objects: [M], as role: SaveRole, _ session: SaveSession) throws -> [Int] {
        hasGiven = true
        if case .match = role { hasMatch = true }
        rows.reserveCapacity(rows.count + objects.count)
        var loop = GatherLoop(.add(objects, role), self, session)
        try M.gather(&loop)
        return loop.nodes
    }

    /// Adds one of the objects given to the call and returns its node.
    @inlinable
    func add(_ given: [M], at index: Int, as role: SaveRole, _ session: SaveSession) throws -> Int {
        if let key = given[index].primaryKey {
            let next = objects.count
            let row = row(of: key, orTake: next)
            if row < next { return try addAgain(given[index], row, as: role) }
        } else {
            try checkKeyless(role)
        }
        return append(given[index], role, session)
    }

    @usableFromInline
    func addAgain(_ object: M, _ row: Int, as role: SaveRole) throws -> Int {
        guard objects[row] == object else { throw twice(object) }
        if role == .insert, roles[row] == .insert { throw RelataError.alreadyExists(object.reference()) }
        // The object was linked before it was given: now it is written itself.
        if roles[row] == .link { roles[row] = role }
        return nodes[row]
    }

    @usableFromInline
    func checkKeyless(_ role: SaveRole) throws {
        if role == .update {
            throw RelataError.invalidUse(
                "\(M.entityName.withArticle) without a key can't be updated: insert it, or use save")
        }
        keyless.insert(objects.count)
    }

    /// Adds an object that another links to and returns its node.
    ///
    /// - Parameter isOwned: Whether it is a member of a one-to-many, and so of one list only.
    @inlinable
    func link(_ box: LinkedObject<M>, _ session: SaveSession, isOwned: Bool = false) throws -> Int {
        if let key = box.value.primaryKey {
            let next = objects.count
            let row = row(of: key, orTake: next)
            if row < next {
                if !box.isConfirmed { linked.append(box) }
                try merge(box.value, into: row, session)
                return nodes[row]
            }
            if box.isConfirmed { confirmed.insert(next) } else { linked.append(box) }
        } else if let row = try rowOfKeyless(box, isOwned) {
            return nodes[row]
        }
        return append(box.value, .link, session)
    }

    /// The row of a key; a new key takes the next one. Looking for it and then adding it would hash it twice.
    @inlinable
    func row(of key: M.Key, orTake next: Int) -> Int {
        func value(_ row: inout Int) -> Int { row }
        return value(&rows[StoredKey(key), default: next])
    }

    /// The row of an object without a key that is linked again; `nil` for a new one.
    @usableFromInline
    func rowOfKeyless(_ box: LinkedObject<M>, _ isOwned: Bool) throws -> Int? {
        let identity = ObjectIdentifier(box)
        if let row = rowsOfBoxes[identity] { return row }
        let content = try box.value.columnValues(table)
        // Two equal members of one-to-manys are two objects, because two lines of an invoice may be equal. Elsewhere an
        // equal object is a copy of the same.
        let others = unsavedContents.updateValue(isOwned, forKey: content)
        guard try !isGiven(content), others == nil || others == true && isOwned else {
            throw RelataError.invalidUse(
                "the same new \(M.entityName) is linked from two places, or given and linked, and would be inserted twice: save it first, or copy one link to both places"
            )
        }
        rowsOfBoxes[identity] = objects.count
        keyless.insert(objects.count)
        return nil
    }

    /// A copy of an object that is in the session already. Only its columns and edits must be equal: its loaded links
    /// aren't written.
    @usableFromInline
    func merge(_ object: M, into row: Int, _ session: SaveSession) throws {
        if objects[row] == object { return }
        guard try objects[row].columnValues(table) == object.columnValues(table) else { throw twice(object) }
        // A copy from before the last edits, such as a new child's link back to its parent.
        if try object.hasOnlyEdits(of: objects[row]) { return }
        guard roles[row] == .link, try !objects[row].hasEdits() else { throw twice(object) }
        objects[row] = object
        session.visitAgain(nodes[row])
    }

    /// Whether an object without a key was given with that content. All objects are given before any link is visited.
    private func isGiven(_ content: [Value]) throws -> Bool {
        if givenContents == nil {
            givenContents = []
            for row in keyless where roles[row] != .link {
                givenContents?.insert(try objects[row].columnValues(table))
            }
        }
        return givenContents?.contains(content) == true
    }

    @inlinable
    func append(_ object: M, _ role: SaveRole, _ session: SaveSession) -> Int {
        let node = session.makeNode(bucket: number, row: objects.count)
        objects.append(object)
        roles.append(role)
        nodes.append(node)
        return node
    }

    private func twice(_ object: M) -> RelataError {
        .invalidUse(
            "\(object.reference()) is in the batch twice with different content: save one of them, and link to it by its id"
        )
    }

    @usableFromInline
    func visit(_ rows: Range<Int>, firstNode: Int, _ gatherer: LinkGatherer) throws {
        gatherer.turn(to: self)
        if gatherer.links.isEmpty { return }
        var loop = GatherLoop(.visit(rows, firstNode: firstNode, gatherer), self, gatherer.session)
        try M.gather(&loop)
    }

    @inlinable
    func refer(toKey key: M.Key, from node: Int, reference: Int) { keyReferences.append((key, node, reference)) }

    @usableFromInline
    func resolveKeyReferences(_ session: SaveSession) {
        guard !objects.isEmpty else { return }
        defer { resolved = keyReferences.count }
        for (key, node, reference) in keyReferences[resolved...] {
            guard let row = rows[StoredKey(key)] else { continue }
            session.addEdge(from: node, to: nodes[row], reference: reference, isKeyKnown: true)
        }
    }

    @usableFromInline
    func override(row: Int, reference: Int, owner: PlannedKey) {
        overrides[row, default: []].append(ColumnOverride(reference: reference, owner: owner))
    }

    @usableFromInline
    func role(of row: Int) -> SaveRole { roles[row] }

    @usableFromInline
    func values(of row: Int) throws -> [Value] { try objects[row].columnValues(table) }

    @usableFromInline
    func isGivenReferences(_ row: Int) -> Bool { overrides[row]?.isEmpty == false }

    @usableFromInline
    func standIn(row: Int, column: Int) { standIns[row] = column }

    @usableFromInline
    func noteUnset(node: Int, row: Int, reference: Int) { unset.append((node, row, reference)) }

    @usableFromInline
    func checkUnset(_ session: SaveSession) throws {
        for (_, row, number) in unset where overrides[row]?.contains(where: { $0.reference == number }) != true {
            let reference = session.catalog.schema.references[number]
            throw RelataError.requiredReference(
                entity: table.name, property: reference.property,
                hint: "set it, or add the object to the other side's list")
        }
    }

    @usableFromInline
    func validate(into failures: inout [ValidationFailure]) { Validation.check(objects, table, &failures) }

    // MARK: Results

    @usableFromInline
    package func keyValue(row: Int) -> KeyValue? {
        objects[row].primaryKey.map { try? M.keyValue($0) } ?? givenKeys[row]
    }

    @usableFromInline
    package func bindKey(row: Int, to binder: inout Binder) throws -> Bool {
        if try M.bindKey(of: objects, at: row, to: &binder) { return true }
        guard let key = givenKeys[row] else { return false }
        try binder.bind(key)
        return true
    }

    func give(_ key: KeyValue, toRow row: Int) { givenKeys[row] = key }

    @usableFromInline
    func referredKeys() -> [(key: KeyValue, node: Int, reference: Int)] {
        keyReferences.compactMap { reference in
            (try? M.keyValue(reference.key)).map { ($0, reference.node, reference.reference) }
        }
    }

    @usableFromInline
    func finishModel(_ row: Int, _ session: SaveSession) -> any Model { finished(row, session) }

    func row(key: M.Key) -> Int? { rows[StoredKey(key)] }

    /// Records the progress of rows.
    func note(_ rows: Range<Int>, _ state: RowProgress) {
        if progress.isEmpty { progress = Array(repeating: .pending, count: objects.count) }
        for row in rows { progress[row] = state }
    }

    /// Records the progress of the rows that have none yet.
    func noteRest(_ rows: Range<Int>, _ state: RowProgress) {
        if progress.isEmpty { return note(rows, state) }
        for row in rows where progress[row] == .pending { progress[row] = state }
    }

    @usableFromInline
    package var isNew: Bool {
        !progress.isEmpty && kept.isEmpty && roles.allSatisfy { $0 == .link || $0 == .insert }
    }

    @usableFromInline
    package func isInserted(row: Int) -> Bool { !progress.isEmpty && progress[row] == .inserted }

    func row(of box: LinkedObject<M>) -> Int? {
        rowsOfBoxes[ObjectIdentifier(box)] ?? box.value.ownKey.flatMap { rows[$0] }
    }

    /// The object as it is saved.
    func finished(_ row: Int, _ session: SaveSession) -> M {
        finish(row, session)
        return objects[row]
    }

    /// Updates the object after the save: with key, timestamps and linked objects, and edits applied.
    @usableFromInline
    func finish(_ row: Int, _ session: SaveSession) {
        if isFinished.isEmpty { isFinished = Array(repeating: false, count: objects.count) }
        // An object that leads back to itself contains itself as it was given.
        if isFinished[row] || !session.isRebuilt(number) { return }
        isFinished[row] = true
        var state = SavedState(session: session, rowID: nil, isInserted: false, keepsStamps: true)
        if session.isTouched(nodes[row]) { state.reloadedKey = keyValue(row: row) }
        objects[row] = M(saved: objects[row], &state)
    }

    /// Updates objects without links after the save.
    func roundAll(_ session: SaveSession) {
        guard hasRounded else { return }
        for row in objects.indices { objects[row] = session.rounded(objects[row]) }
    }

    @usableFromInline
    func confirmLinked() {
        for box in linked { box.confirm() }
        linked = []
    }

    /// Puts key and stamps into the object as soon as its row is written: others may wait for the key.
    ///
    /// - Parameter creation: The time of insertion of an updated object: an update keeps it, regardless of the object's
    ///   value.
    func stamp(_ row: Int, isInserted: Bool, _ rowID: Int64?, creation: Date? = nil) {
        guard rowID != nil || table.entity.hasStamps else { return }
        var state = SavedState(session: session, rowID: rowID, isInserted: isInserted, keepsLinks: true)
        state.storedCreation = creation
        objects[row] = M(saved: objects[row], &state)
        if rowID != nil, !isPlain, let key = objects[row].ownKey { rows[key] = row }
    }
}
