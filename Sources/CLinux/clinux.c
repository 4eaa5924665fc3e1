#define _GNU_SOURCE 1
#include "clinux.h"

#include <sys/socket.h>

int redial_accept_nonblocking(int listener) {
  return accept4(listener, 0, 0, SOCK_NONBLOCK | SOCK_CLOEXEC);
}
