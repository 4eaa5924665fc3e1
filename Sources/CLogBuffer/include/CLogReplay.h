#ifndef REDIAL_CLOGREPLAY_H
#define REDIAL_CLOGREPLAY_H

#include <sqlite3.h>

// What SQLite lacks where a disk fails to sync the database's file.
//
// A checkpoint that does not come to the log's end, since others append to it, counts its pages as moved without a sync; the
// one that does come to the end syncs the file. When that sync fails, the system has dropped what it could not write, and no
// later sync brings it back (the lesson of PostgreSQL's "fsyncgate"): the pages of the checkpoints before are lost with it,
// and still counted. The log has them for as long as nobody takes it for moved.

// Writes the pages that count as moved into the file once more, from the log, and syncs it. It changes nothing that anybody
// reads. To be called behind a checkpoint that failed, before the next one, on a connection that has no transaction.
//
// Answers SQLite's code: SQLITE_BUSY while somebody writes or moves pages.
int redial_replay_log(sqlite3 *_Nullable database);

// Has the log stay as it is when the connection is closed; who opens the file next moves all of it. Answers SQLite's code.
int redial_keep_log_on_close(sqlite3 *_Nullable database);

#endif
