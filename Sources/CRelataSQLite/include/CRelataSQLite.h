// Parts of SQLite's interface that Swift can't use by itself.
//
// relata_values(pointer): a table-valued function over rows in memory.
//
// A list of any length is bound as one parameter, so that no limit on the number of bound values can surface:
//
//     SELECT * FROM book WHERE id IN (SELECT c0 FROM relata_values(?1))
//
// SQLite has the same for arrays of one C type (carray), but not in every build.
#ifndef CRELATASQLITE_H
#define CRELATASQLITE_H

#include <stdint.h>

// Declared, not included: SQLite's own header belongs to another module.
struct sqlite3;
struct sqlite3_stmt;

// The largest number of columns of a row: c0 … c31.
#define RELATA_VALUES_COLUMNS 32

// Rows of values in memory. Owns its bytes.
typedef struct relata_values relata_values;

// Makes `rows` × `columns` values, all NULL. Returns NULL when out of memory.
relata_values *relata_values_new(int columns, int64_t rows);
// Frees the values.
void relata_values_free(void *values);
// Sets the value at a position (row × columns + column).
void relata_values_set_integer(relata_values *values, int64_t position, int64_t value);
void relata_values_set_real(relata_values *values, int64_t position, double value);
// Sets text (`is_text` ≠ 0) or a blob; copies the bytes. Returns SQLITE_OK or SQLITE_NOMEM.
int relata_values_set_bytes(relata_values *values, int64_t position, const void *bytes, int64_t length, int is_text);
// Binds the values to a parameter of a statement, which then owns them, also when binding fails.
int relata_values_bind(struct sqlite3_stmt *statement, int parameter, relata_values *values);
// Adds a row of NULLs. Returns SQLITE_OK or SQLITE_NOMEM.
int relata_values_grow(relata_values *values);
// Binds the values to a parameter of a statement without giving them to it: they must live as long as it runs. Rows that
// are added before the statement opens the function are read.
int relata_values_lend(struct sqlite3_stmt *statement, int parameter, relata_values *values);
// Makes the function known to a connection.
int relata_values_register(struct sqlite3 *connection);

// Settings of a connection: `sqlite3_db_config` takes a varying number of arguments, so that Swift can't call it.

// Takes text in double quotes for a name only, never for a string.
void relata_refuse_quoted_strings(struct sqlite3 *connection);
// Lets no trigger run on the connection from now on.
int relata_suspend_triggers(struct sqlite3 *connection);
// Leaves the write-ahead log as it is when the connection is closed.
int relata_leave_log(struct sqlite3 *connection);

#endif
