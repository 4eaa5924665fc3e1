#include "documents.h"

static const uint8_t bytes[] = {
#embed "../../docs/schema.sql"
};

struct redial_document redial_schema(void) {
  return (struct redial_document){bytes, sizeof bytes};
}
