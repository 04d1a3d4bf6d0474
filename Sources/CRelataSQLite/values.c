#include "CRelataSQLite.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

static const char pointer_type[] = "relata_values";

enum kind { kind_null, kind_integer, kind_real, kind_text, kind_blob };

struct value {
    enum kind kind;
    int64_t length;
    union {
        int64_t integer;
        double real;
        size_t offset; // of text and blobs, in `bytes`: an offset, because the buffer moves when it grows
    } as;
};

struct relata_values {
    int columns;
    int64_t rows, room; // how many there are, and how many fit
    struct value *values;
    char *bytes;
    size_t used, capacity;
};

relata_values *relata_values_new(int columns, int64_t rows) {
    relata_values *list = calloc(1, sizeof *list);
    if (!list) return NULL;
    list->columns = columns;
    list->rows = list->room = rows;
    size_t count = (size_t)columns * (size_t)rows;
    list->values = calloc(count ? count : 1, sizeof *list->values);
    if (!list->values) {
        free(list);
        return NULL;
    }
    return list;
}

void relata_values_free(void *pointer) {
    relata_values *list = pointer;
    if (!list) return;
    free(list->values);
    free(list->bytes);
    free(list);
}

int relata_values_grow(relata_values *list) {
    if (list->rows == list->room) {
        int64_t room = list->room ? 2 * list->room : 64;
        struct value *larger = realloc(list->values, (size_t)list->columns * (size_t)room * sizeof *larger);
        if (!larger) return SQLITE_NOMEM;
        list->values = larger;
        list->room = room;
    }
    memset(list->values + list->columns * list->rows, 0, (size_t)list->columns * sizeof *list->values);
    list->rows++;
    return SQLITE_OK;
}

void relata_values_set_integer(relata_values *list, int64_t position, int64_t value) {
    list->values[position].kind = kind_integer;
    list->values[position].as.integer = value;
}

void relata_values_set_real(relata_values *list, int64_t position, double value) {
    list->values[position].kind = kind_real;
    list->values[position].as.real = value;
}

int relata_values_set_bytes(relata_values *list, int64_t position, const void *bytes, int64_t length, int is_text) {
    size_t needed = list->used + (size_t)length;
    if (needed > list->capacity) {
        size_t capacity = list->capacity ? list->capacity : 1024;
        while (capacity < needed) capacity *= 2;
        char *larger = realloc(list->bytes, capacity);
        if (!larger) return SQLITE_NOMEM;
        list->bytes = larger;
        list->capacity = capacity;
    }
    if (length) memcpy(list->bytes + list->used, bytes, (size_t)length);
    list->values[position].kind = is_text ? kind_text : kind_blob;
    list->values[position].length = length;
    list->values[position].as.offset = list->used;
    list->used = needed;
    return SQLITE_OK;
}

int relata_values_bind(sqlite3_stmt *statement, int parameter, relata_values *list) {
    return sqlite3_bind_pointer(statement, parameter, list, pointer_type, relata_values_free);
}

int relata_values_lend(sqlite3_stmt *statement, int parameter, relata_values *list) {
    return sqlite3_bind_pointer(statement, parameter, list, pointer_type, NULL);
}

// The virtual table.

struct cursor {
    sqlite3_vtab_cursor base;
    const relata_values *list;
    int64_t row;
};

static int values_connect(
    sqlite3 *connection, void *context, int count, const char *const *arguments, sqlite3_vtab **table, char **error
) {
    (void)context, (void)count, (void)arguments, (void)error;
    int code = sqlite3_declare_vtab(
        connection, "CREATE TABLE x(c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, "
                    "c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31, pointer HIDDEN)"
    );
    if (code != SQLITE_OK) return code;
    *table = sqlite3_malloc(sizeof **table);
    if (!*table) return SQLITE_NOMEM;
    memset(*table, 0, sizeof **table);
    return sqlite3_vtab_config(connection, SQLITE_VTAB_INNOCUOUS);
}

static int values_disconnect(sqlite3_vtab *table) {
    sqlite3_free(table);
    return SQLITE_OK;
}

static int values_best_index(sqlite3_vtab *table, sqlite3_index_info *info) {
    (void)table;
    for (int i = 0; i < info->nConstraint; i++) {
        const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
        if (constraint->iColumn != RELATA_VALUES_COLUMNS || constraint->op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
        if (!constraint->usable) return SQLITE_CONSTRAINT;
        info->aConstraintUsage[i].argvIndex = 1;
        info->aConstraintUsage[i].omit = 1;
        info->estimatedCost = 10;
        info->estimatedRows = 100;
        return SQLITE_OK;
    }
    info->estimatedCost = 1e9; // without an argument the table is empty
    return SQLITE_OK;
}

static int values_open(sqlite3_vtab *table, sqlite3_vtab_cursor **cursor) {
    (void)table;
    struct cursor *opened = sqlite3_malloc(sizeof *opened);
    if (!opened) return SQLITE_NOMEM;
    memset(opened, 0, sizeof *opened);
    *cursor = &opened->base;
    return SQLITE_OK;
}

static int values_close(sqlite3_vtab_cursor *cursor) {
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int values_filter(
    sqlite3_vtab_cursor *base, int number, const char *text, int count, sqlite3_value **arguments
) {
    (void)number, (void)text;
    struct cursor *cursor = (struct cursor *)base;
    cursor->list = count == 1 ? sqlite3_value_pointer(arguments[0], pointer_type) : NULL;
    cursor->row = 0;
    return SQLITE_OK;
}

static int values_next(sqlite3_vtab_cursor *base) {
    ((struct cursor *)base)->row++;
    return SQLITE_OK;
}

static int values_eof(sqlite3_vtab_cursor *base) {
    const struct cursor *cursor = (const struct cursor *)base;
    return !cursor->list || cursor->row >= cursor->list->rows;
}

static int values_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
    const struct cursor *cursor = (const struct cursor *)base;
    if (column >= cursor->list->columns) return SQLITE_OK; // NULL
    const struct value *value = &cursor->list->values[cursor->row * cursor->list->columns + column];
    // The statement owns the list for as long as it is bound, hence through the whole run: static bytes.
    switch (value->kind) {
    case kind_null: sqlite3_result_null(context); break;
    case kind_integer: sqlite3_result_int64(context, value->as.integer); break;
    case kind_real: sqlite3_result_double(context, value->as.real); break;
    case kind_text:
        // A list of empty texts has no bytes, and text without an address would be NULL.
        sqlite3_result_text64(
            context, value->length ? cursor->list->bytes + value->as.offset : "", (sqlite3_uint64)value->length,
            SQLITE_STATIC, SQLITE_UTF8);
        break;
    case kind_blob:
        if (value->length) {
            sqlite3_result_blob64(
                context, cursor->list->bytes + value->as.offset, (sqlite3_uint64)value->length, SQLITE_STATIC);
        } else {
            sqlite3_result_zeroblob(context, 0);
        }
        break;
    }
    return SQLITE_OK;
}

static int values_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid) {
    *rowid = ((const struct cursor *)base)->row + 1;
    return SQLITE_OK;
}

static sqlite3_module values_module = {
    .iVersion = 0,
    .xConnect = values_connect, // no xCreate: the table is there without being created
    .xBestIndex = values_best_index,
    .xDisconnect = values_disconnect,
    .xOpen = values_open,
    .xClose = values_close,
    .xFilter = values_filter,
    .xNext = values_next,
    .xEof = values_eof,
    .xColumn = values_column,
    .xRowid = values_rowid,
};

int relata_values_register(sqlite3 *connection) {
    return sqlite3_create_module_v2(connection, "relata_values", &values_module, NULL, NULL);
}
