#ifndef REDIAL_CLINUX_H
#define REDIAL_CLINUX_H

// Linux calls that Swift's Glibc module does not offer.

#include "checksum.h"
#include "crash.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

// accept4(2) with SOCK_NONBLOCK and SOCK_CLOEXEC; the peer's address is not requested.
// Returns the descriptor, or -1 with errno set.
int redial_accept_nonblocking(int listener);

// How many bytes of a connection of TCP have arrived here, read or not, how many the other side has acknowledged, and for how many
// milliseconds none has arrived, to about ten.
struct redial_traffic {
  uint64_t received, acknowledged;
  uint32_t silence;
};

// Returns -1 if that is not known, or nothing was.
int redial_traffic_of(int connection, struct redial_traffic *traffic);

// How many bytes of the heap are free, in all arenas of the allocator; 0 if unknown.
size_t redial_free_heap_bytes(void);

// Gives free pages of the heap, also those between used ones, back to the system (malloc_trim(3)).
void redial_trim_heap(void);

// No core dump of this process is written any more, and only root can look into its memory (PR_SET_DUMPABLE of prctl(2)).
void redial_forbid_dumps(void);

#endif
