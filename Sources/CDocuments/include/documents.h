#ifndef REDIAL_CDOCUMENTS_H
#define REDIAL_CDOCUMENTS_H

// Files of this project that are part of the program. Each is embedded by the C compiler, which takes a moment; an array
// literal of the same bytes in Swift takes over a minute.

#include <stddef.h>
#include <stdint.h>

// The bytes of a file. They are constant and live as long as the program.
struct redial_document {
  const uint8_t *_Nonnull bytes;
  size_t count;
};

// api/openapi.yaml, the contract of the API.
struct redial_document redial_openapi(void);

// docs/llms.txt, the list of pages for assistants.
struct redial_document redial_page_list(void);

// The page of the dashboard.
struct redial_document redial_dashboard(void);

// docs/schema.sql, the schema of a new store.
struct redial_document redial_schema(void);

// docs/schema-postgres.sql, the schema of a new store on PostgreSQL.
struct redial_document redial_postgres_schema(void);

#endif
