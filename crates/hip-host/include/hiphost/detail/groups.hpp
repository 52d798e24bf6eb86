// Cooperative groups: grids, blocks, tiles of a warp, and groups of lanes that are active together.
#pragma once

#ifndef HIPHOST_NO_BARRIERS
namespace cooperative_groups {
namespace detail {
// The thread's rank in its block, x fastest, and the block's rank in the grid.
static inline unsigned rank_in_block() {
    using namespace hiphost;
    return thread_x + block_dim_x * (thread_y + block_dim_y * thread_z);
}
static inline unsigned threads_in_block() {
    using namespace hiphost;
    return block_dim_x * block_dim_y * block_dim_z;
}
static inline unsigned long long rank_of_block() {
    using namespace hiphost;
    return block_x + (unsigned long long)grid_dim_x * (block_y + (unsigned long long)grid_dim_y * block_z);
}
static inline unsigned long long blocks_in_grid() {
    using namespace hiphost;
    return (unsigned long long)grid_dim_x * grid_dim_y * grid_dim_z;
}
}  // namespace detail

// All threads of a cooperative launch.
class grid_group {
public:
    unsigned long long size() const { return detail::blocks_in_grid() * detail::threads_in_block(); }
    unsigned long long num_threads() const { return size(); }
    unsigned long long thread_rank() const {
        return detail::rank_of_block() * detail::threads_in_block() + detail::rank_in_block();
    }
    unsigned long long num_blocks() const { return detail::blocks_in_grid(); }
    unsigned long long block_rank() const { return detail::rank_of_block(); }
    dim3 group_dim() const { return gridDim; }
    dim3 dim_blocks() const { return gridDim; }
    dim3 block_index() const { return blockIdx; }
    bool is_valid() const { return hiphost::current->cooperative != 0; }
    void sync(unsigned line = __builtin_LINE()) const {
        if (!hiphost::grid_barrier(line))
            hiphost::fail(719, "grid sync in a launch that is not cooperative", "line", line);
    }
};
static inline grid_group this_grid() { return grid_group(); }

// All threads of a block.
class thread_block {
public:
    static unsigned size() { return detail::threads_in_block(); }
    static unsigned num_threads() { return size(); }
    static unsigned thread_rank() { return detail::rank_in_block(); }
    static dim3 group_index() { return blockIdx; }
    static dim3 thread_index() { return threadIdx; }
    static dim3 group_dim() { return blockDim; }
    static dim3 dim_threads() { return blockDim; }
    static bool is_valid() { return true; }
    static void sync(unsigned line = __builtin_LINE()) { __syncthreads(line); }
};
static inline thread_block this_thread_block() { return thread_block(); }

#if HIPHOST_WAVE_SIZE != 0
// `count` lanes of a warp, starting at a multiple of `count`: the base of all tiles.
class tiled_group {
public:
    explicit tiled_group(unsigned count) : count_(count) {
        if (count == 0 || count > (unsigned)warpSize || (count & (count - 1)) != 0)
            hiphost::fail(710, "a tile has a power of two of lanes, at most a warp's", __FILE__, __LINE__);
    }
    unsigned size() const { return count_; }
    unsigned num_threads() const { return count_; }
    unsigned thread_rank() const { return detail::rank_in_block() & (count_ - 1); }
    unsigned meta_group_rank() const { return detail::rank_in_block() / count_; }
    unsigned meta_group_size() const { return (detail::threads_in_block() + count_ - 1) / count_; }
    bool is_valid() const { return true; }
    void sync(unsigned line = __builtin_LINE()) const { hiphost::meet(line, "", 0, false); }

    template <class T>
    T shfl(T v, int rank, unsigned line = __builtin_LINE()) const {
        return __shfl(v, rank, (int)count_, line);
    }
    template <class T>
    T shfl_up(T v, unsigned delta, unsigned line = __builtin_LINE()) const {
        return __shfl_up(v, delta, (int)count_, line);
    }
    template <class T>
    T shfl_down(T v, unsigned delta, unsigned line = __builtin_LINE()) const {
        return __shfl_down(v, delta, (int)count_, line);
    }
    template <class T>
    T shfl_xor(T v, unsigned mask, unsigned line = __builtin_LINE()) const {
        return __shfl_xor(v, (int)mask, (int)count_, line);
    }
    unsigned long long ballot(int predicate, unsigned line = __builtin_LINE()) const {
        return mine(hiphost::meet(line, "", 0, predicate != 0).predicates);
    }
    int any(int predicate, unsigned line = __builtin_LINE()) const { return ballot(predicate, line) != 0; }
    int all(int predicate, unsigned line = __builtin_LINE()) const {
        const hiphost_warp_view view = hiphost::meet(line, "", 0, predicate != 0);
        return mine(view.predicates) == mine(view.mask);
    }
    template <class T>
    unsigned long long match_any(T v, unsigned line = __builtin_LINE()) const {
        return mine(__match_any(v, line));
    }
    template <class T>
    unsigned long long match_all(T v, int& predicate, unsigned line = __builtin_LINE()) const {
        // Other lanes of the warp may hold other values; only the tile's own lanes count.
        const unsigned long long all = mine(~0ull), equal = mine(__match_any(v, line));
        predicate = equal == all;
        return predicate ? all : 0;
    }

private:
    // The tile's own bits of a warp mask, shifted to bit 0.
    unsigned long long mine(unsigned long long mask) const {
        const unsigned lane = detail::rank_in_block() % (unsigned)warpSize;
        return mask >> (lane & ~(count_ - 1)) & (count_ == 64 ? ~0ull : (1ull << count_) - 1);
    }
    unsigned count_;
};

// A tile whose size is known at compile time.
template <unsigned Count, class Parent = void>
class thread_block_tile : public tiled_group {
    static_assert(Count <= HIPHOST_WAVE_SIZE && (Count & (Count - 1)) == 0, "a power of two, at most a warp");

public:
    thread_block_tile() : tiled_group(Count) {}
    template <class Other>
    thread_block_tile(const thread_block_tile<Count, Other>&) : tiled_group(Count) {}
    static constexpr unsigned size() { return Count; }
    static constexpr unsigned num_threads() { return Count; }
};
template <unsigned Count, class Parent>
static inline thread_block_tile<Count, Parent> tiled_partition(const Parent&) {
    return thread_block_tile<Count, Parent>();
}
static inline tiled_group tiled_partition(const thread_block&, unsigned count) { return tiled_group(count); }
static inline tiled_group tiled_partition(const tiled_group& parent, unsigned count) {
    return count < parent.size() ? tiled_group(count) : parent;
}

// The lanes that reached coalesced_threads() together.
class coalesced_group {
public:
    explicit coalesced_group(unsigned long long mask) : mask_(mask) {}
    unsigned size() const { return __popcll(mask_); }
    unsigned num_threads() const { return size(); }
    unsigned thread_rank() const { return __popcll(mask_ & ((1ull << __lane_id()) - 1)); }
    unsigned meta_group_rank() const { return 0; }
    unsigned meta_group_size() const { return 1; }
    bool is_valid() const { return true; }
    void sync(unsigned line = __builtin_LINE()) const { hiphost::meet(line, "", 0, false); }

    template <class T>
    T shfl(T v, int rank, unsigned line = __builtin_LINE()) const {
        return __shfl(v, lane_of((unsigned)rank % size()), warpSize, line);
    }
    template <class T>
    T shfl_up(T v, unsigned delta, unsigned line = __builtin_LINE()) const {
        const unsigned rank = thread_rank();
        return __shfl(v, lane_of(delta > rank ? rank : rank - delta), warpSize, line);
    }
    template <class T>
    T shfl_down(T v, unsigned delta, unsigned line = __builtin_LINE()) const {
        const unsigned rank = thread_rank();
        return __shfl(v, lane_of(rank + delta >= size() ? rank : rank + delta), warpSize, line);
    }
    // Bit n belongs to the lane with rank n.
    unsigned long long ballot(int predicate, unsigned line = __builtin_LINE()) const {
        return packed(hiphost::meet(line, "", 0, predicate != 0).predicates);
    }
    int any(int predicate, unsigned line = __builtin_LINE()) const { return ballot(predicate, line) != 0; }
    int all(int predicate, unsigned line = __builtin_LINE()) const { return __popcll(ballot(predicate, line)) == size(); }

private:
    friend class thread_group;
    int lane_of(unsigned rank) const {
        unsigned long long left = mask_;
        while (rank--) left &= left - 1;
        return (int)__ffsll(left) - 1;
    }
    unsigned long long packed(unsigned long long lanes) const {
        unsigned long long out = 0;
        unsigned rank = 0;
        for (unsigned long long left = mask_; left; left &= left - 1, rank++)
            if (lanes & left & -left) out |= 1ull << rank;
        return out;
    }
    unsigned long long mask_;
};
static inline coalesced_group coalesced_threads(unsigned line = __builtin_LINE()) {
    return coalesced_group(hiphost::meet(line, "", 0, false).mask);
}
#endif

// Any of the groups, for functions that accept each kind.
class thread_group {
public:
    thread_group(const grid_group&) : kind_(grid) {}
    thread_group(const thread_block&) : kind_(block) {}
#if HIPHOST_WAVE_SIZE != 0
    thread_group(const tiled_group& tile) : kind_(lanes), count_(tile.size()) {}
    thread_group(const coalesced_group& group) : kind_(lanes), mask_(group.mask_) {}
#endif
    unsigned size() const {
        switch (kind_) {
            case grid: return (unsigned)grid_group().size();
            case block: return thread_block::size();
            default: return mask_ ? __popcll(mask_) : count_;
        }
    }
    unsigned num_threads() const { return size(); }
    unsigned thread_rank() const {
        switch (kind_) {
            case grid: return (unsigned)grid_group().thread_rank();
            case block: return thread_block::thread_rank();
#if HIPHOST_WAVE_SIZE != 0
            default: return mask_ ? coalesced_group(mask_).thread_rank() : detail::rank_in_block() & (count_ - 1);
#else
            default: return 0;
#endif
        }
    }
    bool is_valid() const { return kind_ != grid || grid_group().is_valid(); }
    void sync(unsigned line = __builtin_LINE()) const {
        switch (kind_) {
            case grid: return grid_group().sync(line);
            case block: return thread_block::sync(line);
            default: break;
        }
#if HIPHOST_WAVE_SIZE != 0
        hiphost::meet(line, "", 0, false);
#endif
    }

private:
    enum Kind { grid, block, lanes } kind_;
    // The number of lanes of a tile, or the lane mask of coalesced threads.
    unsigned count_ = 0;
    unsigned long long mask_ = 0;
};
#if HIPHOST_WAVE_SIZE != 0
static inline tiled_group tiled_partition(const thread_group& parent, unsigned count) {
    return tiled_group(count < parent.size() ? count : parent.size());
}
#endif

template <class Group>
static inline void sync(const Group& group, unsigned line = __builtin_LINE()) {
    group.sync(line);
}
template <class Group>
static inline unsigned group_size(const Group& group) {
    return (unsigned)group.size();
}
template <class Group>
static inline unsigned thread_rank(const Group& group) {
    return (unsigned)group.thread_rank();
}
template <class Group>
static inline bool is_valid(const Group& group) {
    return group.is_valid();
}
}  // namespace cooperative_groups
#endif
