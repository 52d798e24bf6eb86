// Changes for a sanitizer: g++ -fsanitize=address or =thread. src/run/sanitizer.rs has the runtime's part.
#pragma once

// AddressSanitizer puts no redzones around thread-local variables, so __shared__ is an ordinary static
// variable there. The runtime then runs one block at a time in the whole process.
#ifdef __SANITIZE_ADDRESS__
#define HIPHOST_SHARED static
#else
#define HIPHOST_SHARED static thread_local
#endif

#ifdef __SANITIZE_THREAD__
// Every thread of a block has to be a thread to ThreadSanitizer, so no kernel may be a plain loop.
#undef HIPHOST_NO_BARRIERS
// The runtime's own code and variables, hidden from ThreadSanitizer: threads of a block share them, but they
// are switched with the threads.
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
