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
#endif
