"""Loads tinygrad's emulator with the corrections that real kernels need: substitutions in its text, and exact arithmetic.

worker.py loads it. Raise PATCHES there after a change here: translations that were made before it are then not used."""
import math, os, re, struct, sys


def load(tinygrad, cache):
  """The module of the emulator in the checkout `tinygrad`. Its compilations are kept in the folder `cache`."""
  os.environ["DEV"] = "CPU:LLVM"
  os.environ["CACHEDB"] = os.path.join(cache, "tinygrad.db")
  sys.path.insert(0, tinygrad)
  path = f"{tinygrad}/test/mockgpu/amd/emu.py"
  src = open(path).read()
  for what, pattern, repl, *counts in (
    ("LDS accesses of lanes that are off must touch nothing (their address registers hold anything)",
     r"mem\.index\(([^()]*)\)(?=\n\s*return idx\.store\(active)", r"mem.index((\1).valid(active))"),
    ("the same for two-address LDS reads", r"('OFFSET1'[^\n]*?'_lds': mem,)", r"\1 '_active': _lane_active(exec_mask, lane),"),
    ("a returning atomic is flagged glc on RDNA3, sc0 on CDNA, th bit 0 on RDNA4",
     r"bool\(is_atomic and glc\)", "bool(is_atomic and (glc or _iattr(inst, 'sc0') or _iattr(inst, 'th') & 1))"),
    ("FLAT has no scalar base (the field's bits are 0 on CDNA, which is s0); its address is a global one",
     r"(saddr_reg = [^\n]*?)(ctx\.optional_field\(inst, 'saddr'\))", r"\1None if op_name.startswith('FLAT_') else \2"),
    ("FLAT on RDNA4 too", r"(\(irc\.GLOBAL, irc\.FLAT[^)\n]*ir4\.VSCRATCH)(\)\) and)", r"\1, ir4.VFLAT\2"),
    ("src_shared_base, src_private_base: the apertures through which FLAT reaches LDS and scratch (see flat in exec.c, global in insn.c)",
     r"\n( +)inline = is_float_const[^\n]*\n",
     r"\g<0>\1inline = (off.eq(_c(235)) | off.eq(_c(237))).where(sgpr_lo.cast(dtypes.uint64) << UOp.const(32, dtypes.uint64), inline)\n"),
    ("the accumulator of v_fmac_f64 in its long form is 64 bits wide",
     r"(if 'FMAC' in op_name: srcs\['D0'\] = )(ctx\.[^\n]*)",
     r"\1_u64(\2, ctx.rvgpr_dyn(vdst_reg + _c(1), lane)) if 'F64' in op_name else \2"),
    ("a scalar load of CDNA whose offset is a scalar register", r"\n( +)(addr = _u64\(ctx\.rsgpr_dyn\(sbase\))",
     r"\n\1if isinstance(inst, irc.SMEM) and not inst.imm:\n\1  if not inst.soffset_en: soffset_val = ctx.rsgpr_dyn(ctx.inst_field(type(inst).offset) & _c(127)).cast(dtypes.uint64)"
     r"\n\1  offset = _c(0)\n\1\2"),
    ("v_cmpx of CDNA has one value for EXEC and its destination, which was read as a comparison with the destination",
     r"\n  pcode = pcode_dict\[op\]\n", r"\n  pcode = pcode_dict[op].replace('EXEC.u64[laneId] = D0.u64[laneId] = ', 'EXEC.u64[laneId] = ')\n"),
    ("the short form of v_cmpx writes VCC too on CDNA", r"\n    if not is_vopc: stores\.extend\(ctx\.wmask\(dst_off, new_result\)\)",
     r"\g<0>\n    elif isinstance(inst, irc.VOPC): stores.extend(ctx.wmask(_c(VCC_LO.offset), new_result))"),
    ("a constant in a f32 operand of v_fma_mix is f32, not f16",
     r"\n  src0 = (ctx\.rsrc_dyn\(ctx\.inst_field\(type\(inst\)\.src)0(\), lane, )16(, literal=literal, do_cast=do_cast\))\n  src1 = [^\n]*\n  src2 = [^\n]*"
     r"(?=\n  opsel, opsel_hi = _iattr\(inst, 'opsel'\), _iattr\(inst, 'opsel_hi', 3\)\n  opsel_hi2)",
     r"\n  halves = int(_iattr(inst, 'opsel_hi', 3)) | int(_iattr(inst, 'opsel_hi2', 1)) << 2 if 'MIX' in op_name else 7"
     r"\n  src0 = \g<1>0\g<2>(16 if halves & 1 else 32)\3\n  src1 = \g<1>1\g<2>(16 if halves & 2 else 32)\3\n  src2 = \g<1>2\g<2>(16 if halves & 4 else 32)\3"),
    ("only RDNA has halves of registers as operands: on CDNA register 128 is a register (source, destination, second source, comparison)",
     r"(\n  if bits\['s0'\] == 16)(:  # src0 >= 384)", r"\1 and ctx.wave_size == 32\2"),
    ("the same for the destination", r"(write_hi_half = bits\['d'\] == 16 and )", r"\1ctx.wave_size == 32 and "),
    ("the same for the second source", r"(vsrc1_hi = bits\['s0'\] == 16 and )", r"\1ctx.wave_size == 32 and "),
    ("the same in comparisons", r"(\n    if bits\['s0'\] == 16)(:\n      vsrc1_hi = )", r"\1 and ctx.wave_size == 32\2"),
    ("a carry of a lane that is off is 0", r"(exec_mask, apply_exec=)False(\)\)\)\n)", r"\1reg != EXEC_LO.offset\2"),
    ("SDWA operands have signs", r"(s([01]) = )(_sdwa_select\([^)]*\))",
     r"\1_apply_src_mods(\3, 0, _iattr(inst, 'src\2_abs'), _iattr(inst, 'src\2_neg'), inst.canonical_op_bits.get('s\2', 32))", 4),
    ("compare and swap of 64 bits takes four registers", r"(if data_bits_mem )==( 64 else ctx\.rvgpr_dyn\(vdata_reg, lane\)\n +return \{'ADDR': addr, 'DATA': atomic_data,)",
     r"\1>=\2 'DATA2': _u64(ctx.rvgpr_dyn(vdata_reg + _c(2), lane), ctx.rvgpr_dyn(vdata_reg + _c(3), lane)),"),
    ("hardware registers had been laid over the inline constants", r"_c\(SGPR_COUNT - 16\)(?= \+ hw_reg_id)", "_c(320)"),
  ):
    src, n = re.subn(pattern, repl, src)
    if [n] != (counts or [1]): print(f"amdemu: emulator text changed ({n} matches), correction not applied: {what}", file=sys.stderr)
  import types
  import test.mockgpu.amd  # the package
  m = types.ModuleType("test.mockgpu.amd.emu")
  m.__file__ = path
  sys.modules[m.__name__] = m
  exec(compile(src, path, "exec"), m.__dict__)
  from tinygrad.helpers import Target
  from tinygrad.renderer import llvmir
  from tinygrad.dtype import dtypes
  old_const = llvmir.lconst  # it prints tiny doubles in a form that LLVM does not read: bits instead
  llvmir.lconst = lambda x, dt: "0x" + struct.pack(">d", old_const(x, dt) if math.isfinite(x) else x).hex().upper() if dt in (dtypes.float32, dtypes.float64) else old_const(x, dt)
  exact_halves()
  m.renderer = exact_maths(m)(Target("CPU", "LLVM", "x86_64,native"))
  return m


def exact_halves():
  """tinygrad computes f16 in f32 where the CPU's compiler lacks it. Its conversions take subnormal halves for 0, and from 65504 on give infinity."""
  from tinygrad.codegen.decomp import dtype as decomp
  from tinygrad.dtype import dtypes
  old, old_clamp = decomp.f2f, decomp.f2f_clamp

  def f2f(v, fr, to, sat=True):
    if (fr, to) == (dtypes.half, dtypes.float):
      sub = ((v & 0x3ff).cast(dtypes.float) * 2.0**-24).bitcast(dtypes.uint) | ((v & 0x8000).cast(dtypes.uint) << 16)
      return (v & 0x7c00).eq(0).where(sub.bitcast(dtypes.float), old(v, fr, to, sat))
    if (fr, to) == (dtypes.float, dtypes.half):
      bits = v.bitcast(dtypes.uint)
      size = (bits & 0x7fffffff).bitcast(dtypes.float)
      sub = (size + 0.5).bitcast(dtypes.uint) - 0x3f000000 | (bits >> 16 & 0x8000)  # the unit of 0.5 is that of subnormal halves, and rounding is to even
      return (size < 2.0**-14).where(sub.cast(dtypes.ushort), old(v, fr, to, sat))
    return old(v, fr, to, sat)

  def clamp(val, dt, sat=True):
    if dt != dtypes.half: return old_clamp(val, dt, sat)
    inf, most = val.const_like(math.inf), val.const_like(65519.99609375)  # the last f32 that is not rounded to 65536
    return val.ne(val).where(val, (val < -most).where(-inf, (most < val).where(inf, val)))

  decomp.f2f, decomp.f2f_clamp = f2f, clamp


def rendered_call(ctx, x):  # LLVM's text for a call: of the function that the argument names, or of an intrinsic named like the operation
  from tinygrad.renderer.llvmir import ldt
  return f"  {ctx[x]} = call {ldt(x.dtype)} @{x.arg or f'llvm.{x.op.name.lower()}.f{x.dtype.bitsize}'}({', '.join(f'{ldt(s.dtype)} {ctx[s]}' for s in x.src)})"


def exact_maths(m):
  """tinygrad multiplies and adds in two steps that LLVM may join or not, makes roots of logarithms, and scales quotients otherwise than the documents.
  Instead: LLVM's intrinsics, libm's functions and those of insn.c. The renderer's class."""
  from test.mockgpu.amd import pcode
  from tinygrad.dtype import dtypes
  from tinygrad.renderer import llvmir
  from tinygrad.uop.ops import Ops, PatternMatcher, UOp, UPat
  for op, text in llvmir.float_lop.items(): llvmir.float_lop[op] = text.replace(llvmir.flags, "")  # no arithmetic but what is written
  unary = Ops.SQRT, Ops.LOG2, Ops.EXP2

  class Renderer(llvmir.CPULLVMRenderer):
    code_for_op = {**llvmir.CPULLVMRenderer.code_for_op, **{op: lambda: None for op in unary}}
    string_rewrite = PatternMatcher([(UPat((*unary, Ops.CUSTOM), name="x"), rendered_call)]) + llvmir.base_rewrite

    def render(self, uops):
      calls = {u.arg: f"declare {llvmir.ldt(u.dtype)} @{u.arg}({', '.join(llvmir.ldt(s.dtype) for s in u.src)})" for u in uops if u.op is Ops.CUSTOM}
      return "\n".join((*calls.values(), super().render(uops)))

  def call(name, dt, *args): return UOp(Ops.CUSTOM, dt, tuple(a.cast(t) if a.dtype != t else a for t, a in args), name)

  def of(name, dt=None):  # name_f32 and name_f64 of insn.c, with f16 done in f32; numbers that are no floats are i32
    def f(*args):
      t = args[0].dtype if args[0].dtype == dtypes.float64 else dtypes.float32
      r = call(f"amdemu_{name}_f{t.bitsize}", dt or t, *((t if a.dtype in dtypes.floats else dtypes.int32, a) for a in args))
      return r if dt or args[0].dtype == t else r.cast(args[0].dtype)
    return f

  def fma(a, b, c):
    t = a.dtype
    if t == dtypes.half: return call("amdemu_fma_odd", dtypes.float32, *((dtypes.float32, v) for v in (a, b, c))).cast(t)
    return call(f"llvm.fma.f{t.bitsize}", t, (t, a), (t, b), (t, c))

  pcode._FUNCS.update(fma=fma, ldexp=of("ldexp"), mantissa=of("mantissa"), frexp_exp=of("frexp_exp", dtypes.int32), div_scale=of("div_scale"),
                      div_scaled=of("div_scaled", dtypes.uint32), div_fmas=of("div_fmas"), div_fixup=of("div_fixup"),
                      pow=lambda a, b: UOp(Ops.EXP2, src=(b if b.dtype in dtypes.floats else b.bitcast(dtypes.float32),)))
  m._fix_div_scale = lambda text, t: f"VCC.u64[laneId] = div_scaled(S1.{t}, S2.{t});\nD0.{t} = div_scale(S0.{t}, S1.{t}, S2.{t})"
  old_pcode = m.get_pcode

  def get_pcode(op):
    name, text = op.name.replace("_E64", "").replace("_E32", ""), old_pcode(op)
    t = name[-3:].lower()
    if re.match(r"V_LDEXP_F(16|32|64)$", name): return f"D0.{t} = ldexp(S0.{t}, S1.{'i16' if t == 'f16' else 'i32'})"
    if re.match(r"V_DIV_FMAS_F(32|64)$", name): return f"D0.{t} = div_fmas(S0.{t}, S1.{t}, S2.{t}, VCC.u64[laneId])"
    if re.match(r"V_DIV_FIXUP_F(16|32|64)$", name): return f"D0.{t} = div_fixup(S0.{t}, S1.{t}, S2.{t})"
    if name.startswith("V_FREXP_EXP_"): return re.sub(r"exponent\((S0\.f\d\d)\) - \d+ \+ 1", r"frexp_exp(\1)", text)
    return text.replace("DATA[127 : 64].u64", "DATA2.u64")

  m.get_pcode = get_pcode
  old_load = pcode.Parser._handle_mem_load

  def load(self, addr, dt):  # 16 bits at an odd address, which may lie in two words
    mem, active = self.vars.get("_vmem", self.vars.get("_lds")), self.vars.get("_active")
    if mem is None or mem.dtype == dtypes.uint8 or dt.itemsize != 2: return old_load(self, addr, dt)
    at, byte = addr.cast(dtypes.int64), (addr & UOp.const(3, addr.dtype)).cast(dtypes.uint32)
    shift, last = UOp.const(2, dtypes.int64), byte.eq(UOp.const(3, dtypes.uint32)).where(UOp.const(1, dtypes.int64), UOp.const(0, dtypes.int64))
    low, high = (mem.index(i.valid(active) if active is not None else i).cast(dtypes.uint64) for i in (at >> shift, (at >> shift) + last))
    both = low | high << UOp.const(32, dtypes.uint64)
    return pcode._cast_to((both >> (byte * UOp.const(8, dtypes.uint32)).cast(dtypes.uint64)).cast(dtypes.uint32) & UOp.const(0xFFFF, dtypes.uint32), dt)

  pcode.Parser._handle_mem_load = load
  return Renderer
