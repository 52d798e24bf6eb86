#include <cooperative_groups.h> // no: hipify translates it
#include <cooperative_groups/reduce.h> //~ breaks
namespace cg = cooperative_groups;
__global__ void f(int* x) {
    auto block = cg::this_thread_block(); // no: the same in HIP
    auto tile = cg::tiled_partition<32>(block); //~ check
    auto small = cg::tiled_partition<16>(block); // no: fits into every wave
    auto large = cg::tiled_partition<128>(block); //~ breaks
    auto active = cg::coalesced_threads(); //~ check
    x[0] = cg::reduce(tile, x[0], cg::plus<int>()); //~ breaks
    x[1] = std::reduce(x, x + 3); // no: another namespace
    cg::this_grid().sync(); //~ check
    cg::this_cluster().sync(); //~ breaks
    block.barrier_arrive(); //~ breaks
    tile.sync(); // no: the same in HIP
}
void host() { cudaLaunchCooperativeKernel(f, 1, 1, nullptr, 0, 0); } //~ check
