#include "documents.h"

// The compiler takes #embed in every standard, and says so.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const uint8_t bytes[] = {
#embed "../../docs/llms.txt"
};

struct redial_document redial_page_list(void) {
  return (struct redial_document){bytes, sizeof bytes};
}
