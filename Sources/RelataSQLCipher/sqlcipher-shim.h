#pragma once
// Without it SQLCipher's header doesn't declare what concerns keys.
#ifndef SQLITE_HAS_CODEC
#define SQLITE_HAS_CODEC 1
#endif
// SQLCipher's own: pkg-config says where it is.
#include <sqlite3.h>
