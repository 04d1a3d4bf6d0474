import Foundation
import RelataCSQLite
import RelataCore
import RelataEngine

/// Records the reads and writes of statements, which SQLite's compiler reports to its authorizer.
///
/// It is installed for good when a connection opens, because a change of authorizer has all statements compiled again,
/// and it listens only while a statement is analysed.
final class AccessAuthorizer {
    private var collected: StatementAccess?
    /// Whether statements are being compiled as they should.
    var isPreparing = false
    /// Whether SQLite recompiled a statement, because the schema changed: earlier results may be outdated.
    private(set) var wasRecompiled = false
    /// Whether the statement that is being compiled begins or ends a transaction or a savepoint.
    private(set) var controlsTransaction = false

    init(on handle: OpaquePointer) {
        // The connection holds the authorizer for as long as its handle is open.
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_set_authorizer(
            handle,
            { context, action, first, second, _, trigger in
                guard let context else { return SQLITE_OK }
                Unmanaged<AccessAuthorizer>.fromOpaque(context).takeUnretainedValue()
                    .note(action, first, second, isTrigger: trigger != nil)
                return SQLITE_OK
            }, context)
    }

    private func note(
        _ action: Int32, _ first: UnsafePointer<CChar>?, _ second: UnsafePointer<CChar>?, isTrigger: Bool
    ) {
        if action == SQLITE_TRANSACTION || action == SQLITE_SAVEPOINT { controlsTransaction = true }
        guard collected != nil else {
            // A table-valued function that is a pragma compiles the pragma whenever it is read, and FTS5 its own
            // queries. All other recompiled statements name a table.
            let isOther = ![SQLITE_PRAGMA, SQLITE_SELECT, SQLITE_FUNCTION].contains(action)
            if !isPreparing, isOther, !Self.isOfSearch(first) { wasRecompiled = true }
            return
        }
        guard let first else { return }
        switch action {
        case SQLITE_READ:
            let column = second.map { String(cString: $0) } ?? ""
            collected?.reads.add(table: String(cString: first), column: column.isEmpty ? nil : column)
        case SQLITE_UPDATE:
            let table = String(cString: first)
            collected?.writes.add(table: table, column: second.map { String(cString: $0) })
            if isTrigger { collected?.triggered.insert(table) }
        case SQLITE_INSERT, SQLITE_DELETE:
            let table = String(cString: first)
            collected?.writes.add(rowsOf: table)
            if isTrigger { collected?.triggered.insert(table) }
        default: break
        }
    }

    private static func isOfSearch(_ table: UnsafePointer<CChar>?) -> Bool {
        guard let table else { return false }
        return strncasecmp(table, SearchIndex.prefix, SearchIndex.prefix.utf8.count) == 0
    }

    /// The accesses of statements compiled while `body` runs.
    func collect<Failure: Error>(_ body: () throws(Failure) -> Void) throws(Failure) -> StatementAccess {
        let outer = collected
        collected = StatementAccess()
        defer { collected = outer }
        try body()
        return collected ?? StatementAccess()
    }

    /// Compiles without listening.
    @inline(__always)
    func preparing<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        let outer = isPreparing
        isPreparing = true
        controlsTransaction = false
        defer { isPreparing = outer }
        return try body()
    }

    func forgetRecompilation() { wasRecompiled = false }
}
