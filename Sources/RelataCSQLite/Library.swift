// SQLite under one name: SQLCipher, where the trait asks for it, or the system's library.

#if SQLCipher
@_exported import RelataSQLCipher
#else
@_exported import RelataSystemSQLite
#endif
