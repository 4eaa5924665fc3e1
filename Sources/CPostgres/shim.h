#ifndef REDIAL_CPOSTGRES_SHIM_H
#define REDIAL_CPOSTGRES_SHIM_H

// Debian keeps it in a folder of its own.
#if __has_include(<postgresql/libpq-fe.h>)
#include <postgresql/libpq-fe.h>
#else
#include <libpq-fe.h>
#endif

// PG_DIAG_SQLSTATE is a character constant, which Swift imports as a number of another type than the function takes.
static inline char *_Nullable redial_sql_state(const PGresult *_Nullable result) {
  return PQresultErrorField(result, PG_DIAG_SQLSTATE);
}

#endif
