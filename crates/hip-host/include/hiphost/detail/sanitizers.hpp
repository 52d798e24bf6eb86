// What is different when a sanitizer watches: g++ -fsanitize=address or =thread. src/run/sanitizer.rs has the other half.
#pragma once

// AddressSanitizer puts no zones around thread-local variables, so __shared__ is an ordinary static variable there. The
// runtime then runs one block at a time in the whole process.
#ifdef __SANITIZE_ADDRESS__
#define HIPHOST_SHARED static
#else
#define HIPHOST_SHARED static thread_local
#endif

#ifdef __SANITIZE_THREAD__
// Every thread of a block has to be one of ThreadSanitizer's: no kernel is a plain loop.
#undef HIPHOST_NO_BARRIERS
// The runtime's own code and variables: what threads of a block share here is switched with them.
#define HIPHOST_UNSEEN __attribute__((noinline, no_sanitize("thread")))
#define HIPHOST_ENTRY __attribute__((noinline))

namespace hiphost {
template <class T>
class Own {
    T value;

   public:
    HIPHOST_UNSEEN operator T() const { return value; }
    HIPHOST_UNSEEN T operator->() const { return value; }
    HIPHOST_UNSEEN void operator=(T other) { value = other; }
};
}  // namespace hiphost
#else
#define HIPHOST_UNSEEN
#define HIPHOST_ENTRY __forceinline__

namespace hiphost {
template <class T>
using Own = T;
}
#endif
