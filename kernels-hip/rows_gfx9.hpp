//! Rows that the threads' registers hold, on gfx9: read and written by packs.
//
// Included after rows.hpp. Packs that no thread of the team has are left out by a branch, and since nothing is computed before its branch, packs
// are computed in turn: all at once would need more registers than eight waves leave.
namespace hipstack {

// A row's packs, dealt out to `width` lanes in turn: `packs` to a lane at most. Offsets are in bytes. Lanes without a row come last.
struct HeldRow {
    u32 bytes, packs, first, step;
    bool whole; // whether all lanes have all packs
    template <class Team> METHOD HeldRow(u64 length, bool there, const Team& team) : first(team.lane * 16), step(team.width * 16) {
        const u32 all = (u32)length * (u32)sizeof(T);
        packs = (all + step - 1) / step;
        whole = all == packs * step;
        if (Team::SHORT) whole = whole && __all(there);
        bytes = there ? all : 0;
    }
    METHOD u32 at(u32 p) const { return own_anew(first) + p * step; }
    // Of one of the first `packs`.
    METHOD bool there(u32 at) const { return whole || at < bytes; }
};

// Gives registers any value: what a loop sets in some turns only, compilers would keep from turn to turn.
DEVICE void forget(C* x, u32 count) {
    UNROLL
    for (u32 i = 0; i < count; i++) asm volatile("" : "=v"(x[i]));
}
DEVICE void forget(Pack<T, SPAN>& pack) {
    if constexpr (sizeof(T) == sizeof(C)) {
        UNROLL
        for (u32 i = 0; i < SPAN; i++) asm volatile("" : "=v"(pack.at[i]));
    } else {
        u32 words[4];
        UNROLL
        for (u32 w = 0; w < 4; w++) asm volatile("" : "=v"(words[w]));
        memcpy(&pack, words, sizeof(words));
    }
}

// What is not there becomes `none`, rounded to T.
DEVICE void read_row(Pack<T, SPAN> (&raw)[PACKS], const T* from, const HeldRow& row, C none) {
    const char* const bytes = (const char*)from;
    const u32 packs = shared_anew(row.packs);
    UNROLL
    for (u32 p = 0; p < PACKS; p++) {
        forget(raw[p]);
        if (p >= packs) continue;
        const u32 at = row.at(p);
        UNROLL
        for (u32 i = 0; i < SPAN; i++) raw[p].at[i] = narrow<T>(none);
        if (row.there(at)) raw[p] = load_pack<SPAN>((const T*)(bytes + at));
    }
}

// The elements of a pack that is there for some lane.
DEVICE void widen_held(C* x, const Pack<T, SPAN>& raw, bool used) {
    if constexpr (sizeof(T) != sizeof(C)) {
        forget(x, SPAN);
        if (!used) return;
    }
    UNROLL
    for (u32 i = 0; i < SPAN; i++) x[i] = widen(raw.at[i]);
}
DEVICE void write_held(T* to, const C* x, const HeldRow& row, u32 p) {
    const u32 at = row.at(p);
    if (row.there(at)) write_pack((T*)((char*)to + at), narrow_pack(x));
}

} // namespace hipstack
