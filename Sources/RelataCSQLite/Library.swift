// SQLite under one name: SQLCipher if the trait is on, otherwise the system's library.

#if SQLCipher
@_exported import RelataSQLCipher
#else
@_exported import RelataSystemSQLite
#endif
