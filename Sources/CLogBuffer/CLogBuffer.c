#include "CLogBuffer.h"

#include <sqlite3.h>
#include <string.h>

// The header of a frame, by the file format of the write-ahead log: in its second word, a frame that ends a commit has
// the size of the database, any other has zero. A page follows each.
enum { FRAME_HEADER_BYTES = 24, WORD_BYTES = 4 };

// A log as SQLite sees it. The file that it stands for follows in memory.
struct log_file {
  sqlite3_file base;
  // What was written and has not been handed over: so many bytes, which belong to this place of the file.
  char *bytes;
  int count;
  sqlite3_int64 place;
  // The next page ends a commit.
  int ends_commit;
};

static struct log_file *log_of(sqlite3_file *file) { return (struct log_file *)file; }

static sqlite3_file *real(sqlite3_file *file) { return (sqlite3_file *)(log_of(file) + 1); }

// Hands over what has been gathered. When that fails it is kept: SQLite was told that it is written, and whatever it asks
// for next has to find it so, or fail too.
static int flush(sqlite3_file *file) {
  struct log_file *log = log_of(file);
  if (log->count == 0) return SQLITE_OK;
  int result = real(file)->pMethods->xWrite(real(file), log->bytes, log->count, log->place);
  if (result == SQLITE_OK) log->count = 0;
  return result;
}

// The same, where SQLite gives the transaction up when it fails: then nothing of it may come to the file any more. A
// commit ends with a flush; what is left of a transaction that was undone is behind the log's end, and the next one, by the
// same and only writer, begins there.
static int flush_or_drop(sqlite3_file *file) {
  int result = flush(file);
  log_of(file)->count = 0;
  return result;
}

static int log_close(sqlite3_file *file) {
  // What is left is of a transaction that was undone.
  sqlite3_free(log_of(file)->bytes);
  return real(file)->pMethods->xClose(real(file));
}

static int log_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 place) {
  struct log_file *log = log_of(file);
  if (place < log->place + log->count && log->place < place + count) {
    int result = flush(file);
    if (result != SQLITE_OK) return result;
  }
  return real(file)->pMethods->xRead(real(file), bytes, count, place);
}

static int log_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 place) {
  struct log_file *log = log_of(file);
  int is_header = count == FRAME_HEADER_BYTES;
  int is_end = log->ends_commit && !is_header;
  static const char zero[WORD_BYTES];
  log->ends_commit = is_header && memcmp((const char *)bytes + WORD_BYTES, zero, WORD_BYTES) != 0;
  int is_next = log->count == 0 || place == log->place + log->count;
  if (!is_next || count > REDIAL_LOG_BUFFER_BYTES - log->count) {
    int result = flush_or_drop(file);
    if (result != SQLITE_OK) return result;
  }
  // What changes an earlier frame, as when a transaction outgrew the cache, is not worth gathering.
  if (!is_next || count > REDIAL_LOG_BUFFER_BYTES) {
    return real(file)->pMethods->xWrite(real(file), bytes, count, place);
  }
  if (log->count == 0) log->place = place;
  memcpy(log->bytes + log->count, bytes, (size_t)count);
  log->count += count;
  return is_end ? flush_or_drop(file) : SQLITE_OK;
}

static int log_truncate(sqlite3_file *file, sqlite3_int64 size) {
  int result = flush(file);
  return result == SQLITE_OK ? real(file)->pMethods->xTruncate(real(file), size) : result;
}

static int log_sync(sqlite3_file *file, int flags) {
  int result = flush_or_drop(file);
  return result == SQLITE_OK ? real(file)->pMethods->xSync(real(file), flags) : result;
}

static int log_size(sqlite3_file *file, sqlite3_int64 *size) {
  int result = flush(file);
  return result == SQLITE_OK ? real(file)->pMethods->xFileSize(real(file), size) : result;
}

static int log_lock(sqlite3_file *file, int level) { return real(file)->pMethods->xLock(real(file), level); }

static int log_unlock(sqlite3_file *file, int level) { return real(file)->pMethods->xUnlock(real(file), level); }

static int log_is_reserved(sqlite3_file *file, int *answer) {
  return real(file)->pMethods->xCheckReservedLock(real(file), answer);
}

static int log_control(sqlite3_file *file, int operation, void *argument) {
  return real(file)->pMethods->xFileControl(real(file), operation, argument);
}

static int log_sector_size(sqlite3_file *file) { return real(file)->pMethods->xSectorSize(real(file)); }

static int log_characteristics(sqlite3_file *file) {
  return real(file)->pMethods->xDeviceCharacteristics(real(file));
}

// Version 1: neither shared memory nor memory maps are asked of a log.
static const sqlite3_io_methods log_methods = {
    .iVersion = 1,
    .xClose = log_close,
    .xRead = log_read,
    .xWrite = log_write,
    .xTruncate = log_truncate,
    .xSync = log_sync,
    .xFileSize = log_size,
    .xLock = log_lock,
    .xUnlock = log_unlock,
    .xCheckReservedLock = log_is_reserved,
    .xFileControl = log_control,
    .xSectorSize = log_sector_size,
    .xDeviceCharacteristics = log_characteristics,
};

// The system's own VFS, behind this one.
static sqlite3_vfs *system_of(sqlite3_vfs *vfs) { return vfs->pAppData; }

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *opened) {
  sqlite3_vfs *system = system_of(vfs);
  // All other files are the system's, without anything between.
  if (!(flags & SQLITE_OPEN_WAL)) return system->xOpen(system, name, file, flags, opened);
  struct log_file *log = log_of(file);
  memset(log, 0, sizeof *log);
  log->bytes = sqlite3_malloc(REDIAL_LOG_BUFFER_BYTES);
  if (!log->bytes) return SQLITE_NOMEM;
  int result = system->xOpen(system, name, real(file), flags, opened);
  if (result == SQLITE_OK) {
    log->base.pMethods = &log_methods;
  } else {
    // By SQLite's rules a file that was not opened may have to be closed all the same.
    if (real(file)->pMethods) real(file)->pMethods->xClose(real(file));
    sqlite3_free(log->bytes);
  }
  return result;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int syncs) {
  return system_of(vfs)->xDelete(system_of(vfs), name, syncs);
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *answer) {
  return system_of(vfs)->xAccess(system_of(vfs), name, flags, answer);
}

static int vfs_full_path(sqlite3_vfs *vfs, const char *name, int room, char *path) {
  return system_of(vfs)->xFullPathname(system_of(vfs), name, room, path);
}

static int vfs_randomness(sqlite3_vfs *vfs, int count, char *bytes) {
  return system_of(vfs)->xRandomness(system_of(vfs), count, bytes);
}

static int vfs_sleep(sqlite3_vfs *vfs, int microseconds) {
  return system_of(vfs)->xSleep(system_of(vfs), microseconds);
}

static int vfs_time(sqlite3_vfs *vfs, double *day) { return system_of(vfs)->xCurrentTime(system_of(vfs), day); }

static int vfs_last_error(sqlite3_vfs *vfs, int room, char *text) {
  return system_of(vfs)->xGetLastError(system_of(vfs), room, text);
}

static int vfs_time_64(sqlite3_vfs *vfs, sqlite3_int64 *milliseconds) {
  return system_of(vfs)->xCurrentTimeInt64(system_of(vfs), milliseconds);
}

int redial_register_log_buffer(void) {
  static sqlite3_vfs vfs;
  sqlite3_vfs *system = sqlite3_vfs_find(0);
  if (!system || system->iVersion < 2) return SQLITE_ERROR;
  // Extensions are not loaded by Redial's connections: what loads them is left out.
  vfs = (sqlite3_vfs){
      .iVersion = 2,
      .szOsFile = (int)sizeof(struct log_file) + system->szOsFile,
      .mxPathname = system->mxPathname,
      .zName = REDIAL_LOG_BUFFER_VFS,
      .pAppData = system,
      .xOpen = vfs_open,
      .xDelete = vfs_delete,
      .xAccess = vfs_access,
      .xFullPathname = vfs_full_path,
      .xRandomness = vfs_randomness,
      .xSleep = vfs_sleep,
      .xCurrentTime = vfs_time,
      .xGetLastError = vfs_last_error,
      .xCurrentTimeInt64 = vfs_time_64,
  };
  return sqlite3_vfs_register(&vfs, 0);
}
