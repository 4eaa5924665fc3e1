#ifndef REDIAL_ALLOCATIONS_H
#define REDIAL_ALLOCATIONS_H

#include <stdint.h>

/// How many blocks this process has asked the heap for so far.
uint64_t redial_allocations(void);

#endif
