// Modules, launches of their kernels, and occupancy. Included by hip.c.
#define MODULE(m) NEEDS(m, Handle); NEEDS(!((u64)(m) & 7) && (u64)(m) > 4096 && (m)->magic == M_MOD, Handle)
API(hipModuleLoadData, struct module **m, const void *image) { IN NEEDS(m && image, Value); UNSAFE R(module_load(image, 0, cur, m)); }
API(hipModuleLoadDataEx, struct module **m, const void *image, unsigned n, int *o, void **v) { (void)n; (void)o; (void)v; IN NEEDS(m && image, Value); UNSAFE R(module_load(image, 0, cur, m)); }
API(hipModuleLoad, struct module **m, const char *path) {
  if (trace) say("hipModuleLoad %s", path ? path : "(null)");
  IN NEEDS(m && path, Value); UNSAFE int fd = open(path, O_RDONLY | O_CLOEXEC); NEEDS(fd >= 0, hipErrorFileNotFound); struct stat st; fstat(fd, &st); char *b = calloc(1, st.st_size + 64); ssize_t k = read(fd, b, st.st_size); close(fd);
  err e = k == st.st_size && k >= 64 ? module_load(b, k, cur, m) : hipErrorInvalidImage; free(b); R(e);
}
API(hipModuleUnload, struct module *m) { IN MODULE(m); NEEDS(m->alive, hipErrorNotFound); finish_all(); module_drop(m); R(0); }
API(hipModuleGetFunction, struct func **f, struct module *m, const char *n) { IN NEEDS(f && n && *n, Value); MODULE(m); NEEDS(m->alive, hipErrorNotFound); for (struct func *p = m->funcs; p; p = p->next) if (!strcmp(p->name, n)) { *f = p; R(0); } R(hipErrorNotFound); }
API(hipModuleGetFunctionCount, unsigned *c, struct module *m) { IN NEEDS(c, Value); MODULE(m); *c = 0; for (struct func *p = m->funcs; p; p = p->next) ++*c; R(0); }
API(hipModuleGetGlobal, void **d, size_t *n, struct module *m, const char *name) { IN NEEDS((d || n) && name && *name, Value); MODULE(m); NEEDS(m->alive, hipErrorNotFound); for (int i = 0; i < m->nsyms; i++) if (m->syms[i].object && !strcmp(m->syms[i].name, name)) { if (d) *d = (void *)m->syms[i].addr; if (n) *n = m->syms[i].size; R(0); } R(hipErrorNotFound); }
#define FUNC(f) NEEDS(f, Handle); NEEDS(!((u64)(f) & 7) && (u64)(f) > 4096 && (f)->magic == M_FUNC, Handle)
API(hipFuncGetAttribute, int *v, int a, struct func *f) {
  IN NEEDS(v, Value); FUNC(f); int T[] = {f->max_wg, (int)f->gseg, 0, (int)f->pseg, f->vgprs, A->major * 10 + A->minor, A->major * 10 + A->minor, 0, f->max_dyn, 0};
  NEEDS(a >= 0 && a < 10, Value); *v = T[a]; R(0);
}
EXPORT const char *hipKernelNameRef(struct func *f) { return f && f->magic == M_FUNC ? f->name : 0; }
static err launch_threads(struct func *f, u32 gx, u32 gy, u32 gz, u32 bx, u32 by, u32 bz, u32 lds, void *h, void **params, void **extra, int coop, u32 tx, u32 ty, u32 tz) {
  hs s; err e = stream_of(h, &s); if (e) return e;
  struct op o = {.k = O_KERNEL, .l = {f, {gx, gy, gz}, {bx, by, bz}, lds, coop, 0, {tx, ty, tz}}};
  if ((e = launch_check(f, o.l.grid, o.l.block, lds, tx != 0))) return e;
  if (coop && (u64)gx * gy * gz > (u64)A->cus * (2048 / (bx * by * bz))) return hipErrorCooperativeLaunchTooLarge;
  if ((e = implicit(s))) return e;
  if ((e = launch_args(&o.l, params, extra))) { free(o.l.karg); return e; }
  return submit(s, &o);
}
static err launch(struct func *f, u32 gx, u32 gy, u32 gz, u32 bx, u32 by, u32 bz, u32 lds, void *h, void **params, void **extra, int coop) { return launch_threads(f, gx, gy, gz, bx, by, bz, lds, h, params, extra, coop, 0, 0, 0); }
API(hipModuleLaunchKernel, struct func *f, u32 gx, u32 gy, u32 gz, u32 bx, u32 by, u32 bz, u32 lds, void *h, void **p, void **x) { IN FUNC(f); R(launch(f, gx, gy, gz, bx, by, bz, lds, h, p, x, 0)); }
API(hipModuleLaunchCooperativeKernel, struct func *f, u32 gx, u32 gy, u32 gz, u32 bx, u32 by, u32 bz, u32 lds, void *h, void **p) { IN FUNC(f); R(launch(f, gx, gy, gz, bx, by, bz, lds, h, p, 0, 1)); }
API(hipExtModuleLaunchKernel, struct func *f, u32 tx, u32 ty, u32 tz, u32 bx, u32 by, u32 bz, size_t lds, void *h, void **p, void **x, void *e0, void *e1, u32 fl) {
  (void)fl; IN FUNC(f); NEEDS(bx && by && bz, Value); err e = e0 ? record(e0, h) : 0;  // the grid is in threads and need not be whole groups
  if (!e) e = launch_threads(f, (tx + bx - 1) / bx, (ty + by - 1) / by, (tz + bz - 1) / bz, bx, by, bz, lds, h, p, x, 0, tx, ty, tz); if (!e && e1) e = record(e1, h); R(e);
}
static int blocks_per_cu(struct func *f, int bs, size_t lds) { // waves by registers and slots, groups by LDS
  int waves = (bs + A->wave - 1) / A->wave, regs = A->wave == 64 ? 512 : 1536, vg = f->vgprs > 0 ? f->vgprs : 1, per = regs / vg; if (per > 16) per = 16;
  int n = waves ? per * 4 / waves : 0; u64 l = f->gseg + lds; if (l && (int)(A->lds_max / l) < n) n = A->lds_max / l;
  int cap = waves ? 32 / waves : 0; return n < cap ? n : cap;
}
API(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor, int *n, struct func *f, int bs, size_t lds) { IN NEEDS(n, Value); FUNC(f); NEEDS(bs > 0, Value); *n = bs > f->max_wg ? 0 : blocks_per_cu(f, bs, lds); R(0); }
API(hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, int *n, struct func *f, int bs, size_t lds, unsigned fl) { IN NEEDS(n && fl <= 1, Value); FUNC(f); NEEDS(bs > 0, Value); *n = bs > f->max_wg ? 0 : blocks_per_cu(f, bs, lds); R(0); }
static err best_block(int *g, int *b, struct func *f, size_t lds, int lim) {
  int best = 0, bs = A->wave, top = lim && lim < f->max_wg ? lim : f->max_wg;
  for (int k = A->wave; k <= top; k += A->wave) { int n = blocks_per_cu(f, k, lds); if (n * k >= best) { best = n * k; bs = k; } }
  *b = bs; *g = blocks_per_cu(f, bs, lds) * A->cus; return 0;
}
API(hipModuleOccupancyMaxPotentialBlockSize, int *g, int *b, struct func *f, size_t lds, int lim) { IN NEEDS(g && b, Value); FUNC(f); NEEDS(lim >= 0, Value); R(best_block(g, b, f, lds, lim)); }
