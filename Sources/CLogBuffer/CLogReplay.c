#include "CLogReplay.h"

#include <stdint.h>
#include <string.h>

// By the file format of the write-ahead log and of its index (sqlite.org/fileformat2.html and walformat.html).
enum {
  LOG_HEADER_BYTES = 32,
  PAGE_SIZE_OFFSET = 8,
  SALT_OFFSET = 16,
  FRAME_HEADER_BYTES = 24,
  FRAME_SALT_OFFSET = 8,
  SALT_BYTES = 8,
  INDEX_REGION_BYTES = 32768,
  MOVED_FRAMES_OFFSET = 96,
  WRITE_LOCK = 0,
  LOCKS = 2,  // That of writers, and behind it that of checkpoints.
};

static uint32_t word(const unsigned char *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

// Writes the last version that the frames up to `moved` have of each page. `written` has a bit for each page, `page` room
// for one.
static int write_pages(sqlite3_file *file, sqlite3_file *log, const unsigned char *header, uint32_t moved, int size,
                       sqlite3_int64 pages, unsigned char *written, void *page) {
  for (uint32_t frame = moved; frame > 0; frame--) {
    sqlite3_int64 place = LOG_HEADER_BYTES + (sqlite3_int64)(frame - 1) * (FRAME_HEADER_BYTES + size);
    unsigned char start[FRAME_HEADER_BYTES];
    int result = log->pMethods->xRead(log, start, FRAME_HEADER_BYTES, place);
    if (result != SQLITE_OK) return result;
    if (memcmp(start + FRAME_SALT_OFFSET, header + SALT_OFFSET, SALT_BYTES) != 0) return SQLITE_CORRUPT;
    // Pages that were cut off the file since are not wanted back.
    uint32_t number = word(start);
    if (number == 0 || number > pages || (written[number / 8] & 1 << number % 8)) continue;
    written[number / 8] |= (unsigned char)(1 << number % 8);
    result = log->pMethods->xRead(log, page, size, place + FRAME_HEADER_BYTES);
    if (result == SQLITE_OK) result = file->pMethods->xWrite(file, page, size, (sqlite3_int64)(number - 1) * size);
    if (result != SQLITE_OK) return result;
  }
  return SQLITE_OK;
}

static int replay(sqlite3_file *file, sqlite3_file *log) {
  void volatile *index = 0;
  int result = file->pMethods->xShmMap(file, 0, INDEX_REGION_BYTES, 0, &index);
  if (result != SQLITE_OK) return result;
  uint32_t moved = index ? *(uint32_t volatile *)((char volatile *)index + MOVED_FRAMES_OFFSET) : 0;
  if (moved == 0) return SQLITE_OK;
  unsigned char header[LOG_HEADER_BYTES];
  result = log->pMethods->xRead(log, header, LOG_HEADER_BYTES, 0);
  if (result != SQLITE_OK) return result;
  uint32_t size = word(header + PAGE_SIZE_OFFSET);
  if (size < 512 || size > 65536) return SQLITE_CORRUPT;
  sqlite3_int64 bytes = 0;
  result = file->pMethods->xFileSize(file, &bytes);
  if (result != SQLITE_OK) return result;
  sqlite3_int64 pages = bytes / size;
  unsigned char *written = sqlite3_malloc64((sqlite3_uint64)pages / 8 + 1);
  void *page = sqlite3_malloc64(size);
  result = SQLITE_NOMEM;
  if (written && page) {
    memset(written, 0, (size_t)(pages / 8 + 1));
    result = write_pages(file, log, header, moved, (int)size, pages, written, page);
  }
  sqlite3_free(written);
  sqlite3_free(page);
  return result == SQLITE_OK ? file->pMethods->xSync(file, SQLITE_SYNC_NORMAL) : result;
}

int redial_replay_log(sqlite3 *database) {
  sqlite3_file *file = 0, *log = 0;
  int result = sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (result == SQLITE_OK) result = sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  if (result != SQLITE_OK) return result;
  if (!file || !file->pMethods || file->pMethods->iVersion < 2 || !log || !log->pMethods) return SQLITE_ERROR;
  // Nobody moves pages meanwhile, and nobody begins the log anew.
  result = file->pMethods->xShmLock(file, WRITE_LOCK, LOCKS, SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE);
  if (result != SQLITE_OK) return result;
  result = replay(file, log);
  file->pMethods->xShmLock(file, WRITE_LOCK, LOCKS, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE);
  return result;
}

int redial_keep_log_on_close(sqlite3 *database) {
  return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}
