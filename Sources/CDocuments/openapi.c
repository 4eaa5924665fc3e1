#include "documents.h"

static const uint8_t bytes[] = {
#embed "../../api/openapi.yaml"
};

struct redial_document redial_openapi(void) {
  return (struct redial_document){bytes, sizeof bytes};
}
