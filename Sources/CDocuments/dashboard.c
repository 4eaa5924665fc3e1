#include "documents.h"

static const uint8_t bytes[] = {
#embed "../RedialService/Dashboard/dashboard.html"
};

struct redial_document redial_dashboard(void) {
  return (struct redial_document){bytes, sizeof bytes};
}
