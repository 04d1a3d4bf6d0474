/// The role of a contestant.
public enum Role: Hashable, Sendable {
    /// Relata.
    case ours
    /// Hand-written code, which shows the best possible figure.
    case limit
    /// Another library.
    case peer(String)
}

/// One way to do a workload.
public struct Contestant {
    /// The role of the contestant.
    public let role: Role
    /// Prepares one measurement, and returns the measured code. Its result must be the same for all.
    public let prepare: () throws -> () async throws -> Int

    /// A way without `async`.
    public init(_ role: Role, _ prepare: @escaping () throws -> () throws -> Int) {
        self.role = role
        self.prepare = { try prepare() }
    }

    /// A way with `async`.
    public init(async role: Role, _ prepare: @escaping () throws -> () async throws -> Int) {
        self.role = role
        self.prepare = prepare
    }
}
