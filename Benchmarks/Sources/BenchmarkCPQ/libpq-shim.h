#pragma once
// Where pkg-config isn't asked, Debian keeps the headers in their own folder.
#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#include <postgresql/libpq-fe.h>
#endif
