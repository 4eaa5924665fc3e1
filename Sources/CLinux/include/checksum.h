#ifndef REDIAL_CHECKSUM_H
#define REDIAL_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

// Continues a CRC-32C (RFC 3720, appendix B.4) over more bytes, by the processor's instruction where it has one. It begins
// with all bits set, and they are all inverted at the end.
uint32_t redial_continue_crc32c(uint32_t sum, const void *_Nullable bytes, size_t count);

// The same without the instruction.
uint32_t redial_continue_crc32c_slowly(uint32_t sum, const void *_Nullable bytes, size_t count);

#endif
