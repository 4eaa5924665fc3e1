// Reports to the thread sanitizer what Swift's own library does not: the slow paths of Synchronization.Mutex, which are
// in a shared library built without the sanitizer, take and release the lock. Without this, two holders that had to
// wait for one another look like a data race (the fast paths are inlined into our code, and seen).
// Loaded by LD_PRELOAD; outside a sanitized process the two hooks are absent and nothing is reported.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

void __tsan_acquire(void *address) __attribute__((weak));
void __tsan_release(void *address) __attribute__((weak));

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

// The handle is one atomic word, passed by its address as `self` in Swift's calling convention.
#define SELF __attribute__((swift_context)) void *handle

__attribute__((swiftcall)) void lockSlow(uint32_t thread, SELF) __asm__(LOCK);
__attribute__((swiftcall)) bool tryLockSlow(SELF) __asm__(TRY_LOCK);
__attribute__((swiftcall)) void unlockSlow(SELF) __asm__(UNLOCK);

__attribute__((swiftcall)) void lockSlow(uint32_t thread, SELF) {
  __attribute__((swiftcall)) void (*next)(uint32_t, SELF) = dlsym(RTLD_NEXT, LOCK);
  next(thread, handle);
  if (__tsan_acquire) __tsan_acquire(handle);
}

__attribute__((swiftcall)) bool tryLockSlow(SELF) {
  __attribute__((swiftcall)) bool (*next)(SELF) = dlsym(RTLD_NEXT, TRY_LOCK);
  bool taken = next(handle);
  if (taken && __tsan_acquire) __tsan_acquire(handle);
  return taken;
}

__attribute__((swiftcall)) void unlockSlow(SELF) {
  __attribute__((swiftcall)) void (*next)(SELF) = dlsym(RTLD_NEXT, UNLOCK);
  if (__tsan_release) __tsan_release(handle);
  next(handle);
}
