import PostgresCluster
import Relata
import Synchronization
import Testing

/// The error that `body` throws.
func thrown<Result>(_ body: () throws -> Result, sourceLocation: SourceLocation = #_sourceLocation) -> RelataError? {
    do {
        _ = try body()
        return nil
    } catch let error as RelataError {
        return error
    } catch {
        Issue.record("\(error) is no RelataError", sourceLocation: sourceLocation)
        return nil
    }
}

/// The error that `body` throws.
func thrown<Result>(
    _ body: () async throws -> Result, sourceLocation: SourceLocation = #_sourceLocation
) async -> RelataError? {
    do {
        _ = try await body()
        return nil
    } catch let error as RelataError {
        return error
    } catch {
        Issue.record("\(error) is no RelataError", sourceLocation: sourceLocation)
        return nil
    }
}

extension RelataError {
    /// The case's name.
    var kind: String {
        Mirror(reflecting: self).children.first?.label ?? "\(self)"
    }

    /// The properties of a validation's failures.
    var failures: [String] {
        guard case .validation(let failures) = self else { return [] }
        return failures.map { $0.property ?? $0.message }
    }

    /// The property of a reference that is missing or wrong.
    var reference: String? {
        switch self {
        case .requiredReference(let entity, let property, _), .invalidReference(let entity, let property, _):
            "\(entity).\(property)"
        default: nil
        }
    }
}

extension Store {
    /// The lines that the store's feed reports for one transaction.
    func feed(_ body: @Sendable (WriteTransaction) throws -> Void) async throws -> [String] {
        let feed = changes
        try await write(body)
        for await set in feed {
            return set.changes.map { change in
                let properties = change.properties.isEmpty ? "" : " \(change.properties.joined(separator: ","))"
                return "\(change.entity) \(change.kind.rawValue) \(change.keys.count)\(properties)"
            }
        }
        return []
    }
}

/// Counts the statements that a store runs.
final class StatementLog: Sendable {
    private let statements = Mutex<[String]>([])

    var options: Store.Options {
        var options = Store.Options()
        options.trace = { [self] sql, _ in statements.withLock { $0.append(sql) } }
        return options
    }

    /// The statements run since the last call, except those that begin and end transactions.
    func take() -> [String] {
        statements.withLock { statements in
            defer { statements = [] }
            return statements.filter { sql in
                !["BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "PRAGMA"].contains(where: sql.hasPrefix)
            }
        }
    }

    /// The number of savepoints made since the last call.
    func takeSavepoints() -> Int {
        statements.withLock { statements in
            defer { statements = [] }
            return statements.count { $0.hasPrefix("SAVEPOINT") }
        }
    }
}

extension Store {
    /// So many changes of the log, as soon as they are shown; all that there are after half a minute.
    func changes(after position: ChangePosition, atLeast count: Int) async throws -> [LoggedChange] {
        try await polling(forAtLeast: count) { try await changes(after: position) }
    }
}
