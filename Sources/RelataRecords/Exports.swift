// The types of lower targets that a program sees: those of the API.

@_exported public import enum RelataCore.AttributeType
@_exported public import struct RelataCore.Blocker
@_exported public import struct RelataCore.CascadePath
@_exported public import struct RelataCore.Change
@_exported public import struct RelataCore.ChangeOrigin
@_exported public import struct RelataCore.ChangePosition
@_exported public import struct RelataCore.ChangeSet
@_exported public import struct RelataCore.Conflict
@_exported public import enum RelataCore.DateEncoding
@_exported public import enum RelataCore.DeleteRule
@_exported public import struct RelataCore.DeletedObjects
@_exported public import struct RelataCore.DeletionReport
@_exported public import struct RelataCore.KeyList
@_exported public import struct RelataCore.KeyValue
@_exported public import struct RelataCore.MigrationPlan
@_exported public import struct RelataCore.NullifiedLinks
@_exported public import struct RelataCore.ObjectReference
@_exported public import enum RelataCore.PredicateArgument
@_exported public import enum RelataCore.RelataError
@_exported public import struct RelataCore.RemovedJoinRows
@_exported public import struct RelataCore.SchemaChange
@_exported public import struct RelataCore.SchemaProblem
@_exported public import enum RelataCore.UUIDEncoding
@_exported public import struct RelataCore.ValidationFailure
@_exported public import enum RelataCore.Value
@_exported public import struct RelataEngine.BackupProgress
@_exported public import class RelataEngine.Cancellable
@_exported public import struct RelataEngine.ChangeFeed
@_exported public import enum RelataEngine.Durability
@_exported public import struct RelataEngine.IntegrityFinding
@_exported public import struct RelataEngine.IntegrityRepair
@_exported public import struct RelataEngine.IntegrityRepairReport
@_exported public import struct RelataEngine.ListDifference
@_exported public import struct RelataEngine.LoggedChange
@_exported public import struct RelataEngine.ObservedIdentity
@_exported public import protocol RelataEngine.PredicateArgumentConvertible
@_exported public import typealias RelataEngine.SQLTrace
@_exported public import struct RelataEngines.DatabaseOptions
@_exported public import struct RelataSQLite.ContinuousBackup

#if SQLCipher
@_exported public import struct RelataSQLite.EncryptionKey
#endif
