// hiprtc: clang as a child process. The compiler, the device libraries and the folder with include/hip are AMDEMU_CLANG, AMDEMU_BC and
// AMDEMU_ROCM, else what build.sh put next to the library: clang, bc and rocm. An architecture it does not know aborts, as the real one does.
#include "emu.h"
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
extern char **environ;
enum { OK, OOM, CREATE, INPUT, PROGRAM, OPTION, COMPILE, BUILTIN, NONAMES, NOLOWERED, NOTNAME, INTERNAL };
struct name { char *expr, *low; };
struct prog { u64 magic; char *src, *name, **hdr, **inc; int nhdr; struct name *names; int nnames, compiled; char *log, *code; size_t codelen; };
enum { MAGIC = 0x727463 };
#define API(n, ...) EXPORT int hiprtc##n(__VA_ARGS__)
#define GOOD(p) if (!(p) || (p)->magic != MAGIC) return PROGRAM
EXPORT const char *hiprtcGetErrorString(int e) {
  static const char *T[] = {"HIPRTC_SUCCESS", "HIPRTC_ERROR_OUT_OF_MEMORY", "HIPRTC_ERROR_PROGRAM_CREATION_FAILURE", "HIPRTC_ERROR_INVALID_INPUT", "HIPRTC_ERROR_INVALID_PROGRAM", "HIPRTC_ERROR_INVALID_OPTION", "HIPRTC_ERROR_COMPILATION",
    "HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE", "HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION", "HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION", "HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID", "HIPRTC_ERROR_INTERNAL_ERROR"};
  return e >= 0 && e <= 11 ? T[e] : e == 100 ? "HIPRTC_ERROR_LINKING" : "Invalid HIPRTC error code";
}
API(Version, int *a, int *b) { if (!a || !b) return INPUT; int n; device_init(); n = version; *a = n / 10000000; *b = n / 100000 % 100; return OK; }
API(CreateProgram, struct prog **o, const char *src, const char *name, int n, const char **h, const char **inc) {
  if (!o || !src || n < 0 || (n && (!h || !inc))) return INPUT;
  struct prog *p = calloc(1, sizeof *p); p->magic = MAGIC; p->src = strdup(src); p->name = strdup(name && *name ? name : "CompileSourceXXXX"); p->nhdr = n; p->hdr = calloc(n + 1, 8); p->inc = calloc(n + 1, 8); p->log = strdup("");
  for (int i = 0; i < n; i++) { p->hdr[i] = strdup(h[i]); p->inc[i] = strdup(inc[i]); }
  *o = p; return OK;
}
API(DestroyProgram, struct prog **o) {
  if (!o) return INPUT; GOOD(*o); struct prog *p = *o; p->magic = 0; free(p->src); free(p->name); free(p->log); free(p->code);
  for (int i = 0; i < p->nhdr; i++) { free(p->hdr[i]); free(p->inc[i]); } for (int i = 0; i < p->nnames; i++) { free(p->names[i].expr); free(p->names[i].low); }
  free(p->hdr); free(p->inc); free(p->names); free(p); *o = 0; return OK;
}
API(AddNameExpression, struct prog *p, const char *e) { GOOD(p); if (!e) return INPUT; if (p->compiled) return NONAMES; p->names = realloc(p->names, (p->nnames + 1) * sizeof *p->names); p->names[p->nnames++] = (struct name){strdup(e), 0}; return OK; }
API(GetLoweredName, struct prog *p, const char *e, const char **o) { GOOD(p); if (!e || !o) return INPUT; if (!p->compiled) return NOLOWERED; for (int i = 0; i < p->nnames; i++) if (!strcmp(p->names[i].expr, e)) { if (!p->names[i].low) return NOTNAME; *o = p->names[i].low; return OK; } return NOTNAME; }
API(GetProgramLogSize, struct prog *p, size_t *n) { GOOD(p); if (!n) return INPUT; *n = strlen(p->log) + 1; return OK; }
API(GetProgramLog, struct prog *p, char *o) { GOOD(p); if (!o) return INPUT; strcpy(o, p->log); return OK; }
API(GetCodeSize, struct prog *p, size_t *n) { GOOD(p); if (!n) return INPUT; *n = p->codelen; return p->code ? OK : PROGRAM; }
API(GetCode, struct prog *p, char *o) { GOOD(p); if (!o) return INPUT; if (!p->code) return PROGRAM; memcpy(o, p->code, p->codelen); return OK; }
API(GetBitcodeSize, struct prog *p, size_t *n) { (void)n; GOOD(p); return PROGRAM; }
API(GetBitcode, struct prog *p, char *o) { (void)o; GOOD(p); return PROGRAM; }

static char *slurp(const char *f, size_t *n) { int fd = open(f, O_RDONLY | O_CLOEXEC); if (fd < 0) return 0; struct stat st; fstat(fd, &st); char *b = malloc(st.st_size + 1); ssize_t k = read(fd, b, st.st_size); close(fd); if (k < 0) k = 0; b[k] = 0; *n = k; return b; }
static void spill(const char *dir, const char *f, const char *a, const char *b) {
  char p[4352]; snprintf(p, sizeof p, "%s/%s", dir, f); for (char *s = strchr(p + strlen(dir) + 1, '/'); s; s = strchr(s + 1, '/')) { *s = 0; mkdir(p, 0700); *s = '/'; }
  FILE *o = fopen(p, "we"); if (o) { fputs(a, o); fputs(b, o); fclose(o); }
}
static int run(char **argv, const char *log) {
  posix_spawn_file_actions_t fa; posix_spawn_file_actions_init(&fa); posix_spawn_file_actions_addopen(&fa, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0600); posix_spawn_file_actions_adddup2(&fa, 1, 2);
  pid_t pid; int st = -1, e = posix_spawnp(&pid, argv[0], &fa, 0, argv, environ); posix_spawn_file_actions_destroy(&fa);
  if (e) return -1;
  while (waitpid(pid, &st, 0) < 0 && errno == EINTR) ;
  return st;
}
API(CompileProgram, struct prog *p, int n, const char **opt) {
  GOOD(p); if (n < 0 || (n && !opt)) return INPUT; if (p->compiled) return PROGRAM;
  device_init();
  const char *arch = A->gfx, *cl = getenv("AMDEMU_CLANG"), *bc = getenv("AMDEMU_BC"), *rocm = getenv("AMDEMU_ROCM"); char bcdef[4200];
  char cldef[4200], rocmdef[4200]; snprintf(cldef, sizeof cldef, "%s/clang", lib_dir()); snprintf(bcdef, sizeof bcdef, "%s/bc", lib_dir()); snprintf(rocmdef, sizeof rocmdef, "%s/rocm", lib_dir());
  if (!cl) cl = cldef;
  if (!bc) bc = bcdef;
  if (!rocm) rocm = rocmdef;
  char dir[] = "/tmp/amdemu-rtc-XXXXXX"; if (!mkdtemp(dir)) return INTERNAL;
  char src[4352], out[300], log[300], ll[300], inc[300], archopt[128], lib[4400], rp[4400]; snprintf(out, 300, "%s/o.hsaco", dir); snprintf(log, 300, "%s/log", dir); snprintf(ll, 300, "%s/o.ll", dir); snprintf(inc, 300, "-I%s", dir);
  char *argv[n + 40]; int c = 0; const char *first = "-O3";
  argv[c++] = (char *)cl; argv[c++] = "-x"; argv[c++] = "hip"; int at = c++; argv[c++] = "--cuda-device-only"; argv[c++] = "--no-gpu-bundle-output";
  snprintf(rp, sizeof rp, "--rocm-path=%s", rocm); argv[c++] = rp; snprintf(lib, sizeof lib, "--rocm-device-lib-path=%s", bc); argv[c++] = lib;
  int o0 = c++; argv[c++] = "-std=c++17"; argv[c++] = inc; argv[c++] = "-include"; argv[c++] = "hip/hip_runtime.h"; argv[c++] = "-D__HIPCC_RTC__"; argv[c++] = "-Wno-macro-redefined"; argv[c++] = "-Wno-unused-command-line-argument";
  for (int i = 0; i < n; i++) {
    const char *o = opt[i]; if (!o) return INPUT;
    if (!strncmp(o, "--offload-arch=", 15)) arch = o + 15; else if (!strncmp(o, "--gpu-architecture=", 19)) arch = o + 19;
    else if (!strncmp(o, "-O", 2)) first = o; else argv[c++] = (char *)o;
  }
  static const char *KNOWN[] = {"gfx1100", "gfx1101", "gfx1102", "gfx1150", "gfx1151", "gfx1200", "gfx1201", "gfx1250", "gfx90a", "gfx942", "gfx950", "gfx906", "gfx908", "gfx1030"}; int k = 0;
  size_t len = strcspn(arch, ":"); for (unsigned i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) k |= strlen(KNOWN[i]) == len && !strncmp(KNOWN[i], arch, len);
  if (!k) { say("hiprtc: unknown architecture %s; the real library aborts here", arch); abort(); }
  snprintf(archopt, sizeof archopt, "--offload-arch=%s", arch); argv[at] = archopt; argv[o0] = (char *)first;
  for (int i = 0; i < p->nhdr; i++) spill(dir, p->inc[i], p->hdr[i], "");
  char *extra = strdup("\n");
  for (int i = 0; i < p->nnames; i++) { char *x; if (asprintf(&x, "%sextern \"C\" __device__ __attribute__((used)) void* __amdemu_name_%d = (void*)(%s);\n", extra, i, p->names[i].expr) < 0) return OOM; free(extra); extra = x; }
  const char *base = strrchr(p->name, '/'); base = base ? base + 1 : p->name; snprintf(src, sizeof src, "%s/%s.hip", dir, base); { char f[4096]; snprintf(f, sizeof f, "%s.hip", base); spill(dir, f, p->src, extra); } free(extra);
  int mode0 = c; argv[c++] = src; argv[c++] = "-o"; argv[c++] = out; argv[c] = 0;
  int st = run(argv, log); size_t ln; char *lg = slurp(log, &ln);
  if (lg && !st && p->nnames) {                                // a second look, as text, to read the mangled names
    argv[mode0] = "-emit-llvm"; argv[mode0 + 1] = "-S"; argv[mode0 + 2] = src; argv[mode0 + 3] = "-o"; argv[mode0 + 4] = ll; argv[mode0 + 5] = 0;
    if (!run(argv, log)) { size_t m; char *t = slurp(ll, &m);
      for (int i = 0; t && i < p->nnames; i++) {
        char key[64]; snprintf(key, 64, "@__amdemu_name_%d = ", i); char *s = strstr(t, key), *e; if (!s) continue;
        e = strchr(s, '\n'); s = memchr(s + 1, '@', e - s - 1); if (!s) continue;
        s++; int q = *s == '"'; s += q; size_t w = q ? strcspn(s, "\"") : strcspn(s, " ,)\n"); p->names[i].low = strndup(s, w);
      }
      free(t);
    }
  }
  if (lg) { free(p->log); p->log = lg; }
  if (st == -1) { free(p->log); if (asprintf(&p->log, "cannot run %s\n", cl) < 0) p->log = strdup(""); }
  p->compiled = 1; if (!st) p->code = slurp(out, &p->codelen);
  if (!getenv("AMDEMU_KEEP")) { char *rm[] = {"rm", "-rf", dir, 0}; pid_t pid; if (!posix_spawnp(&pid, "rm", 0, 0, rm, environ)) waitpid(pid, 0, 0); }
  return st ? COMPILE : p->code ? OK : INTERNAL;
}
