//! Matrices turned round for gfx9, in registers where words allow it: eight waves fit a SIMD then, and take fewer instructions.
//
// Included by transpose.hip.
//
// A thread turns a block of a matrix: it reads LINES lines of N elements, 16 bytes each, puts their words together by rows, and writes N rows
// of LINES elements. The lanes of a wave lie eight by eight, so that it reads 128 bytes side by side, and writes as many (64 where elements
// have 1 byte; the next wave of the block writes what lies behind). These GPUs read and write 16 bytes at the address of any word of 4.
// Matrices whose lines or rows begin or end within a word, and those smaller than a block, go by single elements.
namespace hipstack {

// As many lines as elements of each make squares, but for bytes: sixteen lines would take all registers that there are.
static constexpr u32 N = 16 / sizeof(T), LINES = sizeof(T) == 1 ? 8 : N;
// Lanes of a wave along either dimension, waves of a block.
static constexpr u32 LANES = 8, WAVES = MAX_BLOCK / WAVE_SIZE;
// Elements of a word of 4 bytes, words of a row.
static constexpr u32 PART = sizeof(T) < 4 ? 4 / sizeof(T) : 1, WORDS = LINES * sizeof(T) / 4;

// Values of vector types, which compilers neither read in parts nor take apart.
typedef u32 Line __attribute__((ext_vector_type(4), aligned(4)));
typedef u32 Row __attribute__((ext_vector_type(WORDS), aligned(4)));

// Four bytes of a word and of a second one: `places` has a place for each, of 0 to 3 in the first word and 4 to 7 in the second.
DEVICE u32 bytes_of(u32 first, u32 second, u32 places) { return __builtin_amdgcn_perm(second, first, places); }

// Word w of row e: element e of lines that follow one another.
DEVICE u32 word_of_row(const Line (&lines)[LINES], u32 e, u32 w) {
    if constexpr (sizeof(T) == 8) {
        return lines[w / 2][2 * e + w % 2];
    } else if constexpr (sizeof(T) == 4) {
        return lines[w][e];
    } else if constexpr (sizeof(T) == 2) {
        return bytes_of(lines[2 * w][e / 2], lines[2 * w + 1][e / 2], e % 2 == 0 ? 0x05040100 : 0x07060302);
    } else {
        // Of two lines each the bytes of two rows, this one and its neighbour, which takes the rest of them.
        const u32 pairs = e % 4 < 2 ? 0x05010400 : 0x07030602;
        const u32 first = bytes_of(lines[4 * w][e / 4], lines[4 * w + 1][e / 4], pairs);
        const u32 second = bytes_of(lines[4 * w + 2][e / 4], lines[4 * w + 3][e / 4], pairs);
        return bytes_of(first, second, e % 2 == 0 ? 0x05040100 : 0x07060302);
    }
}

// The line or row behind one. Compilers must take it for a new address: else they keep all multiples of the step in scalar registers, of
// which there are too few.
template <class P> DEVICE P* step_on(P* p, u64 step) {
    u64 at = (u64)(p + step);
    asm volatile("" : "+v"(at));
    return (P*)(__attribute__((address_space(1))) P*)at; // in global memory
}

// One thread's block.
DEVICE void turn_block(const T* src, T* dst, u64 src_column, u64 dst_row) {
    // All reads are under way before the first is used.
    Line lines[LINES];
    UNROLL
    for (u32 s = 0; s < LINES; s++) {
        lines[s] = *reinterpret_cast<const Line*>(src);
        if (s + 1 < LINES) src = step_on(src, src_column);
    }
    UNROLL
    for (u32 e = 0; e < N; e++) {
        Row row;
        UNROLL
        for (u32 w = 0; w < WORDS; w++) row[w] = word_of_row(lines, e, w);
        *reinterpret_cast<Row*>(dst) = row;
        if (e + 1 < N) dst = step_on(dst, dst_row);
    }
}

// Where tiles of some rows and columns lie, line by line, matrix by matrix. Numbers of 32 bits count them: where lines and rows have 16 elements
// or more (crates/tensor-core), the elements of 2^31 tiles fill no GPU's memory.
struct Tile { u64 i, j, src, dst; };
struct Tiles {
    u32 rows, columns, down, across, count;
    METHOD Tiles(const TransposeMap& m, u32 rows, u32 columns)
        : rows(rows), columns(columns), down((u32)((m.rows + rows - 1) / rows)), across((u32)((m.columns + columns - 1) / columns)),
          count(down * across * (u32)m.batch) {}
    METHOD Tile at(const TransposeMap& m, u32 t) const {
        const u32 line = t / across, g = line / down;
        const Offsets at = offsets_as<u32>(g, m.batch_rank, m.batch_dims, m.src_batch, m.dst_batch);
        return {(u64)(line - g * down) * rows, (u64)(t - line * across) * columns, at.a, at.b};
    }
};

// Whether every block lies in the matrix, and every line and row of one on whole words.
DEVICE bool has_blocks(const T* src, const T* dst, const TransposeMap& m) {
    u64 all = ((u64)src | (u64)dst) / sizeof(T) | m.rows | m.columns | m.src_column | m.dst_row;
    for (u32 d = 0; d < m.batch_rank; d++) all |= m.src_batch[d] | m.dst_batch[d];
    return all % PART == 0 && m.rows >= N && m.columns >= LINES;
}

// A wave turns 8 by 8 blocks, the waves of a block of threads such as lie side by side in dst.
DEVICE void turn_by_blocks(const T* src, T* dst, const TransposeMap& m) {
    const Tiles tiles(m, LANES * N, LANES * LINES);
    const u32 wave = __builtin_amdgcn_readfirstlane(threadIdx.x / WAVE_SIZE);
    for (u32 t = blockIdx.x * WAVES + wave; t < tiles.count; t += gridDim.x * WAVES) {
        const Tile tile = tiles.at(m, t);
        const u32 lane = own_anew(threadIdx.x) % WAVE_SIZE;
        u64 i = tile.i + lane % LANES * N, j = tile.j + lane / LANES * LINES;
        if (i >= m.rows || j >= m.columns) continue;
        // The last blocks end where the matrix does: they turn some elements that others turn too.
        i = i < m.rows - N ? i : m.rows - N;
        j = j < m.columns - LINES ? j : m.columns - LINES;
        turn_block(src + tile.src + i + j * m.src_column, dst + tile.dst + i * m.dst_row + j, m.src_column, m.dst_row);
    }
}

// How many of `size` there are from `first` on.
DEVICE u32 left_of(u64 count, u64 first, u32 size) { return count - first < size ? (u32)(count - first) : size; }

// Single elements go by tiles in shared memory, of HIGH lines of WIDE: a wave reads lines along i and writes rows along j, an element each
// lane. In memory lines are a word longer, so that neighbouring ones lie in different banks; a compute unit of 64 KiB holds eight tiles.
static constexpr u32 WIDE = WAVE_SIZE, PITCH = WIDE + PART;
static constexpr u32 FIT = 8192 / (PITCH * sizeof(T)) / WAVES * WAVES, HIGH = FIT < WIDE ? FIT : WIDE;

// WHOLE: the matrix has all rows and columns of the tile.
template <bool WHOLE> DEVICE void turn_tile(T* tile, const T* src, T* dst, u64 src_column, u64 dst_row, u32 rows, u32 columns) {
    const u32 wave = __builtin_amdgcn_readfirstlane(threadIdx.x / WAVE_SIZE), lane = own_anew(threadIdx.x) % WAVE_SIZE;
    if (WHOLE || lane < rows) {
        const T* from = src + wave * src_column + lane;
        // Promoted: as pairs in words they would have to come one after the other.
        decltype(+*from) elements[HIGH / WAVES] = {};
        UNROLL
        for (u32 n = 0; n < HIGH / WAVES; n++) {
            if (WHOLE || wave + n * WAVES < columns) elements[n] = *from;
            if (n + 1 < HIGH / WAVES) from = step_on(from, WAVES * src_column);
        }
        UNROLL
        for (u32 n = 0; n < HIGH / WAVES; n++) tile[(wave + n * WAVES) * PITCH + lane] = (T)elements[n];
    }
    __syncthreads();
    if (lane < columns) {
        T* to = dst + wave * dst_row + lane;
        UNROLL
        for (u32 n = 0; n < WIDE / WAVES; n++) {
            if (WHOLE || wave + n * WAVES < rows) *to = tile[lane * PITCH + wave + n * WAVES];
            if (n + 1 < WIDE / WAVES) to = step_on(to, WAVES * dst_row);
        }
    }
    __syncthreads();
}

DEVICE void turn_by_elements(const T* src, T* dst, const TransposeMap& m) {
    __shared__ T tile[HIGH * PITCH];
    const Tiles tiles(m, WIDE, HIGH);
    for (u32 t = blockIdx.x; t < tiles.count; t += gridDim.x) {
        const Tile at = tiles.at(m, t);
        const u32 rows = left_of(m.rows, at.i, WIDE), columns = left_of(m.columns, at.j, HIGH);
        const T* const from = src + at.src + at.i + at.j * m.src_column;
        T* const to = dst + at.dst + at.i * m.dst_row + at.j;
        if (rows == WIDE && columns == HIGH) turn_tile<true>(tile, from, to, m.src_column, m.dst_row, rows, columns);
        else turn_tile<false>(tile, from, to, m.src_column, m.dst_row, rows, columns);
    }
}

KERNEL(PASTE4(transpose, _, DTYPE, ), const T* src, T* dst, TransposeMap m) {
    if (has_blocks(src, dst, m)) turn_by_blocks(src, dst, m);
    else turn_by_elements(src, dst, m);
}

} // namespace hipstack
