#ifndef REDIAL_CLOGBUFFER_H
#define REDIAL_CLOGBUFFER_H

#include "CLogReplay.h"

// A VFS for SQLite's writers: the system's own, but that what is appended to a write-ahead log is gathered, and reaches
// the kernel in a few long writes in place of two short ones a page.
//
// A commit is handed over whole before SQLite syncs it and tells anybody of it, under `synchronous = FULL`: what a crash may
// leave of a log is what it may leave without this. It is for a file that one connection writes to: what a transaction that
// was undone has left here would come over what another connection has written since.

// The name to open a database by, once it is registered.
#define REDIAL_LOG_BUFFER_VFS "redial-log-buffer"

// Bytes that are gathered at most.
#define REDIAL_LOG_BUFFER_BYTES (64 * 1024)

// Registers it, beside the system's own, which stays the default; once a process. Answers SQLite's code.
int redial_register_log_buffer(void);

#endif
