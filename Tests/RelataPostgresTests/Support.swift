#if PostgreSQL
import Foundation
import PostgresCluster
import RelataCore
import RelataPostgres
import Testing

/// Tests that need a server are skipped where PostgreSQL isn't installed.
extension Trait where Self == ConditionTrait {
    static var needsPostgreSQL: Self {
        .enabled(if: PrivateCluster.isInstalled, "\(PrivateCluster.missing)")
    }
}

/// A session on the shared cluster's own database.
func session(_ database: TestDatabase? = nil) throws -> Session {
    try Session(PostgresURL(database?.url ?? PrivateCluster.shared.url()))
}

extension Session {
    /// The rows of a query.
    func values(_ sql: String, _ parameters: [Parameter] = []) throws -> [[Value]] {
        try execute(SQLStatement(sql, parameters)).values()
    }

    /// The only value of a query.
    func value(_ sql: String, _ parameters: Value...) throws -> Value {
        try #require(try values(sql, parameters.map { .value($0) }).first?.first)
    }
}

/// Numbers that are the same for the same seed.
struct Seeded: RandomNumberGenerator {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
        return word ^ word >> 31
    }
}
#endif
