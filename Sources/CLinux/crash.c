#define _GNU_SOURCE 1
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "crash.h"

enum { MARK = 0x52444c43 };

_Thread_local volatile int64_t redial_in_hand;

static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT};
enum { COUNT = sizeof crashes / sizeof *crashes };

static atomic_int crash_file = -1;
static struct sigaction before[COUNT];

// Async-signal-safe: one write, and then what would have happened without it, with the same status and the same core dump.
static void write_crash(int signal, siginfo_t *info, void *context) {
  // The first thread that crashes is the one that matters.
  int file = atomic_exchange(&crash_file, -1);
  if (file >= 0) {
    struct redial_crash crash = {MARK, signal, redial_in_hand};
    if (pwrite(file, &crash, sizeof crash, 0) < 0) { /* The next start takes it for a kill. */ }
  }
  for (int index = 0; index < COUNT; index++) {
    if (crashes[index] != signal) continue;
    // Swift's, which shows where it happened, waits for the fault to come again. What was sent from outside does not.
    if (before[index].sa_flags & SA_SIGINFO) before[index].sa_sigaction(signal, info, context);
  }
  struct sigaction end = {.sa_handler = SIG_DFL};
  sigaction(signal, &end, NULL);
  // A fault comes again by itself when the instruction is repeated. After a trap the next one would follow.
  if (info->si_code <= 0 || signal == SIGTRAP) raise(signal);
}

static void watch(void) {
  for (int index = 0; index < COUNT; index++) {
    struct sigaction action = {0};
    action.sa_sigaction = write_crash;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(crashes[index], &action, &before[index]);
  }
}

void redial_write_crashes_to(int file) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch);
  atomic_store(&crash_file, file);
}

void redial_write_no_crashes_to(int file) {
  atomic_compare_exchange_strong(&crash_file, &file, -1);
}

int redial_take_crash(int file, struct redial_crash *crash) {
  ssize_t count = pread(file, crash, sizeof *crash, 0);
  if (count > 0 && ftruncate(file, 0) != 0) return 0;
  return count == sizeof *crash && crash->mark == MARK;
}
