#ifndef REDIAL_CRASH_H
#define REDIAL_CRASH_H

#include <stdint.h>

// What a process writes as it crashes, at the beginning of a file: 16 bytes, in the order of this machine.
struct redial_crash {
  uint32_t mark;
  int32_t signal;
  // What the thread had in hand that crashed; 0 for nothing.
  int64_t in_hand;
};

// What this thread has in hand; a crash names it.
extern _Thread_local volatile int64_t redial_in_hand;
static inline void redial_take_in_hand(int64_t what) { redial_in_hand = what; }

// From now on, a crash of this process is written to the file. -1: to none.
void redial_write_crashes_to(int file);
// The file is about to be closed.
void redial_write_no_crashes_to(int file);
// Takes what was written to the file, which is empty afterwards. Returns whether there was something.
int redial_take_crash(int file, struct redial_crash *crash);

#endif
