#ifndef REDIAL_CZLIB_SHIM_H
#define REDIAL_CZLIB_SHIM_H

// Makes zlib's types declare that input is not written to.
#define ZLIB_CONST
#include <zlib.h>

// Swift cannot call the macros inflateInit2 and deflateInit2, which pass the version and the size that the
// caller was compiled with; these two wrap them.

// Prepares a stream to inflate: 15 for the zlib format, 31 for gzip.
static inline int redial_inflate_init(z_stream *_Nonnull stream, int window_bits) {
  return inflateInit2(stream, window_bits);
}

// Prepares a stream to deflate into gzip, with zlib's own choice of memory and strategy.
static inline int redial_gzip_init(z_stream *_Nonnull stream, int level) {
  return deflateInit2(stream, level, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY);
}

#endif
