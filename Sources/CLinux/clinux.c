#define _GNU_SOURCE 1
#include <malloc.h>
#include "clinux.h"

#include <sys/socket.h>

int redial_accept_nonblocking(int listener) {
  return accept4(listener, 0, 0, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

size_t redial_free_heap_bytes(void) {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
    return mallinfo2().fordblks;
#else
    return 0;
#endif
}

void redial_trim_heap(void) {
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}
