// Included before the first line of every source that is compiled at run time: all of HIP, and the templates
// that register its kernels and variables. src/rtc/rewrite.rs generates the lines that use these templates.
#ifndef HIPHOST_RTC_HPP
#define HIPHOST_RTC_HPP

#define HIPHOST_RTC 1
#define __HIP__ 1
#define __HIPCC__ 1
#define __HIPCC_RTC__ 1
#define __HIP_DEVICE_COMPILE__ 1
#define __HIP_PLATFORM_AMD__ 1
#define __AMDGCN_WAVEFRONT_SIZE HIPHOST_WAVE_SIZE
#define __AMDGCN_WAVEFRONT_SIZE__ HIPHOST_WAVE_SIZE

#include <typeinfo>

#include "device.hpp"

// hiprtc provides these without an #include.
#include "detail/bfloat16.hpp"
#include "detail/complex.hpp"
#include "detail/groups.hpp"
#include "detail/math_constants.hpp"
#if defined(__FLT16_MANT_DIG__) || (defined(__aarch64__) && !defined(__clang__))
#include "detail/half.hpp"
#endif

// Clang's vector types for compilers that have GCC's; src/rtc/attributes.rs generates these names.
#if !defined(__clang__)
#define ext_vector_type hiphost_ext_vector_type
#define __ext_vector_type__ hiphost_ext_vector_type
namespace hiphost {
template <class T, int N>
struct Vector {
    typedef T type __attribute__((vector_size(N * sizeof(T))));
};
template <class T, int N>
using vector_t = typename Vector<T, N>::type;
}  // namespace hiphost
#endif

#undef HIP_DYNAMIC_SHARED
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];
#define HIP_KERNEL_NAME(...) __VA_ARGS__

namespace hiphost {
// The names of these types contain the mangled names of the kernels and variables; src/rtc/lowered.rs
// extracts them.
template <auto K>
struct Registration : Registered {
    Registration(unsigned max_threads) : Registered(typeid(Registration).name(), Kernel<K>{}) {
        kernel.max_threads = max_threads;
    }
};
template <auto V>
struct Variable : RegisteredGlobal {
    Variable(unsigned = 0) : RegisteredGlobal(typeid(Variable).name(), *V) {}
};
template <auto V>
using Entry = std::conditional_t<std::is_function_v<std::remove_pointer_t<decltype(V)>>, Registration<V>, Variable<V>>;
// A name expression and its number.
template <int I, auto V>
struct Expression : Entry<V> {
    const char* name = typeid(Expression).name();
    Expression(unsigned max_threads) : Entry<V>(max_threads) {}
};
}  // namespace hiphost

HIPHOST_MODULE(rtc)

#endif
