// Captures, graphs, and the objects that graphs keep. Included by hip.c.
static int is_graph(hg g) { return g && !((u64)g & 7) && (u64)g > 4096 && g->magic == M_GRAPH; }
static int is_exec(hx g) { return g && !((u64)g & 7) && (u64)g > 4096 && g->magic == M_EXEC; }
static hg new_graph(void) { hg g = calloc(1, sizeof *g); g->magic = M_GRAPH; return g; }
static void uo_drop(struct uo *u, unsigned n) { u->refs -= n; if (u->refs <= 0) { u->magic = 0; pthread_mutex_unlock(&big); u->destroy(u->ptr); pthread_mutex_lock(&big); free(u); } }
static void graph_free(hg g) {
  g->magic = 0; for (int i = 0; i < g->n; i++) { if (g->nodes[i]->op.k == O_KERNEL) free(g->nodes[i]->op.l.karg); g->nodes[i]->magic = 0; free(g->nodes[i]->deps); free(g->nodes[i]); }
  for (int i = 0; i < g->nuo; i++) uo_drop(g->uo[i].u, g->uo[i].n);
  free(g->nodes); free(g->uo); free(g);
}
static hg graph_copy(hg g) {
  hg c = new_graph();
  for (int i = 0; i < g->n; i++) {
    hn d[g->nodes[i]->ndeps + 1]; for (int k = 0; k < g->nodes[i]->ndeps; k++) d[k] = c->nodes[g->nodes[i]->deps[k]->id];
    hn x = add_node(c, &g->nodes[i]->op, d, g->nodes[i]->ndeps);
    if (x->op.k == O_KERNEL) { u32 n = x->op.l.f->ksize + 64; x->op.l.karg = malloc(n); memcpy(x->op.l.karg, g->nodes[i]->op.l.karg, n); }
  }
  c->uo = malloc((g->nuo + 1) * sizeof *c->uo); c->nuo = g->nuo; for (int i = 0; i < g->nuo; i++) { c->uo[i] = g->uo[i]; c->uo[i].u->refs += c->uo[i].n; }
  return c;
}
API(hipStreamBeginCapture, void *h, int m) {
  IN NEEDS(m >= 0 && m <= 2, Value); NEEDS(h && h != (void *)1, hipErrorStreamCaptureUnsupported); STREAM(h, s); NEEDS(!s->cap, hipErrorIllegalState);
  struct cap *c = calloc(1, sizeof *c); c->id = ++capids; c->mode = m; c->g = new_graph(); c->g->capturing = 1; c->origin = s; c->thread = pthread_self(); s->cap = c; s->nfront = 0; R(0);
}
static void reach(hn x) { if (x->mark) return; x->mark = 1; for (int i = 0; i < x->ndeps; i++) reach(x->deps[i]); }
API(hipStreamEndCapture, void *h, hg *out) {
  IN NEEDS(out, Value); NEEDS(h && h != (void *)1, hipErrorIllegalState); STREAM(h, s); NEEDS(s->cap, hipErrorIllegalState); struct cap *c = s->cap;
  NEEDS(c->origin == s, hipErrorStreamCaptureUnmatched); NEEDS(c->mode == 2 || pthread_equal(c->thread, pthread_self()), hipErrorStreamCaptureWrongThread);
  err e = c->bad ? hipErrorStreamCaptureInvalidated : 0; hg g = c->g; *out = 0;
  if (!e) { for (int i = 0; i < g->n; i++) g->nodes[i]->mark = 0; for (int i = 0; i < s->nfront; i++) reach(s->front[i]); for (int i = 0; i < g->n; i++) if (!g->nodes[i]->mark) e = hipErrorStreamCaptureUnjoined; }
  end_cap(c); g->capturing = 0; if (e) graph_free(g); else *out = g;
  R(e);                                                       // struct cap stays: events may still name it
}
API(hipStreamIsCapturing, void *h, int *st) { IN NEEDS(st, Value); STREAM(h, s); IMPLICIT(s); *st = s->cap ? 1 + s->cap->bad : 0; R(0); }
API(hipStreamGetCaptureInfo, void *h, int *st, u64 *id) { IN NEEDS(st, Value); STREAM(h, s); IMPLICIT(s); *st = s->cap ? 1 + s->cap->bad : 0; if (id && s->cap) *id = s->cap->id; R(0); }
API(hipStreamGetCaptureInfo_v2, void *h, int *st, u64 *id, hg *g, const hn **d, size_t *n) { IN NEEDS(st, Value); STREAM(h, s); IMPLICIT(s); *st = s->cap ? 1 + s->cap->bad : 0; if (*st == 1) { if (id) *id = s->cap->id; if (g) *g = s->cap->g; if (d) *d = s->front; if (n) *n = s->nfront; } R(0); }
API(hipThreadExchangeStreamCaptureMode, int *m) { IN NEEDS(m && *m >= 0 && *m <= 2, Value); int o = capmode; capmode = *m; *m = o; R(0); }
API(hipGraphCreate, hg *g, unsigned f) { IN NEEDS(g && !f, Value); *g = new_graph(); R(0); }
API(hipGraphDestroy, hg g) { IN NEEDS(is_graph(g) && !g->capturing, Value); graph_free(g); R(0); }
static err instantiate(hx *x, hg g) { if (!x || !is_graph(g) || g->capturing) return Value; *x = calloc(1, sizeof **x); (*x)->magic = M_EXEC; (*x)->g = graph_copy(g); return 0; }
API(hipGraphInstantiate, hx *x, hg g, hn *en, char *log, size_t n) { if (en) *en = 0; if (log && n) *log = 0; IN R(instantiate(x, g)); }
API(hipGraphInstantiateWithFlags, hx *x, hg g, u64 f) { IN NEEDS(!(f & ~15ull), Value); R(instantiate(x, g)); }
API(hipGraphLaunch, hx x, void *h) { IN NEEDS(is_exec(x), Value); STREAM(h, s); IMPLICIT(s); struct op o = {.k = O_GRAPH, .gx = x}; R(submit(s, &o)); }
API(hipGraphUpload, hx x, void *h) { IN NEEDS(is_exec(x), Value); STREAM(h, s); (void)s; R(0); }
API(hipGraphExecDestroy, hx x) { IN NEEDS(is_exec(x), Value); finish_all(); x->magic = 0; graph_free(x->g); R(0); }
API(hipGraphExecUpdate, hx x, hg g, hn *en, int *res) {
  IN NEEDS(is_exec(x) && is_graph(g) && res, Value); if (en) *en = 0; *res = 0; hg o = x->g;
  if (o->n != g->n) { *res = 2; R(hipErrorGraphExecUpdateFailure); }
  for (int i = 0; i < g->n; i++) {
    hn a = o->nodes[i], b = g->nodes[i]; int r = a->op.k != b->op.k ? 3 : a->ndeps != b->ndeps ? 2 : 0;
    for (int k = 0; !r && k < a->ndeps; k++) if (a->deps[k]->id != b->deps[k]->id) r = 2;
    if (r) { if (en) *en = b; *res = r; R(hipErrorGraphExecUpdateFailure); }
  }
  finish_all(); x->g = graph_copy(g); graph_free(o); R(0);
}
static err list_nodes(hg g, hn *out, size_t *n, int roots) {
  if (!is_graph(g) || !n) return Value;
  size_t k = 0; for (int i = 0; i < g->n; i++) if (!roots || !g->nodes[i]->ndeps) { if (out && k < *n) out[k] = g->nodes[i]; k++; }
  if (out) { for (size_t i = k; i < *n; i++) out[i] = 0; if (k < *n) *n = k; } else *n = k;
  return 0;
}
API(hipGraphGetNodes, hg g, hn *o, size_t *n) { IN R(list_nodes(g, o, n, 0)); }
API(hipGraphGetRootNodes, hg g, hn *o, size_t *n) { IN R(list_nodes(g, o, n, 1)); }
API(hipGraphNodeGetType, hn x, int *t) { IN NEEDS(x && t && x->magic == M_NODE, Value); *t = x->op.k; R(0); }
API(hipUserObjectCreate, struct uo **o, void *p, hostfn d, unsigned n, unsigned f) { IN NEEDS(o && p && d && n && n <= 0x7fffffff && f == 1, Value); *o = malloc(sizeof **o); **o = (struct uo){M_UO, p, d, n}; R(0); }
#define UO(u, n) NEEDS((u) && (n) && (n) <= 0x7fffffff && (u)->magic == M_UO, Value)
API(hipUserObjectRetain, struct uo *u, unsigned n) { IN UO(u, n); u->refs += n; R(0); }
API(hipUserObjectRelease, struct uo *u, unsigned n) { IN UO(u, n); NEEDS(u->refs >= (long)n, Value); uo_drop(u, n); R(0); }
API(hipGraphRetainUserObject, hg g, struct uo *u, unsigned n, unsigned f) { IN NEEDS(is_graph(g) && f <= 1, Value); UO(u, n); if (!f) u->refs += n; g->uo = realloc(g->uo, (g->nuo + 1) * sizeof *g->uo); g->uo[g->nuo++] = (struct uref){u, n}; R(0); }
API(hipGraphReleaseUserObject, hg g, struct uo *u, unsigned n) { IN NEEDS(is_graph(g), Value); UO(u, n); for (int i = 0; i < g->nuo; i++) if (g->uo[i].u == u && g->uo[i].n >= n) { if (!(g->uo[i].n -= n)) g->uo[i] = g->uo[--g->nuo]; uo_drop(u, n); R(0); } R(Value); }
