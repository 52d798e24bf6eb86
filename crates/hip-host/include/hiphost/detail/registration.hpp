// Registration: from a kernel's type to its argument layout and the function that runs a block of it.
#pragma once

namespace hiphost {
static const hiphost_kernel* kernels;
static const hiphost_global* globals;

template <auto K>
struct Kernel;

template <class... A, void (*K)(A...)>
struct Kernel<K> {
    static_assert((std::is_trivially_copyable_v<A> && ...), "kernel parameters are plain values");
    static_assert((!std::is_reference_v<A> && ...), "kernel parameters are values, not references");

    // The C layout of a struct that contains the parameters.
    struct Layout {
        uint32_t size[sizeof...(A) + 1], offset[sizeof...(A) + 1], total;
        constexpr Layout() : size{sizeof(A)..., 0}, offset{}, total(0) {
            constexpr uint32_t align[] = {alignof(A)..., 1};
            for (unsigned i = 0; i < sizeof...(A); i++) {
                total = (total + align[i] - 1) / align[i] * align[i];
                offset[i] = total;
                total += size[i];
            }
        }
    };
    static constexpr Layout layout{};

#ifdef HIPHOST_NO_BARRIERS
    // The arguments are copied to locals first: the compiler must assume that any store may change what
    // `args` points to.
    template <size_t... I>
    static __forceinline__ void loop(void* const* args, std::index_sequence<I...>) {
        (void)args;
        const std::tuple<std::remove_cv_t<A>...> value{*(const A*)args[I]...};
        const unsigned nx = block_dim_x, ny = block_dim_y, nz = block_dim_z;
        block_done = false;
        for (unsigned z = 0; z < nz; z++) {
            for (unsigned y = 0; y < ny; y++) {
                thread_y = y, thread_z = z;
                // Threads of a block that do not synchronise may run in any order, so the loop may be
                // vectorised.
                HIPHOST_IVDEP
                for (unsigned x = 0; x < nx; x++) {
                    thread_x = x;
                    K(std::get<I>(value)...);
                    if (block_done) return;
                }
            }
        }
    }
    static void plain(const hiphost_block* block, void* const* args) {
        enter(block);
        loop(args, std::index_sequence_for<A...>{});
    }
    static constexpr auto threads = nullptr;
    static constexpr uint32_t flags = 0;
#else
    template <size_t... I>
    static HIPHOST_ENTRY void call(void* const* args, std::index_sequence<I...>) {
        (void)args;
        K(*(const A*)args[I]...);
    }
    static HIPHOST_UNSEEN void threads(const hiphost_block* block, void* const* args) {
        enter(block);
        hiphost_thread thread;
        thread.linear = UINT32_MAX;
        while (runtime->next_thread(block, &thread)) {
            thread_x = thread.x, thread_y = thread.y, thread_z = thread.z;
            call(args, std::index_sequence_for<A...>{});
        }
    }
    static constexpr auto plain = nullptr;
    static constexpr uint32_t flags = HIPHOST_KERNEL_BARRIERS;
#endif
};

struct Registered {
    hiphost_kernel kernel;
    template <class K>
    Registered(const char* name, K)
        : kernel{name, (uint32_t)(sizeof(K::layout.size) / 4 - 1), K::flags, K::layout.size, K::layout.offset,
                 K::layout.total, 0, K::plain, K::threads, kernels} {
        kernels = &kernel;
    }
};
struct RegisteredGlobal {
    hiphost_global global;
    template <class T>
    RegisteredGlobal(const char* name, T& variable) : global{name, (void*)&variable, sizeof variable, globals} {
        globals = &global;
    }
};
}  // namespace hiphost

#define HIPHOST_PASTE_(a, b) a##b
#define HIPHOST_PASTE(a, b) HIPHOST_PASTE_(a, b)

#define HIPHOST_REGISTER_AS(name, ...) \
    static ::hiphost::Registered HIPHOST_PASTE(hiphost_registered_, __COUNTER__)(name, ::hiphost::Kernel<&__VA_ARGS__>{});
#define HIPHOST_REGISTER(name) HIPHOST_REGISTER_AS(#name, name)
#define HIPHOST_GLOBAL(variable) \
    static ::hiphost::RegisteredGlobal HIPHOST_PASTE(hiphost_registered_, __COUNTER__)(#variable, variable);

#define HIPHOST_KERNEL(...) HIPHOST_KERNEL_(__VA_ARGS__)
#define HIPHOST_KERNEL_(name, ...)            \
    static __global__ void name(__VA_ARGS__); \
    HIPHOST_REGISTER_AS(#name, name)          \
    static __global__ void name(__VA_ARGS__)

#if HIPHOST_WAVE_SIZE == 0
#define HIPHOST_SUFFIX _any
#elif HIPHOST_WAVE_SIZE == 32
#define HIPHOST_SUFFIX _w32
#else
#define HIPHOST_SUFFIX _w64
#endif

#define HIPHOST_STRING_(text) #text
#define HIPHOST_STRING(text) HIPHOST_STRING_(text)
#define HIPHOST_MODULE(name)                                                                                     \
    extern "C" __attribute__((visibility("default"))) const hiphost_module* HIPHOST_PASTE(                       \
        HIPHOST_PASTE(hiphost_module_, name), HIPHOST_SUFFIX)(const hiphost_runtime* runtime) {                  \
        if (runtime->abi != HIPHOST_ABI) return nullptr;                                                         \
        ::hiphost::runtime = runtime;                                                                            \
        static hiphost_module module;                                                                            \
        module = hiphost_module{HIPHOST_ABI,         HIPHOST_WAVE_SIZE,  HIPHOST_STRING(name),                    \
                                ::hiphost::kernels, ::hiphost::globals};                                         \
        return &module;                                                                                          \
    }
