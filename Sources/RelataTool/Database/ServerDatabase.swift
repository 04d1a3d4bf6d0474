import RelataCore
import RelataEngine
import RelataEngines
import RelataRecords

/// Databases of servers, of any program.
enum ServerDatabase {
    /// The tables that a command looks at: all but the server's own, and of these the ones in a schema that it names.
    static func scope(naming entity: String?, callsFunctions: Bool = false) -> TableScope {
        let schema = entity.flatMap { name in name.firstIndex(of: ".").map { String(name[..<$0]) } }
        return .everywhere(including: [schema].compactMap(\.self), callsFunctions: callsFunctions)
    }

    /// Runs `body` in a transaction, and commits it unless `body` throws. Relata's stores that share the database are
    /// notified of it, and it is recorded in their change log. No table is created.
    static func write<Result>(
        _ location: DatabaseLocation, naming entity: String?, _ body: (ToolDatabase) throws -> Result
    ) throws -> Result {
        var options = DatabaseOptions()
        options.tableScope = scope(naming: entity)
        let pool = try location.pool(options, changes: try hub(location))
        let result: Result
        do {
            result = try pool.write { connection in
                let classes = try RecordClasses.read(connection)
                connection.recorder?.follow(ChangeEntities(classes.schema))
                return try body(ToolDatabase(location.name, connection, classes))
            }
        } catch {
            try? pool.close()
            throw error
        }
        try pool.close()
        return result
    }

    /// The hub that notifies stores of a transaction, and its entities; `nil` if no store has used the database.
    private static func hub(_ location: DatabaseLocation) throws -> ChangeHub? {
        let connection = try location.connect(isReadOnly: true)
        try connection.begin()
        defer { try? connection.close() }
        guard try connection.driver.tellsOthers(connection) else { return nil }
        try ChangeLog.check(connection)
        let keepsLog = try Metadata.changeLogVersion(connection) != nil
        return ChangeHub(ChangeEntities(try Schema([])), keepsLog: keepsLog, interval: nil)
    }
}
