// What Embedded Swift asks of a C library, and the way out of the module: enough for these checks, and no more.
// Memory is never given back; a run needs a few megabytes.

typedef __SIZE_TYPE__ size_t;

struct bytes {
  const void *start;
  size_t count;
};

__attribute__((import_module("wasi_snapshot_preview1"), import_name("fd_write"))) int
fd_write(int file, const struct bytes *parts, size_t count, size_t *written);

__attribute__((import_module("wasi_snapshot_preview1"), import_name("proc_exit"))) _Noreturn void proc_exit(int code);

extern unsigned char __heap_base;

static size_t used = 0;
static unsigned count = 0;

// How often memory has been asked for.
unsigned allocations(void) { return count; }

static void *allocate(size_t alignment, size_t size) {
  if (used == 0)
    used = (size_t)&__heap_base;
  if (alignment < 16)
    alignment = 16;
  count++;
  used = (used + alignment - 1) & ~(alignment - 1);
  size_t start = used;
  used += size;
  size_t pages = (used + 0xFFFF) >> 16;
  size_t have = __builtin_wasm_memory_size(0);
  if (pages > have && __builtin_wasm_memory_grow(0, pages - have + 64) == (size_t)-1)
    __builtin_trap();
  return (void *)start;
}

void *malloc(size_t size) { return allocate(16, size); }
void free(void *memory) {}

int posix_memalign(void **memory, size_t alignment, size_t size) {
  *memory = allocate(alignment, size);
  return 0;
}

void *memcpy(void *to, const void *from, size_t count) {
  for (size_t i = 0; i < count; i++)
    ((unsigned char *)to)[i] = ((const unsigned char *)from)[i];
  return to;
}

void *memmove(void *to, const void *from, size_t count) {
  if (to <= from)
    return memcpy(to, from, count);
  for (size_t i = count; i > 0; i--)
    ((unsigned char *)to)[i - 1] = ((const unsigned char *)from)[i - 1];
  return to;
}

void *memset(void *memory, int value, size_t count) {
  for (size_t i = 0; i < count; i++)
    ((unsigned char *)memory)[i] = (unsigned char)value;
  return memory;
}

int memcmp(const void *a, const void *b, size_t count) {
  for (size_t i = 0; i < count; i++) {
    int difference = ((const unsigned char *)a)[i] - ((const unsigned char *)b)[i];
    if (difference)
      return difference;
  }
  return 0;
}

// Half away from zero, as C has it.
double round(double x) {
  double whole = __builtin_trunc(x);
  double rest = x - whole;
  return rest >= 0.5 ? whole + 1 : rest <= -0.5 ? whole - 1 : whole;
}

// Hashing wants a seed; the checks want to be repeatable.
void arc4random_buf(void *memory, size_t count) { memset(memory, 7, count); }

int putchar(int byte) {
  unsigned char character = (unsigned char)byte;
  struct bytes part = {&character, 1};
  size_t written;
  fd_write(1, &part, 1, &written);
  return byte;
}

// The stack protector that Embedded Swift has.
const size_t __stack_chk_guard = 0x5AFE57AC;
_Noreturn void __stack_chk_fail(void) { __builtin_trap(); }

// What a `Duration` computes with: of 128 bits, which the compiler leaves to functions of its run-time library. Two
// halves each, so that these functions do not call themselves.
union wide {
  __int128 number;
  struct {
    unsigned long long low, high;
  } half;
};

__int128 __multi3(__int128 a, __int128 b) {
  union wide x = {a}, y = {b}, product;
  unsigned long long xl = (unsigned)x.half.low, xh = x.half.low >> 32, yl = (unsigned)y.half.low, yh = y.half.low >> 32;
  unsigned long long low = xl * yl, middle = xh * yl + (low >> 32), other = xl * yh + (unsigned)middle;
  product.half.low = (other << 32) | (unsigned)low;
  product.half.high =
      xh * yh + (middle >> 32) + (other >> 32) + x.half.high * y.half.low + x.half.low * y.half.high;
  return product.number;
}

static int is_below(union wide a, union wide b) {
  return a.half.high == b.half.high ? a.half.low < b.half.low : a.half.high < b.half.high;
}

static union wide negated(union wide x) {
  x.half.low = ~x.half.low + 1;
  x.half.high = ~x.half.high + (x.half.low == 0);
  return x;
}

static int is_negative(union wide x) { return (long long)x.half.high < 0; }

// By long division, a bit at a time, of numbers without a sign.
static union wide divide(union wide a, union wide b, union wide *rest) {
  union wide quotient = {0};
  rest->number = 0;
  for (int bit = 127; bit >= 0; bit--) {
    unsigned long long next = (bit >= 64 ? a.half.high >> (bit - 64) : a.half.low >> bit) & 1;
    rest->half.high = (rest->half.high << 1) | (rest->half.low >> 63);
    rest->half.low = (rest->half.low << 1) | next;
    if (is_below(*rest, b))
      continue;
    unsigned long long borrow = rest->half.low < b.half.low;
    rest->half.low -= b.half.low;
    rest->half.high -= b.half.high + borrow;
    if (bit >= 64)
      quotient.half.high |= 1ULL << (bit - 64);
    else
      quotient.half.low |= 1ULL << bit;
  }
  return quotient;
}

__int128 __divti3(__int128 a, __int128 b) {
  union wide x = {a}, y = {b}, rest;
  int differ = is_negative(x) != is_negative(y);
  union wide quotient = divide(is_negative(x) ? negated(x) : x, is_negative(y) ? negated(y) : y, &rest);
  return (differ ? negated(quotient) : quotient).number;
}

__int128 __modti3(__int128 a, __int128 b) {
  union wide x = {a}, y = {b}, rest;
  divide(is_negative(x) ? negated(x) : x, is_negative(y) ? negated(y) : y, &rest);
  return (is_negative(x) ? negated(rest) : rest).number;
}

// `main` in Swift.
int __main_argc_argv(int count, char **arguments);

void _start(void) { proc_exit(__main_argc_argv(0, 0)); }
