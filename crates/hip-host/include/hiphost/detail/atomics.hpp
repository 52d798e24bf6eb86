// Atomic read-modify-write operations. Each returns the old value. All are relaxed, as on a GPU.
#pragma once

namespace hiphost {
// Excludes the second argument from template deduction, so that atomicAdd(&u, 1) works for an unsigned u.
template <class T>
struct same {
    using type = T;
};
template <class T>
using same_t = typename same<T>::type;

// Replaces *p by next(*p) with a compare-and-swap loop.
template <class T, class Next>
static __forceinline__ T exchange_loop(T* p, Next next) {
    T old, wanted;
    __atomic_load(p, &old, __ATOMIC_RELAXED);
    do {
        wanted = next(old);
    } while (!__atomic_compare_exchange(p, &old, &wanted, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return old;
}
}  // namespace hiphost

template <class T>
static __forceinline__ T atomicAdd(T* p, hiphost::same_t<T> v) {
    if constexpr (std::is_integral_v<T>) return __atomic_fetch_add(p, v, __ATOMIC_RELAXED);
    else return hiphost::exchange_loop(p, [v](T old) { return (T)(old + v); });
}
template <class T>
static __forceinline__ T atomicSub(T* p, hiphost::same_t<T> v) {
    if constexpr (std::is_integral_v<T>) return __atomic_fetch_sub(p, v, __ATOMIC_RELAXED);
    else return hiphost::exchange_loop(p, [v](T old) { return (T)(old - v); });
}
template <class T>
static __forceinline__ T atomicMin(T* p, hiphost::same_t<T> v) {
    return hiphost::exchange_loop(p, [v](T old) { return v < old ? v : old; });
}
template <class T>
static __forceinline__ T atomicMax(T* p, hiphost::same_t<T> v) {
    return hiphost::exchange_loop(p, [v](T old) { return old < v ? v : old; });
}
template <class T>
static __forceinline__ T atomicAnd(T* p, hiphost::same_t<T> v) {
    return __atomic_fetch_and(p, v, __ATOMIC_RELAXED);
}
template <class T>
static __forceinline__ T atomicOr(T* p, hiphost::same_t<T> v) {
    return __atomic_fetch_or(p, v, __ATOMIC_RELAXED);
}
template <class T>
static __forceinline__ T atomicXor(T* p, hiphost::same_t<T> v) {
    return __atomic_fetch_xor(p, v, __ATOMIC_RELAXED);
}
template <class T>
static __forceinline__ T atomicExch(T* p, hiphost::same_t<T> v) {
    T old;
    __atomic_exchange(p, &v, &old, __ATOMIC_RELAXED);
    return old;
}
// Compares bit patterns, as the hardware does.
template <class T>
static __forceinline__ T atomicCAS(T* p, hiphost::same_t<T> expected, hiphost::same_t<T> wanted) {
    __atomic_compare_exchange(p, &expected, &wanted, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
}
// Counts 0, 1, ... limit, 0, 1, ...
template <class T>
static __forceinline__ T atomicInc(T* p, hiphost::same_t<T> limit) {
    return hiphost::exchange_loop(p, [limit](T old) { return old >= limit ? (T)0 : (T)(old + 1); });
}
// Counts limit, ... 1, 0, limit, ...
template <class T>
static __forceinline__ T atomicDec(T* p, hiphost::same_t<T> limit) {
    return hiphost::exchange_loop(p, [limit](T old) { return old == 0 || old > limit ? limit : (T)(old - 1); });
}

// The forms with a scope. All threads share one memory here, so every scope is the widest.
#define HIPHOST_SCOPES(name)                                          \
    template <class T, class... V>                                    \
    static __forceinline__ T name##_system(T* p, V... v) {            \
        return name(p, v...);                                         \
    }                                                                 \
    template <class T, class... V>                                    \
    static __forceinline__ T name##_block(T* p, V... v) {             \
        return name(p, v...);                                         \
    }
HIPHOST_SCOPES(atomicAdd)
HIPHOST_SCOPES(atomicSub)
HIPHOST_SCOPES(atomicMin)
HIPHOST_SCOPES(atomicMax)
HIPHOST_SCOPES(atomicAnd)
HIPHOST_SCOPES(atomicOr)
HIPHOST_SCOPES(atomicXor)
HIPHOST_SCOPES(atomicExch)
HIPHOST_SCOPES(atomicCAS)
HIPHOST_SCOPES(atomicInc)
HIPHOST_SCOPES(atomicDec)
#undef HIPHOST_SCOPES

// AMD's own names: `unsafe` allows less precision on memory where the GPU's hardware cannot add; `NoRet`
// returns nothing.
template <class T>
static __forceinline__ T unsafeAtomicAdd(T* p, hiphost::same_t<T> v) {
    return atomicAdd(p, v);
}
template <class T>
static __forceinline__ T safeAtomicAdd(T* p, hiphost::same_t<T> v) {
    return atomicAdd(p, v);
}
template <class T>
static __forceinline__ T unsafeAtomicMin(T* p, hiphost::same_t<T> v) {
    return atomicMin(p, v);
}
template <class T>
static __forceinline__ T unsafeAtomicMax(T* p, hiphost::same_t<T> v) {
    return atomicMax(p, v);
}
static __forceinline__ void atomicAddNoRet(float* p, float v) { atomicAdd(p, v); }

static inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
