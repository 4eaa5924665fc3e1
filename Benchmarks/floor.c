// The floor: what the bare parts of the service cost together on this machine, for comparison in the same run.
//
// For each POST it does only the necessary work: reads the request, stores one row in a group commit that is synced,
// answers, sends the body to the target with libcurl, and updates the row. It parses no JSON, has no retries, no
// breakers, no limits and almost no error handling: it is a measure and not a service.
//
//   floor PORT TARGET_URL DATABASE      prints "accepted finished" on SIGUSR1, ends on SIGTERM
#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { IN_FLIGHT = 64, EVENTS = 256, REQUEST_MAX = 16384 };

// A call on its way: from the server to the writer, to the server (answer) and to libcurl, and to the writer again.
struct call {
  struct call *next;
  int fd;
  sqlite3_int64 id;
  size_t size;
  char body[];
};

// A mailbox: a list that is taken as a whole.
struct box {
  pthread_mutex_t lock;
  struct call *first, **last;
};
static struct box accepted = {PTHREAD_MUTEX_INITIALIZER, 0, &accepted.first};
static struct box ended = {PTHREAD_MUTEX_INITIALIZER, 0, &ended.first};
static struct box waiting = {PTHREAD_MUTEX_INITIALIZER, 0, &waiting.first};

static pthread_mutex_t writer_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t writer_wakes = PTHREAD_COND_INITIALIZER;
static int writer_has_work, answers_fd;
static pthread_mutex_t answers_lock = PTHREAD_MUTEX_INITIALIZER;
static int answers[65536], answer_count;
static CURLM *multi;
static const char *target_url, *database_path;
static volatile long accepted_count, ended_count;

static void put(struct box *box, struct call *first, struct call **last) {
  pthread_mutex_lock(&box->lock);
  *box->last = first;
  box->last = last;
  pthread_mutex_unlock(&box->lock);
}

static struct call *take(struct box *box) {
  pthread_mutex_lock(&box->lock);
  struct call *all = box->first;
  box->first = 0;
  box->last = &box->first;
  pthread_mutex_unlock(&box->lock);
  return all;
}

static void wake_writer(void) {
  pthread_mutex_lock(&writer_lock);
  if (!writer_has_work) {
    writer_has_work = 1;
    pthread_cond_signal(&writer_wakes);
  }
  pthread_mutex_unlock(&writer_lock);
}

static void fail(const char *what) {
  perror(what);
  exit(1);
}

// ---- The server: one epoll loop.

struct connection {
  int fd;
  size_t size;
  char bytes[REQUEST_MAX];
};

// The first complete request's body; its end, or 0 if more bytes are needed.
static size_t request(struct connection *c, size_t *body, size_t *size) {
  char *end = memmem(c->bytes, c->size, "\r\n\r\n", 4);
  if (!end) return 0;
  *body = (size_t)(end - c->bytes) + 4;
  *size = 0;
  for (char *line = c->bytes; line < end;) {
    if (strncasecmp(line, "content-length:", 15) == 0) *size = strtoul(line + 15, 0, 10);
    line = memchr(line, '\n', (size_t)(end + 2 - line));
    if (!line) break;
    line++;
  }
  return *body + *size <= c->size ? *body + *size : 0;
}

static void *serve(void *argument) {
  static const char answer[] =
      "HTTP/1.1 202 Accepted\r\nContent-Type: application/json\r\nContent-Length: 27\r\n\r\n{\"id\":\"0000000000000000\"}  ";
  int listener = *(int *)argument, epoll = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = &listener}, events[EVENTS];
  epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
  event.data.ptr = &answers_fd;
  epoll_ctl(epoll, EPOLL_CTL_ADD, answers_fd, &event);
  static int fds[65536];
  for (;;) {
    int count = epoll_wait(epoll, events, EVENTS, -1);
    struct call *first = 0, **last = &first;
    for (int i = 0; i < count; i++) {
      if (events[i].data.ptr == &listener) {
        for (int fd; (fd = accept4(listener, 0, 0, SOCK_NONBLOCK)) >= 0;) {
          int one = 1;
          setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
          struct connection *c = malloc(sizeof *c);
          c->fd = fd;
          c->size = 0;
          event.data.ptr = c;
          epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
        }
      } else if (events[i].data.ptr == &answers_fd) {
        eventfd_t value;
        eventfd_read(answers_fd, &value);
        pthread_mutex_lock(&answers_lock);
        int left = answer_count;
        memcpy(fds, answers, (size_t)left * sizeof *fds);
        answer_count = 0;
        pthread_mutex_unlock(&answers_lock);
        while (left > 0) send(fds[--left], answer, sizeof answer - 1, MSG_NOSIGNAL);
      } else {
        struct connection *c = events[i].data.ptr;
        ssize_t got = recv(c->fd, c->bytes + c->size, sizeof c->bytes - c->size, 0);
        if (got == 0) {
          close(c->fd);
          free(c);
        }
        if (got <= 0) continue;
        c->size += (size_t)got;
        size_t body, size, end = request(c, &body, &size);
        if (!end) continue;
        struct call *call = malloc(sizeof *call + size);
        *call = (struct call){.fd = c->fd, .size = size};
        memcpy(call->body, c->bytes + body, size);
        memmove(c->bytes, c->bytes + end, c->size -= end);
        *last = call;
        last = &call->next;
      }
    }
    if (first) {
      put(&accepted, first, last);
      wake_writer();
    }
  }
  return 0;
}

// ---- The writer: one transaction for everything that arrived while the last was synced.

static void run(sqlite3 *db, sqlite3_stmt *statement) {
  if (sqlite3_step(statement) != SQLITE_DONE) {
    fprintf(stderr, "%s\n", sqlite3_errmsg(db));
    exit(1);
  }
  sqlite3_reset(statement);
}

static void *write_rows(void *unused) {
  (void)unused;
  sqlite3 *db;
  sqlite3_stmt *begin, *commit, *insert, *update;
  sqlite3_open_v2(database_path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, 0);
  sqlite3_exec(
      db,
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000; PRAGMA cache_size = -65536;"
      "CREATE TABLE calls (id INTEGER PRIMARY KEY, state INTEGER, due INTEGER, attempts INTEGER, payload BLOB, result BLOB);"
      "CREATE INDEX calls_due ON calls (due) WHERE state = 0",
      0, 0, 0);
  sqlite3_prepare_v3(db, "BEGIN IMMEDIATE", -1, SQLITE_PREPARE_PERSISTENT, &begin, 0);
  sqlite3_prepare_v3(db, "COMMIT", -1, SQLITE_PREPARE_PERSISTENT, &commit, 0);
  sqlite3_prepare_v3(db, "INSERT INTO calls VALUES (?1, 0, ?1, 0, ?2, NULL)", -1, SQLITE_PREPARE_PERSISTENT, &insert, 0);
  sqlite3_prepare_v3(
      db, "UPDATE calls SET state = 2, attempts = 1, result = ?2 WHERE id = ?1", -1, SQLITE_PREPARE_PERSISTENT, &update, 0);
  static char result[200];
  sqlite3_int64 id = 0;
  for (;;) {
    pthread_mutex_lock(&writer_lock);
    while (!writer_has_work) pthread_cond_wait(&writer_wakes, &writer_lock);
    writer_has_work = 0;
    pthread_mutex_unlock(&writer_lock);
    struct call *fresh = take(&accepted), *done = take(&ended), **last = &fresh;
    long added = 0, finished = 0;
    run(db, begin);
    for (struct call *call = fresh; call; call = call->next) {
      call->id = ++id;
      sqlite3_bind_int64(insert, 1, call->id);
      sqlite3_bind_blob(insert, 2, call->body, (int)call->size, SQLITE_STATIC);
      run(db, insert);
      last = &call->next;
      added++;
    }
    while (done) {
      struct call *call = done;
      sqlite3_bind_int64(update, 1, call->id);
      sqlite3_bind_blob(update, 2, result, sizeof result, SQLITE_STATIC);
      run(db, update);
      done = call->next;
      free(call);
      finished++;
    }
    run(db, commit);
    accepted_count += added;
    ended_count += finished;
    if (!fresh) continue;
    pthread_mutex_lock(&answers_lock);
    for (struct call *call = fresh; call; call = call->next) answers[answer_count++] = call->fd;
    pthread_mutex_unlock(&answers_lock);
    eventfd_write(answers_fd, 1);
    put(&waiting, fresh, last);
    curl_multi_wakeup(multi);
  }
  return 0;
}

// ---- Outbound: libcurl's multi interface, with as many requests in flight as Redial has to one target.

static size_t discard(char *bytes, size_t size, size_t count, void *context) {
  (void)bytes, (void)context;
  return size * count;
}

static void *call_out(void *unused) {
  (void)unused;
  struct curl_slist *fields = curl_slist_append(curl_slist_append(0, "Content-Type: application/json"), "Expect:");
  CURL *idle[IN_FLIGHT];
  int idle_count = IN_FLIGHT, running;
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, 2L * IN_FLIGHT);
  for (int i = 0; i < IN_FLIGHT; i++) {
    CURL *easy = idle[i] = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_URL, target_url);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, discard);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, fields);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, 10000L);
  }
  struct call *queue = 0, **queue_end = &queue;
  for (;;) {
    *queue_end = take(&waiting);
    while (*queue_end) queue_end = &(*queue_end)->next;
    while (idle_count > 0 && queue) {
      struct call *call = queue;
      if (!(queue = call->next)) queue_end = &queue;
      CURL *easy = idle[--idle_count];
      curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->size);
      curl_easy_setopt(easy, CURLOPT_POSTFIELDS, (char *)call->body);
      curl_easy_setopt(easy, CURLOPT_PRIVATE, call);
      curl_multi_add_handle(multi, easy);
    }
    curl_multi_perform(multi, &running);
    struct call *first = 0, **last = &first;
    int left;
    for (CURLMsg *message; (message = curl_multi_info_read(multi, &left));) {
      CURL *easy = message->easy_handle;
      struct call *call;
      curl_easy_getinfo(easy, CURLINFO_PRIVATE, &call);
      if (message->data.result != CURLE_OK) fprintf(stderr, "%s\n", curl_easy_strerror(message->data.result));
      curl_multi_remove_handle(multi, easy);
      idle[idle_count++] = easy;
      call->next = 0;
      *last = call;
      last = &call->next;
    }
    if (first) {
      put(&ended, first, last);
      wake_writer();
    }
    if (idle_count == 0 || !queue) curl_multi_poll(multi, 0, 0, 50, 0);
  }
  return 0;
}

int main(int count, char **arguments) {
  if (count != 4) {
    fprintf(stderr, "usage: floor PORT TARGET_URL DATABASE\n");
    return 2;
  }
  target_url = arguments[2];
  database_path = arguments[3];
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, 0);
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1, signal_number;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons((in_port_t)atoi(arguments[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 1024)) fail("listen");
  answers_fd = eventfd(0, EFD_NONBLOCK);
  curl_global_init(CURL_GLOBAL_DEFAULT);
  multi = curl_multi_init();
  pthread_t thread;
  pthread_create(&thread, 0, write_rows, 0);
  pthread_create(&thread, 0, call_out, 0);
  pthread_create(&thread, 0, serve, &listener);
  while (sigwait(&signals, &signal_number) == 0 && signal_number == SIGUSR1) {
    printf("%ld %ld\n", accepted_count, ended_count);
    fflush(stdout);
  }
  return 0;
}
