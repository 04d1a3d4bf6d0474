#ifndef RELATA_CRYPT_SHIM_H
#define RELATA_CRYPT_SHIM_H

#include <crypt.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/// Hashes a password with the method, cost and salt of another hash.
///
/// - Returns: 1 if `hash` was written, or 0 if the system's library doesn't know the method.
static inline int relata_crypt(const char *password, const char *setting, char *hash, size_t size) {
    // Its tens of kilobytes may not fit on a small stack.
    struct crypt_data *data = (struct crypt_data *)calloc(1, sizeof(struct crypt_data));
    if (data == NULL) return 0;
    const char *result = crypt_r(password, setting, data);
    int isHash = result != NULL && result[0] == '$' && strlen(result) < size;
    if (isHash) strcpy(hash, result);
    // It still holds secret intermediate values.
    explicit_bzero(data, sizeof(struct crypt_data));
    free(data);
    return isHash;
}

#endif
