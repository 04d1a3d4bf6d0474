#if PostgreSQL
import RelataCore
import RelataEngine

/// Many rows at once.
extension PostgresDriver {
    static let ownCapabilities: EngineCapabilities = {
        var capabilities = EngineCapabilities()
        // More rows would save little: the statement itself costs less than a hundredth of them.
        capabilities.rowsTogether = 1000
        capabilities.rowsCopied = 200
        capabilities.sendsTogether = true
        capabilities.assignsConsecutiveKeys = false
        capabilities.returnsDeletedKeys = true
        capabilities.cascadesFaster = true
        capabilities.countsActions = false
        capabilities.takesUsedUpKeysForFullDisk = false
        capabilities.survivesErrors = false
        capabilities.commitsDespiteInterruption = false
        capabilities.makesTemporaryIndexes = false
        capabilities.forgetsWaitingReferences = false
        return capabilities
    }()

    package func collector(for statement: RunningStatement) -> RemoteRows? {
        guard let remote = statement.remoteStatement as? PostgresStatement else { return nil }
        return ListRows(remote, self)
    }

    package func copier(into table: Table, like collector: RemoteRows) throws(RelataError) -> RemoteRows? {
        guard let collector = collector as? ListRows else { return nil }
        return try CopiedRows(into: table, like: collector, self)
    }
}
#endif
