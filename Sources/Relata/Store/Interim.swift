import RelataCore
import RelataSQLite
public struct MigrationStep: Sendable {}
public struct MigrationPlan: Sendable { var isEmpty: Bool { true }
 func problems(whenReadOnly: String) -> [SchemaProblem] { [] } }
enum SQLiteMigrator {
  static func prepare(_ c: Connection, schema: Schema, steps: [MigrationStep]) throws -> MigrationPlan { MigrationPlan() }
  static func migrate(_ c: Connection, schema: Schema, steps: [MigrationStep]) throws {
    if case .integer(0)? = try c.value(SQLStatement("SELECT count(*) FROM sqlite_master")) {
      for s in SchemaDDL.creation(of: schema, dialect: .sqlite) { try c.execute(s) }
    }
  }
}
