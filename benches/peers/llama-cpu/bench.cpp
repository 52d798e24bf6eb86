// Times ggml's products of quantized matrices on the CPU: bench-llama-cpu [FORMAT [THREADS]].
// "packed" reads the blocks of the file, "repacked" the copy that llama.cpp makes of some formats while it loads a model.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "ggml-alloc.h"
#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "ggml.h"

static const int64_t SIZE = 4096;
static const int SAMPLES = 15;
static const double SAMPLE = 2e-3;

static std::vector<float> noise(size_t count) {
    std::vector<float> values(count);
    unsigned long long state = 12;
    for (float & x : values) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        x = (float) (state >> 40) / (1 << 23) - 1.0f;
    }
    return values;
}

// Microseconds of a product, the median; below 0 if the buffer does not take the format.
static double product(ggml_backend_t backend, ggml_backend_buffer_type_t weights, ggml_type type, int64_t rows) {
    ggml_init_params params = { 1 << 20, nullptr, true };
    ggml_context * fixed = ggml_init(params);
    ggml_context * context = ggml_init(params);
    ggml_tensor * matrix = ggml_new_tensor_2d(fixed, type, SIZE, SIZE);
    ggml_tensor * x = ggml_new_tensor_2d(context, GGML_TYPE_F32, SIZE, rows);
    ggml_tensor * y = ggml_mul_mat(context, matrix, x);
    ggml_backend_buffer_t buffer = ggml_backend_alloc_ctx_tensors_from_buft(fixed, weights);
    ggml_backend_buffer_t others = ggml_backend_alloc_ctx_tensors(context, backend);
    double median = -1;
    if (ggml_backend_supports_op(backend, y)) {
        std::vector<float> values = noise(SIZE * SIZE);
        std::vector<unsigned char> blocks(ggml_nbytes(matrix));
        ggml_quantize_chunk(type, values.data(), blocks.data(), 0, SIZE, SIZE, nullptr);
        ggml_backend_tensor_set(matrix, blocks.data(), 0, blocks.size());
        ggml_backend_tensor_set(x, values.data(), 0, ggml_nbytes(x));
        ggml_cgraph * graph = ggml_new_graph(context);
        ggml_build_forward_expand(graph, y);
        auto time = [&](int calls) {
            auto start = std::chrono::steady_clock::now();
            for (int i = 0; i < calls; i++) {
                ggml_backend_graph_compute(backend, graph);
            }
            return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / calls;
        };
        time(1);
        int calls = (int) (SAMPLE / time(1)) + 1;
        std::vector<double> times;
        for (int i = 0; i < SAMPLES; i++) {
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
            times.push_back(time(calls));
        }
        std::sort(times.begin(), times.end());
        median = times[SAMPLES / 2] * 1e6;
    }
    ggml_backend_buffer_free(buffer);
    ggml_backend_buffer_free(others);
    ggml_free(context);
    ggml_free(fixed);
    return median;
}

int main(int count, char ** arguments) {
    const char * only = count > 1 ? arguments[1] : "";
    int threads = count > 2 ? atoi(arguments[2]) : 2;
    ggml_backend_t backend = ggml_backend_cpu_init();
    ggml_threadpool_params params = ggml_threadpool_params_default(threads);
    ggml_threadpool_t pool = ggml_threadpool_new(&params);
    ggml_backend_cpu_set_n_threads(backend, threads);
    ggml_backend_cpu_set_threadpool(backend, pool);
    ggml_backend_dev_t device = ggml_backend_get_device(backend);
    auto extra = (ggml_backend_dev_get_extra_bufts_t) ggml_backend_reg_get_proc_address(
        ggml_backend_dev_backend_reg(device), "ggml_backend_dev_get_extra_bufts");
    ggml_backend_buffer_type_t * repacked = extra ? extra(device) : nullptr;
    const ggml_type types[] = { GGML_TYPE_Q4_0, GGML_TYPE_Q4_1, GGML_TYPE_Q5_0, GGML_TYPE_Q8_0, GGML_TYPE_Q2_K,
                                GGML_TYPE_Q3_K, GGML_TYPE_Q4_K, GGML_TYPE_Q5_K, GGML_TYPE_Q6_K };
    for (ggml_type type : types) {
        if (!strstr(ggml_type_name(type), only)) {
            continue;
        }
        for (int64_t rows : { 1, 4, 64 }) {
            printf("%s %lld rows: packed %.0f us", ggml_type_name(type), (long long) rows,
                   product(backend, ggml_backend_cpu_buffer_type(), type, rows));
            for (int i = 0; repacked && repacked[i]; i++) {
                double time = product(backend, repacked[i], type, rows);
                if (time > 0) {
                    printf(", %s %.0f us", ggml_backend_buft_name(repacked[i]), time);
                }
            }
            printf("\n");
            fflush(stdout);
        }
    }
    ggml_threadpool_free(pool);
    ggml_backend_free(backend);
    return 0;
}
