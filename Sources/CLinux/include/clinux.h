#ifndef REDIAL_CLINUX_H
#define REDIAL_CLINUX_H

// Linux calls that Swift's Glibc module does not offer.

#include <sys/epoll.h>
#include <sys/eventfd.h>

// accept4(2) with SOCK_NONBLOCK and SOCK_CLOEXEC; the peer's address is not asked for.
// Answers the descriptor, or -1 with errno set.
int redial_accept_nonblocking(int listener);

#endif
