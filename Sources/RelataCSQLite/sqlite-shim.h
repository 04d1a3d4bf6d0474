#pragma once
#include <sqlite3.h>

// Takes text in double quotes for a name only, never for a string. `sqlite3_db_config` takes a varying number of
// arguments, so that Swift can't call it.
static inline void relata_refuse_quoted_strings(sqlite3 *connection) {
    sqlite3_db_config(connection, SQLITE_DBCONFIG_DQS_DDL, 0, (void *)0);
    sqlite3_db_config(connection, SQLITE_DBCONFIG_DQS_DML, 0, (void *)0);
}
