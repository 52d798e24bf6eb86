// Times a prompt and the tokens behind it, as `hipstack bench` does, through llama.h.
// Use: bench-llama MODEL [PROMPT [TOKENS [REPEATS [LAYERS-ON-GPU]]]]
#include "llama.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

using Clock = std::chrono::steady_clock;

static double since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

static double median(std::vector<double> v) {
    std::sort(v.begin(), v.end());
    const size_t n = v.size();
    return n % 2 ? v[n / 2] : 0.5 * (v[n / 2 - 1] + v[n / 2]);
}

static void feed(llama_context * context, std::vector<llama_token> & tokens, int first, int count) {
    if (llama_decode(context, llama_batch_get_one(tokens.data() + first, count)) != 0) {
        fprintf(stderr, "llama_decode failed\n");
        exit(1);
    }
}

int main(int argc, char ** argv) {
    if (argc < 2) {
        fprintf(stderr, "use: bench-llama MODEL [PROMPT [TOKENS [REPEATS [LAYERS-ON-GPU]]]]\n");
        return 2;
    }
    auto number = [&](int i, int otherwise) { return argc > i ? atoi(argv[i]) : otherwise; };
    const int prompt = number(2, 2048), written = number(3, 64), repeats = number(4, 3), layers = number(5, 999);
    if (!getenv("BENCH_VERBOSE")) {
        llama_log_set([](ggml_log_level level, const char * text, void *) {
            if (level == GGML_LOG_LEVEL_ERROR || level == GGML_LOG_LEVEL_WARN) fputs(text, stderr);
        }, nullptr);
    }
    ggml_backend_load_all();
    llama_backend_init();
    llama_model_params mp = llama_model_default_params();
    mp.n_gpu_layers = layers;
    auto start = Clock::now();
    llama_model * model = llama_model_load_from_file(argv[1], mp);
    if (!model) {
        fprintf(stderr, "%s: not loaded\n", argv[1]);
        return 1;
    }
    const double load = since(start);
    const llama_vocab * vocab = llama_model_get_vocab(model);
    const int vocabulary = llama_vocab_n_tokens(vocab);
    std::vector<llama_token> tokens(prompt);
    for (uint64_t i = 0; i < (uint64_t) prompt; ++i) {
        tokens[i] = (llama_token) (((i * 0x9e3779b97f4a7c15ull) >> 33) % (uint64_t) vocabulary);
    }
    const char * name = strrchr(argv[1], '/') ? strrchr(argv[1], '/') + 1 : argv[1];

    const int micro[] = {512, 2048};
    for (int flash = 1; flash >= 0; --flash) for (int ubatch : micro) {
        if (ubatch > 512 && prompt <= 512) continue;
        llama_context_params cp = llama_context_default_params();
        // A multiple of 256 cells, as flash attention's fastest kernels need.
        cp.n_ctx = (prompt + written + 255) / 256 * 256;
        cp.n_batch = std::max(prompt, 512);
        cp.n_ubatch = ubatch;
        // The CPU only looks up embeddings where all layers are on the GPU.
        cp.n_threads = layers > 0 ? 1 : 2;
        cp.n_threads_batch = layers > 0 ? 8 : 2;
        cp.flash_attn_type = flash ? LLAMA_FLASH_ATTN_TYPE_ENABLED : LLAMA_FLASH_ATTN_TYPE_DISABLED;
        cp.no_perf = true;
        llama_context * context = llama_init_from_model(model, cp);
        if (!context) {
            printf("%-16s flash %d ubatch %4d: no context\n", name, flash, ubatch);
            continue;
        }
        std::vector<double> read, greedy, bare;
        double sum = 0;
        // Round 0 warms up. `bare` feeds tokens chosen ahead, as llama-bench does.
        for (int round = 0; round <= repeats; ++round) {
            double took[3];
            for (int kind = 0; kind < 2; ++kind) {
                llama_memory_clear(llama_get_memory(context), true);
                std::vector<llama_token> next(1);
                auto likeliest = [&] {
                    const float * logits = llama_get_logits_ith(context, -1);
                    next[0] = (llama_token) (std::max_element(logits, logits + vocabulary) - logits);
                    sum += logits[next[0]];
                };
                llama_synchronize(context);
                start = Clock::now();
                feed(context, tokens, 0, prompt);
                likeliest();
                if (kind == 0) took[0] = since(start);
                start = Clock::now();
                for (int i = 0; i < written; ++i) {
                    feed(context, next, 0, 1);
                    if (kind == 0) {
                        likeliest();
                    } else {
                        llama_synchronize(context);
                        next[0] = tokens[i % prompt];
                    }
                }
                took[1 + kind] = since(start);
            }
            if (round > 0) {
                read.push_back(took[0]);
                greedy.push_back(took[1]);
                bare.push_back(took[2]);
            }
        }
        const double best_read = *std::min_element(read.begin(), read.end());
        const double best_greedy = *std::min_element(greedy.begin(), greedy.end());
        const double best_bare = *std::min_element(bare.begin(), bare.end());
        printf("%-16s flash %-3s ubatch %4d  prompt %d: %9.1f t/s (best %9.1f)  decode %d: greedy %7.1f t/s (best %7.1f)"
               "  no argmax %7.1f t/s (best %7.1f)  load %.1f s  logits %g\n",
               name, flash ? "on" : "off", ubatch, prompt, prompt / median(read), prompt / best_read, written,
               written / median(greedy), written / best_greedy, written / median(bare), written / best_bare, load, sum);
        fflush(stdout);
        llama_free(context);
    }
    llama_model_free(model);
    return 0;
}
