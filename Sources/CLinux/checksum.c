#include "checksum.h"

#include <string.h>

#if defined(__x86_64__)
#include <nmmintrin.h>
#define BY_INSTRUCTION __attribute__((target("sse4.2")))
#define ADD_WORD(sum, word) ((uint32_t)_mm_crc32_u64(sum, word))
#define ADD_BYTE(sum, byte) _mm_crc32_u8(sum, byte)
#define HAS_INSTRUCTION __builtin_cpu_supports("sse4.2")
#elif defined(__aarch64__) && defined(__clang__)
#include <sys/auxv.h>
#define BY_INSTRUCTION __attribute__((target("crc")))
#define ADD_WORD(sum, word) __builtin_arm_crc32cd(sum, word)
#define ADD_BYTE(sum, byte) __builtin_arm_crc32cb(sum, byte)
// HWCAP_CRC32 of the kernel's asm/hwcap.h.
#define HAS_INSTRUCTION (getauxval(AT_HWCAP) & 1 << 7)
#endif

uint32_t redial_continue_crc32c_slowly(uint32_t sum, const void *bytes, size_t count) {
  // What four bits add, for the reflected polynomial 0x82F63B78.
  static const uint32_t table[16] = {
    0x00000000, 0x105EC76F, 0x20BD8EDE, 0x30E349B1, 0x417B1DBC, 0x5125DAD3, 0x61C69362, 0x7198540D,
    0x82F63B78, 0x92A8FC17, 0xA24BB5A6, 0xB21572C9, 0xC38D26C4, 0xD3D3E1AB, 0xE330A81A, 0xF36E6F75,
  };
  for (const unsigned char *next = bytes; count > 0; next++, count--) {
    sum ^= *next;
    sum = sum >> 4 ^ table[sum & 15];
    sum = sum >> 4 ^ table[sum & 15];
  }
  return sum;
}

#ifdef BY_INSTRUCTION
BY_INSTRUCTION static uint32_t by_instruction(uint32_t sum, const void *bytes, size_t count) {
  const unsigned char *next = bytes;
  for (; count >= 8; next += 8, count -= 8) {
    uint64_t word;
    memcpy(&word, next, sizeof word);
    sum = ADD_WORD(sum, word);
  }
  for (; count > 0; next++, count--) sum = ADD_BYTE(sum, *next);
  return sum;
}
#endif

uint32_t redial_continue_crc32c(uint32_t sum, const void *bytes, size_t count) {
#ifdef BY_INSTRUCTION
  static int has = -1;
  int found = __atomic_load_n(&has, __ATOMIC_RELAXED);
  if (found < 0) {
    found = HAS_INSTRUCTION ? 1 : 0;
    __atomic_store_n(&has, found, __ATOMIC_RELAXED);
  }
  if (found) return by_instruction(sum, bytes, count);
#endif
  return redial_continue_crc32c_slowly(sum, bytes, count);
}
