#ifndef REDIAL_CSQLITE_SHIM_H
#define REDIAL_CSQLITE_SHIM_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Swift cannot call the macros SQLITE_STATIC and SQLITE_TRANSIENT, which are
// casts of small integers to function pointers; these two wrap them.

// Binds bytes that stay valid and unchanged until the statement is reset and
// its bindings are cleared. Nothing is copied.
static inline int redial_bind_blob_static(sqlite3_stmt *_Nullable s, int i, const void *_Nullable p, sqlite3_uint64 n) {
  return sqlite3_bind_blob64(s, i, p, n, SQLITE_STATIC);
}

// Binds bytes of which SQLite makes a copy: for short ones, of several rows at a time.
static inline int redial_bind_blob_copy(sqlite3_stmt *_Nullable s, int i, const void *_Nullable p, sqlite3_uint64 n) {
  return sqlite3_bind_blob64(s, i, p, n, SQLITE_TRANSIENT);
}

// Binds UTF-8 text, of which SQLite makes a copy: for short and rare text, such as names.
static inline int redial_bind_text_copy(sqlite3_stmt *_Nullable s, int i, const char *_Nullable p, sqlite3_uint64 n) {
  return sqlite3_bind_text64(s, i, p, n, SQLITE_TRANSIENT, SQLITE_UTF8);
}

// Turns off SQLite's statistics of its memory, for which it takes a lock at every allocation. This must be the first call
// of SQLite in the process; later it refuses, which does no harm. Swift cannot call sqlite3_config, whose arguments vary.
static inline void redial_disable_memory_statistics(void) {
  (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

// Whether the write-ahead log is kept when the last connection is closed, in place of being moved into the file. Swift cannot
// call sqlite3_db_config, whose arguments vary.
static inline int redial_keep_log_on_close(sqlite3 *_Nullable database, int keeps) {
  return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keeps, (int *)0);
}

// Continues the checksum of a write-ahead log over an even number of words of 32 bits (sqlite.org/fileformat2.html, section
// 4.2). In C, because it reads all of the log at each start, also in a debug build.
static inline void redial_continue_log_sum(
  const void *_Nonnull bytes, size_t words, int isBigEndian, uint32_t *_Nonnull first, uint32_t *_Nonnull second
) {
  const int isSwapped = isBigEndian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
  const unsigned char *place = bytes;
  uint32_t a = *first, b = *second;
  for (size_t i = 0; i + 1 < words; i += 2, place += 8) {
    uint32_t pair[2];
    memcpy(pair, place, sizeof pair);
    a += (isSwapped ? __builtin_bswap32(pair[0]) : pair[0]) + b;
    b += (isSwapped ? __builtin_bswap32(pair[1]) : pair[1]) + a;
  }
  *first = a;
  *second = b;
}

#endif
