#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <malloc.h>
#include "clinux.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>

int redial_accept_nonblocking(int listener) {
  return accept4(listener, 0, 0, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

int redial_traffic_of(int connection, struct redial_traffic *traffic) {
  struct tcp_info info = {0};
  socklen_t length = sizeof info;
  if (getsockopt(connection, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return -1;
  *traffic = (struct redial_traffic){info.tcpi_bytes_received, info.tcpi_bytes_acked, info.tcpi_last_data_recv};
  // A system that emulates Linux may not count.
  return traffic->received > 0 && traffic->acknowledged > 0 ? 0 : -1;
}

size_t redial_free_heap_bytes(void) {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
    // Not by its name: a binary that is linked for older systems runs on those that lack it.
    struct mallinfo2 (*look)(void) = (struct mallinfo2 (*)(void))dlsym(RTLD_DEFAULT, "mallinfo2");
    return look ? look().fordblks : 0;
#else
    return 0;
#endif
}

void redial_trim_heap(void) {
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}

void redial_forbid_dumps(void) {
  prctl(PR_SET_DUMPABLE, 0);
}
