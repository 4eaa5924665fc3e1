#include "documents.h"

// The compiler takes #embed in every standard, and says so.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const uint8_t bytes[] = {
#embed "../RedialService/Dashboard/dashboard.html"
};

struct redial_document redial_dashboard(void) {
  return (struct redial_document){bytes, sizeof bytes};
}
