import Relata
import Synchronization

/// Writes down what happens in a story.
struct Transcript: Sendable {
    let print: @Sendable (String) -> Void

    /// Begins a part of the story.
    func part(_ title: String) {
        print("")
        print(title)
    }

    /// Prints an event, in one or several lines.
    func say(_ text: String) {
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) { print("  " + line) }
    }

    /// Something that must be refused, and in which words.
    func refused(_ what: String, _ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch {
            say("! \(what): \(error)")
            return
        }
        throw StoryError("\(what) was to be refused, and wasn't")
    }

    /// Writes what a deletion does or would do.
    func report(_ title: String, _ report: DeletionReport) {
        say(title)
        for line in report.sorted().lines() { say("  " + line) }
    }

    /// The rows of a table as they are stored, independent of the models.
    func rows(_ title: String, _ sql: SQL, in store: Store) async throws {
        let rows = try await store.rows(sql)
        say(rows.isEmpty ? "\(title): no rows" : "\(title):")
        for row in rows { say("  " + row.map(\.description).joined(separator: " | ")) }
    }
}

/// Counts the queries that a store runs.
final class QueryCounter: Sendable {
    private let count = Mutex(0)

    /// Options for a store whose queries are counted.
    var options: Store.Options {
        var options = Store.Options()
        options.trace = { [self] sql, _ in
            if sql.hasPrefix("SELECT") { count.withLock { $0 += 1 } }
        }
        return options
    }

    /// The number since the last call.
    func take() -> Int {
        count.withLock { count in
            defer { count = 0 }
            return count
        }
    }
}

/// The story took another turn than it should.
struct StoryError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

extension Optional {
    /// The value, or an error that names the missing thing.
    func orThrow(_ what: String) throws -> Wrapped {
        guard let self else { throw StoryError("there is no \(what)") }
        return self
    }
}
