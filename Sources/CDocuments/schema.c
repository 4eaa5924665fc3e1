#include "documents.h"

// The compiler takes #embed in every standard, and says so.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const uint8_t bytes[] = {
#embed "../../docs/schema.sql"
};

static const uint8_t postgres[] = {
#embed "../../docs/schema-postgres.sql"
};

struct redial_document redial_schema(void) {
  return (struct redial_document){bytes, sizeof bytes};
}

struct redial_document redial_postgres_schema(void) {
  return (struct redial_document){postgres, sizeof postgres};
}
