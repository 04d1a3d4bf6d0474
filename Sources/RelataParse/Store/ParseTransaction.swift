import Foundation
import Relata
import RelataCore
import RelataRecords
import RelataEngine

/// A transaction of a ``ParseStore``.
///
/// A class, because it is passed on for every object that is written.
final class ParseTransaction {
    let connection: Connection
    /// The classes that the caller knows.
    let classes: ClassSet
    /// The classes with all of their fields.
    let storedClasses: ClassSet
    /// The sender of the request.
    let caller: KnownCaller
    /// Hashes passwords and tokens; `nil` for a store without users.
    let secrets: (any SecretHashing)?
    /// The models that the classes are bound to.
    let models: ServedModels?
    /// Whether use creates a missing class.
    let mode: ParseStore.Mode
    /// The time of the transaction: all of its writes have it.
    let now: Date
    /// Makes the ids of new objects.
    let objectIDs: ObjectIDGenerator
    /// The remaining work for written objects.
    var agenda = Agenda()

    typealias Action = @Sendable () async -> Void

    /// The work that remains.
    struct Agenda {
        /// The lists whose counts may have changed.
        var counts = CountCheck()
        /// The hooks to call once the transaction is committed.
        var events: [Event] = []
        /// The notices for webhooks once the transaction is committed.
        var notices: [Notice] = []
    }

    /// The change of a model's object.
    enum Event {
        case saved(ModelBinding, KeyValue)
        /// The object is as it was stored last.
        case deleted(ModelBinding, any Model)
    }

    /// An event that a webhook is notified of.
    enum Notice {
        case saved(ParseClass, KeyValue, original: JSONObject?)
        /// The object is as it was stored last.
        case deleted(ParseClass, JSONObject)
    }

    init(
        _ connection: Connection, _ classes: ClassSet, _ models: ServedModels? = nil, caller: KnownCaller,
        secrets: (any SecretHashing)?, objectIDs: ObjectIDGenerator, mode: ParseStore.Mode = .development,
        now: Date = Date()
    ) {
        self.caller = caller
        self.secrets = secrets
        self.objectIDs = objectIDs
        self.models = models
        self.mode = mode
        self.connection = connection
        storedClasses = classes
        self.classes = classes.hiding(caller.hiddenFields)
        // Clients have milliseconds; replies must equal the stored values.
        self.now = Date(timeIntervalSince1970: (now.timeIntervalSince1970 * 1000).rounded(.down) / 1000)
    }

    /// The transaction for a caller with another access.
    convenience init(_ transaction: ParseTransaction, as caller: KnownCaller) {
        self.init(
            transaction.connection, transaction.storedClasses, transaction.models, caller: caller,
            secrets: transaction.secrets, objectIDs: transaction.objectIDs, mode: transaction.mode, now: transaction.now
        )
    }

    var schema: Schema { classes.schema }
    /// The objects that the caller sees; no operation sees others.
    var access: Access { caller.read }

    /// Writes the statements of the transaction.
    var compiler: QueryCompiler { compiler(under: access) }

    /// The class of that name.
    ///
    /// - Throws: ``ParseError`` 103 for a name that no class can have; `nil` is a class that doesn't exist yet.
    func existing(_ name: String) throws(ParseError) -> ParseClass? {
        if InternalClasses.ofClients.contains(name) {
            if secrets == nil { throw .usersAreOff }
            return classes[name]
        }
        if let known = classes[name] { return known }
        if ServiceClasses.visible.contains(name) { return nil }
        try ParseNames.checkClass(name)
        return nil
    }

    /// The class of that name that a request reads.
    ///
    /// - Throws: the errors of ``existing(_:)``; 119 for a class that doesn't exist and, in production, never will by
    ///   being used. The master key may ask for any.
    func readable(_ name: String, isMaster: Bool) throws(ParseError) -> ParseClass? {
        let known = try existing(name)
        if known == nil, mode == .production, !isMaster { throw BatchWriter.missing(name) }
        return known
    }

    // MARK: Writing

    /// Writes rows of a class.
    ///
    /// - Parameters:
    ///   - isUndoneByCaller: Whether the caller rolls back a failed statement, and finds its cause.
    ///   - plan: Plans further writes for the rows; it gets their numbers in the plan.
    /// - Returns: Their keys.
    @discardableResult
    func write(
        _ rows: [ValueBatch.Row], of table: Table, insertion: ValueBatch.Insertion? = nil,
        isUndoneByCaller: Bool = false, plan: (inout WritePlan, [Int]) throws -> Void = { _, _ in }
    ) throws -> [KeyValue] {
        let run = WriteRun(connection, schema: schema, isSchemaFixed: models != nil, now: now)
        let batch = ValueBatch(of: table, in: run, insertion: insertion)
        batch.isUndoneByCaller = isUndoneByCaller
        let numbers = rows.map { batch.add($0, to: run) }
        try plan(&run.plan, numbers)
        try run.write()
        agenda.counts.merge(run.counted)
        return try numbers.map(run.writtenKey)
    }

    // MARK: Counts

    /// Checks the lists that may have changed since the last time.
    ///
    /// - Throws: `RelataError.validation` with every list that has too few or too many members.
    func checkCounts() throws {
        guard schema.hasCounts else { return }
        defer { agenda.counts = CountCheck() }
        try agenda.counts.check(connection: connection, schema: schema)
    }
}
