import RelataCore
import RelataEngine

/// A stored object that can't be read as its model declares: it holds a case that its enum no longer has, or JSON of an
/// earlier form of its type.
///
/// ``Query/skippingUndecodable(_:)`` reports such objects, and ``StoreReader/check()`` finds all of them.
public struct UndecodableObject: Hashable, Sendable, CustomStringConvertible {
    /// The object.
    public let object: ObjectReference
    /// The property with the unreadable value, if it is known.
    public let property: String?
    /// The value of the property, and the remedy.
    public let message: String

    /// `Book 7.status: column status holds …`
    public var description: String { "\(object)" + (property.map { ".\($0)" } ?? "") + ": " + message }

    /// The error of a fetch that meets the object.
    var error: RelataError { .corruptStore(description) }
}

extension Query {
    /// Leaves out objects that can't be read as their models declare, and reports each, instead of failing as a whole.
    ///
    /// ```swift
    /// let books = try await store.fetch(Book.all.skippingUndecodable { log.warning("\($0)") })
    /// ```
    ///
    /// An included object is left out as well: a link to it reads as dangling. A limit and the size of a page count
    /// left-out objects. If none is left out, the fetch costs nothing extra.
    ///
    /// - Parameter report: Called with each unreadable object of a fetch once.
    public func skippingUndecodable(_ report: @escaping @Sendable (UndecodableObject) -> Void) -> Query {
        var copy = self
        copy.undecodable = report
        return copy
    }
}

/// Called with each object that can't be read, once.
final class UndecodableReport {
    private let report: (UndecodableObject) -> Void
    private var seen: Set<UndecodableObject> = []

    init(_ report: @escaping (UndecodableObject) -> Void) { self.report = report }

    func add(_ object: UndecodableObject) { if seen.insert(object).inserted { report(object) } }
}

extension ReadTransaction {
    /// Runs `body`, in which unreadable objects are reported; without a report they are errors.
    func reporting<Result>(_ report: UndecodableReport?, _ body: () throws -> Result) rethrows -> Result {
        guard let report else { return try body() }
        let outer = undecodable
        undecodable = report
        defer { undecodable = outer }
        return try body()
    }

    /// The object at the beginning of a row; `nil` for an unreadable one, which is reported.
    @inlinable
    func object<M: Model>(_ model: M.Type, at row: Row) throws -> M? {
        var reader = RowReader(row)
        do {
            return try M(from: &reader)
        } catch RelataError.corruptStore(let message) {
            try reportUndecodable(model, row, column: reader.column, message)
            return nil
        }
    }

    @usableFromInline
    func reportUndecodable<M: Model>(_ model: M.Type, _ row: Row, column: Int32, _ message: String) throws {
        try add(undecodable(model, row, column: column, first: 0, message))
    }

    /// - Parameters:
    ///   - column: The column that can't be read.
    ///   - first: The first of the object's columns.
    func undecodable<M: Model>(
        _ model: M.Type, _ row: Row, column: Int32, first: Int32, _ message: String
    ) throws(RelataError) -> UndecodableObject {
        let table = try catalog.table(model)
        let key = table.keyColumns.map { row.value(at: Int(first) + $0, as: table.columns[$0].type) }
        let index = Int(column - first)
        return UndecodableObject(
            object: ObjectReference(entity: M.entityName, key: KeyValue(key)),
            property: table.columns.indices.contains(index) ? table.columns[index].property : nil, message: message)
    }

    func add(_ object: UndecodableObject) throws(RelataError) {
        guard let undecodable else { throw object.error }
        undecodable.add(object)
    }
}
