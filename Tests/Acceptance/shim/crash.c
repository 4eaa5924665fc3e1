// A fault in the libraries of a process under test, by LD_PRELOAD: it crashes in the midst of reading a response that says so, as a
// parser does that was deceived.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <sys/socket.h>

ssize_t recv(int socket, void *buffer, size_t length, int flags) {
  static ssize_t (*next)(int, void *, size_t, int);
  if (!next) next = (ssize_t (*)(int, void *, size_t, int))dlsym(RTLD_NEXT, "recv");
  ssize_t count = next(socket, buffer, length, flags);
  if (count > 0 && memmem(buffer, (size_t)count, "X-Crash: ", 9)) *(volatile int *)0 = 1;
  return count;
}
