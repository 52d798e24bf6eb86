// The calls of the program `libraries`, made of CUDA's libraries directly: its peer.
//
//   nvcc -O2 -std=c++17 -arch=sm_90 vendor_libraries.cu -o vendor_libraries -lcufft -lcurand -lcusolver -lcusparse -lcublasLt
//   ./vendor_libraries theirs.tsv [PART OF A NAME]
//
// Operands, algorithms, numbers of calls and clock are those of benches/src/libraries.
#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cufft.h>
#include <curand.h>
#include <cusolverDn.h>
#include <cusparse.h>

#include "vendor_libraries.hpp"

static void nothing() {}
static std::string square(size_t n) { return std::to_string(n) + " x " + std::to_string(n); }

// --- Fourier transforms -------------------------------------------------------------------------------------------------------------

struct Fourier {
    cufftHandle plan;
    size_t bytes = 0;
    Fourier(std::vector<long long> sizes, cufftType type, long long batch) {
        CHECK(cufftCreate(&plan));
        long long *none = nullptr;
        CHECK(cufftMakePlanMany64(plan, static_cast<int>(sizes.size()), sizes.data(), none, 1, 0, none, 1, 0, type, batch, &bytes));
        CHECK(cufftSetStream(plan, stream));
    }
    ~Fourier() { cufftDestroy(plan); }
};

static void fft_c2c() {
    const long long n = 1 << 20, batch = 16;
    Fourier fourier({n}, CUFFT_C2C, batch);
    Memory<float> x(units(1, 2 * n * batch)), y(2 * n * batch);
    measure("fft_c2c", std::to_string(n) + " x " + std::to_string(batch), 0, nothing, [&](int) {
        CHECK(cufftExecC2C(fourier.plan, reinterpret_cast<cufftComplex *>(x.at), reinterpret_cast<cufftComplex *>(y.at), CUFFT_FORWARD));
    });
}

static void fft_r2c_2d() {
    const long long n = 2048, batch = 8;
    Fourier fourier({n, n}, CUFFT_R2C, batch);
    Memory<float> given(units(2, n * n * batch)), x(n * n * batch), y(2 * n * (n / 2 + 1) * batch);
    measure("fft_r2c_2d", square(n) + " x " + std::to_string(batch), 0, [&] { x.copy_from(given); },
            [&](int) { CHECK(cufftExecR2C(fourier.plan, x.at, reinterpret_cast<cufftComplex *>(y.at))); });
}

// --- Random numbers -----------------------------------------------------------------------------------------------------------------

static void random_numbers() {
    const size_t n = 1 << 26;
    Memory<float> y(n);
    for (std::string name : {"uniform", "normal"}) {
        curandGenerator_t generator;
        CHECK(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10));
        CHECK(curandSetStream(generator, stream));
        CHECK(curandSetPseudoRandomGeneratorSeed(generator, 42));
        measure(name, std::to_string(n), 0, nothing, [&](int) {
            if (name == "uniform")
                CHECK(curandGenerateUniform(generator, y.at, n));
            else
                CHECK(curandGenerateNormal(generator, y.at, n, 0.0f, 1.0f));
        });
        curandDestroyGenerator(generator);
    }
}

// --- Dense matrices -----------------------------------------------------------------------------------------------------------------

static const int SLOTS = 8;

struct Slots {
    Memory<float> given;
    std::vector<Memory<float> *> copies;
    explicit Slots(const std::vector<float> &numbers) : given(numbers) {
        for (int i = 0; i < SLOTS; i++) copies.push_back(new Memory<float>(numbers.size()));
        restore();
    }
    void restore() {
        for (auto copy : copies) copy->copy_from(given);
    }
    float *at(int i) { return copies[i]->at; }
    ~Slots() {
        for (auto copy : copies) delete copy;
    }
};

struct Dense {
    cusolverDnHandle_t handle;
    Memory<int> info{1};
    Dense() {
        CHECK(cusolverDnCreate(&handle));
        CHECK(cusolverDnSetStream(handle, stream));
    }
    ~Dense() { cusolverDnDestroy(handle); }
    void succeeded() {
        int number = 0;
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaMemcpy(&number, info.at, sizeof number, cudaMemcpyDeviceToHost));
        if (number != 0) throw std::runtime_error("info is " + std::to_string(number));
    }
};

static std::vector<float> symmetric(uint64_t seed, size_t n, float added) {
    std::vector<float> numbers(n * n);
    for (size_t index = 0; index < n * n; index++) {
        size_t row = index % n, col = index / n;
        numbers[index] = unit(seed, std::min(row, col) * n + std::max(row, col)) + (row == col ? added : 0.0f);
    }
    return numbers;
}

static void lu() {
    const int n = 4096, sides = 256;
    Dense dense;
    Slots a(units(3, static_cast<size_t>(n) * n)), b(units(4, static_cast<size_t>(n) * sides));
    int elements = 0;
    CHECK(cusolverDnSgetrf_bufferSize(dense.handle, n, n, a.at(0), n, &elements));
    Memory<float> work(elements);
    Memory<int> pivots(n);
    measure("getrf", square(n), SLOTS, [&] { a.restore(); },
            [&](int i) { CHECK(cusolverDnSgetrf(dense.handle, n, n, a.at(i), n, work.at, pivots.at, dense.info.at)); });
    // The factors of the first matrix, and its pivots.
    a.restore();
    CHECK(cusolverDnSgetrf(dense.handle, n, n, a.at(0), n, work.at, pivots.at, dense.info.at));
    dense.succeeded();
    measure("getrs", square(n) + ", " + std::to_string(sides), SLOTS, [&] { b.restore(); }, [&](int i) {
        CHECK(cusolverDnSgetrs(dense.handle, CUBLAS_OP_N, n, sides, a.at(0), n, pivots.at, b.at(i), n, dense.info.at));
    });
}

static void potrf() {
    const int n = 4096;
    Dense dense;
    Slots a(symmetric(5, n, n));
    int elements = 0;
    CHECK(cusolverDnSpotrf_bufferSize(dense.handle, CUBLAS_FILL_MODE_LOWER, n, a.at(0), n, &elements));
    Memory<float> work(elements);
    measure("potrf", square(n), SLOTS, [&] { a.restore(); }, [&](int i) {
        CHECK(cusolverDnSpotrf(dense.handle, CUBLAS_FILL_MODE_LOWER, n, a.at(i), n, work.at, elements, dense.info.at));
    });
    dense.succeeded();
}

static void gesvd() {
    const int n = 512;
    Dense dense;
    Slots a(units(6, n * n));
    Memory<float> s(n), u(n * n), vh(n * n), superdiagonal(n);
    int elements = 0;
    CHECK(cusolverDnSgesvd_bufferSize(dense.handle, n, n, &elements));
    Memory<float> work(elements);
    measure("gesvd", square(n), SLOTS, [&] { a.restore(); }, [&](int i) {
        CHECK(cusolverDnSgesvd(dense.handle, 'S', 'S', n, n, a.at(i), n, s.at, u.at, n, vh.at, n, work.at, elements, superdiagonal.at,
                               dense.info.at));
    });
    dense.succeeded();
}

static void syevd() {
    const int n = 1024;
    Dense dense;
    Slots a(symmetric(7, n, 0));
    Memory<float> values(n);
    int elements = 0;
    auto mode = CUSOLVER_EIG_MODE_VECTOR;
    auto fill = CUBLAS_FILL_MODE_LOWER;
    CHECK(cusolverDnSsyevd_bufferSize(dense.handle, mode, fill, n, a.at(0), n, values.at, &elements));
    Memory<float> work(elements);
    measure("syevd", square(n), SLOTS, [&] { a.restore(); }, [&](int i) {
        CHECK(cusolverDnSsyevd(dense.handle, mode, fill, n, a.at(i), n, values.at, work.at, elements, dense.info.at));
    });
    dense.succeeded();
}

// --- Sparse matrices ----------------------------------------------------------------------------------------------------------------

struct Csr {
    size_t n, stored;
    Memory<int> offsets, cols;
    Memory<float> values;
    cusparseSpMatDescr_t matrix;
    static std::vector<int> steps(size_t n, size_t entries) {
        std::vector<int> offsets(n + 1);
        for (size_t row = 0; row <= n; row++) offsets[row] = static_cast<int>(row * entries);
        return offsets;
    }
    static std::vector<int> columns(uint64_t seed, size_t n, size_t entries) {
        size_t part = n / entries;
        std::vector<int> cols(n * entries);
        for (size_t index = 0; index < n * entries; index++)
            cols[index] = static_cast<int>(index % entries * part + hash(seed, index) % part);
        return cols;
    }
    Csr(uint64_t seed, size_t n, size_t entries)
        : n(n), stored(n * entries), offsets(steps(n, entries)), cols(columns(seed, n, entries)), values(units(seed + 1, n * entries)) {
        CHECK(cusparseCreateCsr(&matrix, n, n, stored, offsets.at, cols.at, values.at, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    }
    ~Csr() { cusparseDestroySpMat(matrix); }
};

struct Sparse {
    cusparseHandle_t handle;
    Sparse() {
        CHECK(cusparseCreate(&handle));
        CHECK(cusparseSetStream(handle, stream));
    }
    ~Sparse() { cusparseDestroy(handle); }
};

static const cusparseOperation_t AS_IT_IS = CUSPARSE_OPERATION_NON_TRANSPOSE;

static void sparse_dense() {
    const size_t n = 1000000, entries = 32, columns = 64;
    Sparse sparse;
    Csr a(8, n, entries);
    float one = 1, zero = 0;
    size_t bytes = 0;
    {
        Memory<float> x(units(10, n)), y(n);
        cusparseDnVecDescr_t from, to;
        CHECK(cusparseCreateDnVec(&from, n, x.at, CUDA_R_32F));
        CHECK(cusparseCreateDnVec(&to, n, y.at, CUDA_R_32F));
        auto algorithm = CUSPARSE_SPMV_ALG_DEFAULT;
        CHECK(cusparseSpMV_bufferSize(sparse.handle, AS_IT_IS, &one, a.matrix, from, &zero, to, CUDA_R_32F, algorithm, &bytes));
        Memory<char> work(bytes);
        measure("spmv", std::to_string(n) + " rows of " + std::to_string(entries), 0, nothing, [&](int) {
            CHECK(cusparseSpMV(sparse.handle, AS_IT_IS, &one, a.matrix, from, &zero, to, CUDA_R_32F, algorithm, work.at));
        });
        cusparseDestroyDnVec(from);
        cusparseDestroyDnVec(to);
    }
    Memory<float> b(units(11, n * columns)), c(n * columns);
    cusparseDnMatDescr_t from, to;
    CHECK(cusparseCreateDnMat(&from, n, columns, columns, b.at, CUDA_R_32F, CUSPARSE_ORDER_ROW));
    CHECK(cusparseCreateDnMat(&to, n, columns, columns, c.at, CUDA_R_32F, CUSPARSE_ORDER_ROW));
    auto algorithm = CUSPARSE_SPMM_ALG_DEFAULT;
    CHECK(cusparseSpMM_bufferSize(sparse.handle, AS_IT_IS, AS_IT_IS, &one, a.matrix, from, &zero, to, CUDA_R_32F, algorithm, &bytes));
    Memory<char> work(bytes);
    measure("spmm", std::to_string(n) + " rows of " + std::to_string(entries) + ", " + std::to_string(columns), 0, nothing, [&](int) {
        CHECK(cusparseSpMM(sparse.handle, AS_IT_IS, AS_IT_IS, &one, a.matrix, from, &zero, to, CUDA_R_32F, algorithm, work.at));
    });
    cusparseDestroyDnMat(from);
    cusparseDestroyDnMat(to);
}

// A product that is computed again, into a new matrix with the offsets and columns of the first one.
static void sparse_sparse() {
    const size_t n = 1 << 17, entries = 8;
    Sparse sparse;
    Csr a(12, n, entries), b(14, n, entries);
    float one = 1, zero = 0;
    auto algorithm = CUSPARSE_SPGEMM_DEFAULT;
    Memory<int> offsets(n + 1), new_offsets(n + 1);
    cusparseSpMatDescr_t c;
    CHECK(cusparseCreateCsr(&c, n, n, 0, offsets.at, nullptr, nullptr, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                            CUDA_R_32F));
    cusparseSpGEMMDescr_t operation;
    CHECK(cusparseSpGEMM_createDescr(&operation));
    auto step = [&](auto function, auto... rest) {
        CHECK(function(sparse.handle, AS_IT_IS, AS_IT_IS, a.matrix, b.matrix, c, algorithm, operation, rest...));
    };
    size_t bytes[5] = {};
    void *none = nullptr;
    step(cusparseSpGEMMreuse_workEstimation, &bytes[0], none);
    Memory<char> first(bytes[0]);
    step(cusparseSpGEMMreuse_workEstimation, &bytes[0], static_cast<void *>(first.at));
    step(cusparseSpGEMMreuse_nnz, &bytes[1], none, &bytes[2], none, &bytes[3], none);
    Memory<char> second(bytes[1]), third(bytes[2]), fourth(bytes[3]);
    step(cusparseSpGEMMreuse_nnz, &bytes[1], static_cast<void *>(second.at), &bytes[2], static_cast<void *>(third.at), &bytes[3],
         static_cast<void *>(fourth.at));
    int64_t rows_of_c = 0, cols_of_c = 0, stored = 0;
    CHECK(cusparseSpMatGetSize(c, &rows_of_c, &cols_of_c, &stored));
    Memory<int> cols(stored), new_cols(stored);
    Memory<float> values(stored);
    CHECK(cusparseCsrSetPointers(c, offsets.at, cols.at, values.at));
    step(cusparseSpGEMMreuse_copy, &bytes[4], none);
    Memory<char> fifth(bytes[4]);
    step(cusparseSpGEMMreuse_copy, &bytes[4], static_cast<void *>(fifth.at));
    measure("spgemm", std::to_string(n) + " rows of " + std::to_string(entries), 0, nothing, [&](int) {
        new_offsets.copy_from(offsets);
        new_cols.copy_from(cols);
        CHECK(cusparseSpGEMMreuse_compute(sparse.handle, AS_IT_IS, AS_IT_IS, &one, a.matrix, b.matrix, &zero, c, CUDA_R_32F, algorithm,
                                          operation));
    });
    cusparseSpGEMM_destroyDescr(operation);
    cusparseDestroySpMat(c);
}

// --- Products with a bias and an activation -----------------------------------------------------------------------------------------

// A multiple of a quarter from -1 to below 1.
static float level(uint64_t seed, uint64_t index) { return static_cast<float>(hash(seed, index) >> 61) / 4.0f - 1.0f; }
static uint8_t as_f8(float x) {
    static const uint8_t bits[8] = {0xb8, 0xb4, 0xb0, 0xa8, 0x00, 0x28, 0x30, 0x34};
    return bits[static_cast<int>((x + 1.0f) * 4.0f)];
}

template <typename A, typename D>
static void product(const char *name, cudaDataType_t factors, cudaDataType_t results, A (*narrow)(float), D (*narrow_bias)(float)) {
    const size_t n = 4096;
    std::vector<A> left(n * n), right(n * n);
    std::vector<D> added(n);
    for (size_t i = 0; i < n * n; i++) left[i] = narrow(level(16, i)), right[i] = narrow(level(17, i));
    for (size_t i = 0; i < n; i++) added[i] = narrow_bias(level(18, i));
    Memory<A> a(left), b(right);
    Memory<D> bias(added), d(n * n);
    cublasLtHandle_t handle;
    CHECK(cublasLtCreate(&handle));
    cublasLtMatmulDesc_t description;
    CHECK(cublasLtMatmulDescCreate(&description, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    auto set = [&](cublasLtMatmulDescAttributes_t attribute, const void *value, size_t bytes) {
        CHECK(cublasLtMatmulDescSetAttribute(description, attribute, value, bytes));
    };
    cublasOperation_t transposed = CUBLAS_OP_T, plain = CUBLAS_OP_N;
    cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_GELU_BIAS;
    set(CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed);
    set(CUBLASLT_MATMUL_DESC_TRANSB, &plain, sizeof plain);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
    set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias.at, sizeof bias.at);
    set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, &results, sizeof results);
    cublasLtMatrixLayout_t factor, result;
    CHECK(cublasLtMatrixLayoutCreate(&factor, factors, n, n, n));
    CHECK(cublasLtMatrixLayoutCreate(&result, results, n, n, n));
    cublasLtMatmulPreference_t preference;
    size_t most = 32 << 20;
    CHECK(cublasLtMatmulPreferenceCreate(&preference));
    CHECK(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most, sizeof most));
    cublasLtMatmulHeuristicResult_t found;
    int count = 0;
    CHECK(cublasLtMatmulAlgoGetHeuristic(handle, description, factor, factor, result, result, preference, 1, &found, &count));
    if (count == 0) throw std::runtime_error("there is no algorithm");
    Memory<char> work(found.workspaceSize);
    float one = 1, zero = 0;
    measure(name, square(n) + " x " + std::to_string(n), 0, nothing, [&](int) {
        CHECK(cublasLtMatmul(handle, description, &one, a.at, factor, b.at, factor, &zero, d.at, result, d.at, result, &found.algo, work.at,
                             found.workspaceSize, stream));
    });
    cublasLtMatmulPreferenceDestroy(preference);
    cublasLtMatrixLayoutDestroy(factor);
    cublasLtMatrixLayoutDestroy(result);
    cublasLtMatmulDescDestroy(description);
    cublasLtDestroy(handle);
}

static __half as_f16(float x) { return __float2half(x); }
static __nv_bfloat16 as_bf16(float x) { return __float2bfloat16(x); }

int main(int count, char **words) {
    if (count < 2 || words[1][0] == '-') {
        std::printf("Usage: vendor_libraries FILE.tsv [PART OF A NAME]\n\nExample: vendor_libraries theirs.tsv lt\n");
        return count < 2 ? 2 : 0;
    }
    filter = count > 2 ? words[2] : "";
    try {
        CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    } catch (const std::exception &error) {
        std::fprintf(stderr, "vendor_libraries: %s\n", error.what());
        return 2;
    }
    group({"fft_c2c"}, fft_c2c);
    group({"fft_r2c_2d"}, fft_r2c_2d);
    group({"uniform", "normal"}, random_numbers);
    group({"getrf", "getrs"}, lu);
    group({"potrf"}, potrf);
    group({"gesvd"}, gesvd);
    group({"syevd"}, syevd);
    group({"spmv", "spmm"}, sparse_dense);
    group({"spgemm"}, sparse_sparse);
    group({"lt_f16"}, [] { product<__half, __half>("lt_f16", CUDA_R_16F, CUDA_R_16F, as_f16, as_f16); });
    group({"lt_bf16"}, [] { product<__nv_bfloat16, __nv_bfloat16>("lt_bf16", CUDA_R_16BF, CUDA_R_16BF, as_bf16, as_bf16); });
    group({"lt_f8"}, [] { product<uint8_t, __nv_bfloat16>("lt_f8", CUDA_R_8F_E4M3, CUDA_R_16BF, as_f8, as_bf16); });

    FILE *file = std::fopen(words[1], "w");
    if (!file) {
        std::perror(words[1]);
        return 2;
    }
    bool complete = true;
    std::fprintf(file, "name\tsizes\tseconds\terror\n");
    for (auto &row : rows) {
        if (row.error.empty())
            std::fprintf(file, "%s\t%s\t%e\t\n", row.name.c_str(), row.sizes.c_str(), row.seconds);
        else
            std::fprintf(file, "%s\t%s\t\t%s\n", row.name.c_str(), row.sizes.c_str(), row.error.c_str());
        complete = complete && row.error.empty();
    }
    std::fclose(file);
    return complete ? 0 : 1;
}
