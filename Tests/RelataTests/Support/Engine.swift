import Foundation
import Relata
import Testing

/// An engine under test: makes its stores.
///
/// The suites in `Conformance` show the behaviour that all engines have in common: of models, saves, deletions and
/// queries. They take an engine as their argument and know nothing else about it. An engine is a file in `Engines`, and
/// its place in ``allCases``. The features of a single engine, such as its files, pragmas and plans, are tested in a
/// folder named after it.
struct Engine: Sendable, Equatable, CustomTestStringConvertible {
    let name: String
    /// Whether several stores may be open on one database, and whether the database keeps its contents when it is
    /// closed. A store on it has several connections: reads continue during a write.
    let isShared: Bool
    /// Opens a store on the database of a name. A missing database is made, and deleted at the end of the process.
    let open: @Sendable (_ database: String, _ models: [any Model.Type], _ options: Store.Options) throws -> Store

    /// The engines of each file in `Engines`.
    static let allCases: [Engine] = sqlite + sqliteEncrypted + postgres

    /// Engines that run within the process: one transaction writes at a time, text holds every character, other
    /// processes' changes are noticed, and an open store's tables can lose columns. The guide to PostgreSQL says what
    /// servers do instead, or don't do yet.
    static let embedded = sqlite + sqliteEncrypted

    /// Engines with databases that several stores may share.
    static let shared = allCases.filter(\.isShared)

    /// One, for tests that take long and show the same on each.
    static let first = Array(allCases.prefix(1))

    /// Each seed with one engine, in turn: there is one run for each seed, and the engines share the seeds.
    static func inTurn(_ seeds: ClosedRange<UInt64>) -> [(Engine, UInt64)] {
        seeds.enumerated().map { (allCases[$0 % allCases.count], $1) }
    }

    static func == (left: Engine, right: Engine) -> Bool { left.name == right.name }

    var testDescription: String { name }
}

/// A new database, empty until a store is opened on it.
struct TestDatabase: Sendable {
    let engine: Engine
    private let name = UUID().uuidString

    init(_ engine: Engine) { self.engine = engine }

    /// Opens a store on it, the first or another one.
    func open(_ models: any Model.Type..., options: Store.Options = Store.Options()) throws -> Store {
        try engine.open(name, models, options)
    }
}
