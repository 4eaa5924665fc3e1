// Faults for a process under test, by LD_PRELOAD: writes and syncs that fail, a disk that forgets what was not synced, and
// clocks that jump. Files in the folder FAULTS_FOLDER select the faults:
//
//   fail-sync      fsync and fdatasync fail with EIO, and their data is dropped: it stays readable until the machine
//                  dies, and no later fsync brings it to the disk (like Linux; the lesson of PostgreSQL's "fsyncgate")
//   fail-file-sync the same only for the store's file, which a checkpoint syncs, and not for its log
//   fail-log-sync  the same only for the log, which each commit syncs
//   slow-sync      each sync takes 300 ms longer
//   hold-start     once the process watches its listeners, syncs wait for as long as this file is there
//   lying-sync     syncs report success, but nothing is durable
//   fail-write     writes fail with EIO        full-disk      writes fail with ENOSPC
//   fail-file-write  only writes to the store's file fail with EIO, not those to its log
//   slow-file-write  each write to the store's file takes 5 ms longer, and not those to its log
//   record         if it is there when the process starts: each write, cut, sync and removal is appended to it, by all processes,
//                  in the order in which they happened (see Recording in recording.py)
//   clock          eight bytes: nanoseconds by which CLOCK_REALTIME is ahead
//   suspended      eight bytes: nanoseconds by which CLOCK_BOOTTIME, and CLOCK_REALTIME, are ahead of CLOCK_MONOTONIC
//   durable/       for each file of the store, an image of what a disk would have after a power cut now: what was synced
//
// Only files whose path begins with FAULTS_STORE are affected, except the shared memory, the lock and the reserve.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

struct change {
  struct change *next;
  off_t offset;
  size_t length;  // 0: the file is cut to offset
  char bytes[];
};

struct tracked {
  char name[256];
  int image;
  struct change *first, **last;
};

// A log that is removed and made again is another file each time.
enum { MOST_FILES = 1024 };
static struct tracked files[MOST_FILES];
static int file_count;
enum { MOST_DESCRIPTORS = 4096 };
static short file_of[MOST_DESCRIPTORS];  // by descriptor: 1 + its place in files
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *folder, *store;
static const volatile int64_t *clock_ahead, *suspended;
static int record_file = -1;

static int (*real_open)(const char *, int, ...);
static int (*real_close)(int);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_write)(int, const void *, size_t);
static int (*real_epoll_ctl)(int, int, int, struct epoll_event *);
static volatile int has_listened;
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_ftruncate)(int, off_t);
static int (*real_unlink)(const char *);
static int (*real_clock)(clockid_t, struct timespec *);

static const volatile int64_t *shared(const char *name) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  int file = real_open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return NULL;
  void *page = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
  real_close(file);
  return page == MAP_FAILED ? NULL : page;
}

__attribute__((constructor)) static void begin(void) {
  real_open = dlsym(RTLD_NEXT, "open64");
  real_close = dlsym(RTLD_NEXT, "close");
  real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
  real_write = dlsym(RTLD_NEXT, "write");
  real_epoll_ctl = dlsym(RTLD_NEXT, "epoll_ctl");
  real_fsync = dlsym(RTLD_NEXT, "fsync");
  real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  real_ftruncate = dlsym(RTLD_NEXT, "ftruncate64");
  real_unlink = dlsym(RTLD_NEXT, "unlink");
  real_clock = dlsym(RTLD_NEXT, "clock_gettime");
  folder = getenv("FAULTS_FOLDER");
  store = getenv("FAULTS_STORE");
  if (!folder) return;
  clock_ahead = shared("clock");
  suspended = shared("suspended");
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/record", folder);
  record_file = real_open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
}

// One operation in the record, before the written bytes. The kind is w (write), t (cut), s (sync), f (a sync that
// failed) or u (removal); the file is m (the store's file), w (its log) or j (its journal).
struct entry {
  int64_t time;  // by CLOCK_MONOTONIC, in nanoseconds
  int64_t offset;
  int32_t length;
  char kind, file, spare[2];
};

static char kind_of(const char *name) {
  size_t length = strlen(name), base = strlen(store);
  return length <= base ? 'm' : name[base + 1];
}

// Called under the lock, so that the record has the order of what happened.
static void record(char kind, const char *name, const void *bytes, size_t length, off_t offset) {
  if (record_file < 0) return;
  struct timespec now;
  real_clock(CLOCK_MONOTONIC, &now);
  struct entry entry = {
      .time = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec, .offset = offset, .length = (int32_t)length, .kind = kind,
      .file = kind_of(name)};
  struct iovec parts[2] = {{&entry, sizeof entry}, {(void *)bytes, length}};
  // One call, so that a process that is killed leaves whole entries.
  if (writev(record_file, parts, length ? 2 : 1) < 0) abort();
}

static int is_on(const char *fault) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", folder, fault);
  int saved = errno;
  int found = access(path, F_OK) == 0;
  errno = saved;
  return found;
}

static int is_tracked(const char *path) {
  return folder && store && strncmp(path, store, strlen(store)) == 0 && !strstr(path, "-shm") && !strstr(path, ".lock") &&
         !strstr(path, "-reserve");
}

static void image_path(char *path, const char *name) {
  snprintf(path, PATH_MAX, "%s/durable/%s", folder, strrchr(name, '/') + 1);
}

static void track(int descriptor, const char *name) {
  if (descriptor < 0 || descriptor >= MOST_DESCRIPTORS || !is_tracked(name)) return;
  pthread_mutex_lock(&lock);
  int place = 0;
  while (place < file_count && strcmp(files[place].name, name)) place++;
  // What is not tracked would be missing in the record, and in what a power cut leaves.
  if (file_count == MOST_FILES) abort();
  if (place == file_count) {
    struct tracked *file = &files[file_count++];
    snprintf(file->name, sizeof file->name, "%s", name);
    char path[PATH_MAX];
    image_path(path, name);
    file->image = real_open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    file->last = &file->first;
  }
  file_of[descriptor] = 1 + place;
  pthread_mutex_unlock(&lock);
}

static struct tracked *tracked_by(int descriptor) {
  if (descriptor < 0 || descriptor >= MOST_DESCRIPTORS || !file_of[descriptor]) return NULL;
  return &files[file_of[descriptor] - 1];
}

// Records a change that was just made; under the lock.
static void note(struct tracked *file, const void *bytes, size_t length, off_t offset) {
  struct change *change = malloc(sizeof *change + length);
  *change = (struct change){.offset = offset, .length = length};
  if (length) memcpy(change->bytes, bytes, length);
  *file->last = change;
  file->last = &change->next;
  record(length ? 'w' : 't', file->name, bytes, length, offset);
}

// All written bytes become durable, or are dropped.
static void settle(struct tracked *file, int is_durable) {
  pthread_mutex_lock(&lock);
  record(is_durable ? 's' : 'f', file->name, NULL, 0, 0);
  for (struct change *change = file->first, *next; change; change = next) {
    next = change->next;
    if (is_durable && change->length) real_pwrite(file->image, change->bytes, change->length, change->offset);
    if (is_durable && !change->length) real_ftruncate(file->image, change->offset);
    free(change);
  }
  file->first = NULL;
  file->last = &file->first;
  pthread_mutex_unlock(&lock);
}

static int is_log(struct tracked *file) {
  size_t length = strlen(file->name);
  return length > 4 && strcmp(file->name + length - 4, "-wal") == 0;
}

static int write_fails(struct tracked *file) {
  if (!file) return 0;
  if (is_on("full-disk")) return errno = ENOSPC;
  if (is_on("fail-write")) return errno = EIO;
  if (!is_log(file) && is_on("fail-file-write")) return errno = EIO;
  if (!is_log(file) && is_on("slow-file-write")) usleep(5000);
  return 0;
}

int open64(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
  va_end(more);
  int file = real_open(path, flags, mode);
  track(file, path);
  return file;
}

int open(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
  va_end(more);
  return open64(path, flags, mode);
}

int close(int file) {
  if (file >= 0 && file < MOST_DESCRIPTORS) file_of[file] = 0;
  return real_close(file);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t length, off_t offset) {
  struct tracked *file = tracked_by(descriptor);
  if (!file) return real_pwrite(descriptor, bytes, length, offset);
  if (write_fails(file)) return -1;
  pthread_mutex_lock(&lock);
  ssize_t written = real_pwrite(descriptor, bytes, length, offset);
  if (written > 0) note(file, bytes, written, offset);
  pthread_mutex_unlock(&lock);
  return written;
}

ssize_t pwrite(int file, const void *bytes, size_t length, off_t offset) { return pwrite64(file, bytes, length, offset); }

ssize_t write(int descriptor, const void *bytes, size_t length) {
  struct tracked *file = tracked_by(descriptor);
  if (!file) return real_write(descriptor, bytes, length);
  if (write_fails(file)) return -1;
  pthread_mutex_lock(&lock);
  off_t offset = lseek(descriptor, 0, SEEK_CUR);
  ssize_t written = real_write(descriptor, bytes, length);
  if (written > 0) note(file, bytes, written, offset);
  pthread_mutex_unlock(&lock);
  return written;
}

int ftruncate64(int descriptor, off_t length) {
  struct tracked *file = tracked_by(descriptor);
  if (!file) return real_ftruncate(descriptor, length);
  pthread_mutex_lock(&lock);
  int result = real_ftruncate(descriptor, length);
  if (result == 0) note(file, NULL, 0, length);
  pthread_mutex_unlock(&lock);
  return result;
}

int ftruncate(int file, off_t length) { return ftruncate64(file, length); }

// A service binds its address before it opens the store, and watches the listeners behind it.
int epoll_ctl(int epoll, int operation, int descriptor, struct epoll_event *event) {
  int listens = 0;
  socklen_t size = sizeof listens;
  if (getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens) has_listened = 1;
  return real_epoll_ctl(epoll, operation, descriptor, event);
}

static int sync_with(int (*real)(int), int descriptor) {
  struct tracked *file = tracked_by(descriptor);
  if (!file) return real(descriptor);
  if (is_on("fail-sync") || is_on(is_log(file) ? "fail-log-sync" : "fail-file-sync")) {
    settle(file, 0);
    errno = EIO;
    return -1;
  }
  if (is_on("slow-sync")) usleep(300000);
  while (has_listened && is_on("hold-start")) usleep(1000);
  if (!is_on("lying-sync")) settle(file, 1);
  // Only the image counts; the test need not wait for its disk.
  return 0;
}

int fsync(int file) { return sync_with(real_fsync, file); }
int fdatasync(int file) { return sync_with(real_fdatasync, file); }

int unlink(const char *name) {
  int result = real_unlink(name);
  if (result == 0 && is_tracked(name)) {
    pthread_mutex_lock(&lock);
    record('u', name, NULL, 0, 0);
    for (int place = 0; place < file_count; place++) {
      // A file that is created again under this name is another file.
      if (strcmp(files[place].name, name) == 0) files[place].name[0] = 0;
    }
    pthread_mutex_unlock(&lock);
    char path[PATH_MAX];
    image_path(path, name);
    real_unlink(path);
  }
  return result;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  int result = real_clock ? real_clock(clock, time) : -1;
  if (result != 0 || !folder) return result;
  int64_t ahead = 0;
  if (clock_ahead && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) ahead += *clock_ahead;
  if (suspended && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_BOOTTIME)) ahead += *suspended;
  if (ahead) {
    int64_t whole = (int64_t)time->tv_sec * 1000000000 + time->tv_nsec + ahead;
    time->tv_sec = whole / 1000000000;
    time->tv_nsec = whole % 1000000000;
  }
  return result;
}

// The kernel's clock does not jump: a deadline on the jumping clock is moved back.
int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict deadline) {
  static int (*real)(sem_t *, const struct timespec *);
  if (!real) real = dlsym(RTLD_NEXT, "sem_timedwait");
  int64_t whole = (int64_t)deadline->tv_sec * 1000000000 + deadline->tv_nsec;
  whole -= (clock_ahead ? *clock_ahead : 0) + (suspended ? *suspended : 0);
  struct timespec moved = {.tv_sec = whole / 1000000000, .tv_nsec = whole % 1000000000};
  return real(semaphore, &moved);
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  (void)zone;
  struct timespec now;
  int result = clock_gettime(CLOCK_REALTIME, &now);
  *time = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
  return result;
}

time_t time(time_t *result) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (result) *result = now.tv_sec;
  return now.tv_sec;
}
