// Memory, numbers and times for vendor_libraries.cu.
#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

// Every library has 0 for success.
#define CHECK(call)                                                                                       \
    do {                                                                                                  \
        int code_ = static_cast<int>(call);                                                               \
        if (code_ != 0) throw std::runtime_error(std::string(#call).substr(0, 60) + " answers " + std::to_string(code_)); \
    } while (0)

static cudaStream_t stream;

template <typename T>
struct Memory {
    T *at = nullptr;
    size_t count;
    explicit Memory(size_t n) : count(n) {
        CHECK(cudaMalloc(&at, std::max<size_t>(n, 1) * sizeof(T)));
        CHECK(cudaMemset(at, 0, std::max<size_t>(n, 1) * sizeof(T)));
    }
    explicit Memory(const std::vector<T> &from) : Memory(from.size()) {
        CHECK(cudaMemcpy(at, from.data(), count * sizeof(T), cudaMemcpyHostToDevice));
    }
    Memory(const Memory &) = delete;
    ~Memory() { cudaFree(at); }
    void copy_from(const Memory &other) {
        CHECK(cudaMemcpyAsync(at, other.at, count * sizeof(T), cudaMemcpyDeviceToDevice, stream));
    }
};

// The numbers of benches/src/libraries/numbers.rs.
static uint64_t hash(uint64_t seed, uint64_t index) {
    uint64_t z = seed * 0x9e3779b97f4a7c15ull + index * 0xd1b54a32d192ed03ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}
static float unit(uint64_t seed, uint64_t index) { return static_cast<float>(hash(seed, index) >> 40) / 8388608.0f - 1.0f; }
static std::vector<float> units(uint64_t seed, size_t count) {
    std::vector<float> numbers(count);
    for (size_t i = 0; i < count; i++) numbers[i] = unit(seed, i);
    return numbers;
}

// Times, as benches/src/throughput/measure.rs takes them.
struct Row {
    std::string name, sizes, error;
    double seconds;
};
static std::vector<Row> rows;
static std::string filter;

static void measure(const std::string &name, const std::string &sizes, int slots, const std::function<void()> &restore,
                    const std::function<void(int)> &call) {
    cudaEvent_t start, end;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&end));
    auto side = [&](int calls) {
        restore();
        CHECK(cudaEventRecord(start, stream));
        for (int i = 0; i < calls; i++) call(i);
        CHECK(cudaEventRecord(end, stream));
        CHECK(cudaEventSynchronize(end));
        float milliseconds = 0;
        CHECK(cudaEventElapsedTime(&milliseconds, start, end));
        return milliseconds / 1e3 / calls;
    };
    const double longest = 3.0;
    double quickest = INFINITY, spent = 0;
    for (int turn = 0; turn < 5 && spent < longest / 4; turn++) {
        double seconds = side(1);
        quickest = std::min(quickest, seconds);
        spent += seconds;
    }
    quickest = std::max(quickest, 1e-9);
    int most = slots > 0 ? slots : 400;
    int calls = std::min(std::max(static_cast<int>(0.005 / quickest), 1), most);
    int repeats = std::min(std::max(static_cast<int>(longest / (quickest * calls)), 1), 9);
    std::vector<double> times;
    for (int turn = 0; turn < repeats; turn++) {
        if (quickest < longest / 100) side(1);
        times.push_back(side(calls));
    }
    std::sort(times.begin(), times.end());
    double median = times[times.size() / 2];
    std::printf("%-14s %34s %12.2f us\n", name.c_str(), sizes.c_str(), median * 1e6);
    std::fflush(stdout);
    rows.push_back({name, sizes, "", median});
    cudaEventDestroy(start);
    cudaEventDestroy(end);
}

static void group(const std::vector<std::string> &names, const std::function<void()> &act) {
    bool wanted = std::any_of(names.begin(), names.end(), [](auto &name) { return name.find(filter) != std::string::npos; });
    if (!wanted) return;
    try {
        act();
        CHECK(cudaStreamSynchronize(stream));
    } catch (const std::exception &error) {
        for (auto &name : names) {
            bool there = std::any_of(rows.begin(), rows.end(), [&](auto &row) { return row.name == name; });
            if (!there) {
                std::printf("%-14s %s\n", name.c_str(), error.what());
                rows.push_back({name, "", error.what(), 0});
            }
        }
    }
}
