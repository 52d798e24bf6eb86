//! Functions that cancel or overflow when written carelessly, against values computed to 40 digits elsewhere (mpmath).
//! The far tails are the point: there the naive forms have no correct digit, or give 0 or infinity.

mod common;

use common::device::{WAVE_32, input, output, run, value};
use kernels_hip::args::Map1;

/// Name of an operation, argument and exact result.
type Table = &'static [(&'static str, &'static [(f64, f64)])];

#[rustfmt::skip]
#[allow(clippy::excessive_precision, clippy::approx_constant, reason = "digits as computed")]
const SINGLE: Table = &[
    (
        "gelu",
        &[
            (-10.300000190734863, -1.02817637557830770e-40), (-9.899999618530273, -1.16414335641239866e-36),
            (-8.0, -3.10778293750111121e-21), (-5.300000190734863, -2.73934493591158340e-8),
            (-1.100000023841858, -1.49418951354054929e-1), (-0.30000001192092896, -1.14629079648527602e-1),
            (9.999999682655225e-21, 4.999999841327612694e-21), (0.699999988079071, 5.305701230660317462e-1),
            (3.299999952316284, 3.298688723971464322), (11.0, 1.1e1),
        ],
    ),
    (
        "gelu_erf",
        &[
            (-14.100000381469727, -2.67736201481617919e-44), (-13.5, -1.05553898626381531e-40),
            (-12.0, -2.13177853449321479e-32), (-9.699999809265137, -1.46227107855125091e-21),
            (-5.300000190734863, -3.06876794572042526e-7), (-1.100000023841858, -1.49232664562151126e-1),
            (-0.30000001192092896, -1.14626576534215831e-1), (9.999999682655225e-21, 4.999999841327612694e-21),
            (0.699999988079071, 5.306254318017016070e-1), (3.299999952316284, 3.298404652398412147),
            (11.0, 1.1e1),
        ],
    ),
    (
        "silu",
        &[
            (-105.0, -2.63189584969495083e-44), (-100.0, -3.72007597602083596e-42),
            (-95.5, -3.19801392040222129e-40), (-80.0, -1.44388111027633213e-33),
            (-20.299999237060547, -3.09969076667316267e-8), (-1.7000000476837158, -2.62590947420282230e-1),
            (-0.009999999776482582, -4.97500009769010951e-3), (0.30000001192092896, 1.723327627656372116e-1),
            (17.0, 1.699999929621061694e1), (90.0, 9.0e1),
        ],
    ),
    (
        "sigmoid",
        &[
            (-103.0, 1.852116769517975462e-45), (-95.0, 5.521082277028532731e-42),
            (-88.0, 6.054601895401185884e-39), (-30.0, 9.357622968839298953e-14),
            (-1.5, 1.824255238063563403e-1), (0.20000000298023224, 5.498339980501347780e-1),
            (5.0, 9.933071490757151444e-1), (40.0, 9.999999999999999957e-1),
        ],
    ),
    (
        "softplus",
        &[
            (-103.0, 1.852116769517975462e-45), (-90.0, 8.194012623990515430e-40),
            (-20.0, 2.061153620314380703e-9), (-1.0, 3.132616875182228340e-1), (0.0, 6.931471805599453094e-1),
            (0.5, 9.740769841801066808e-1), (19.0, 1.900000000560279642e1), (200.0, 2.0e2),
        ],
    ),
];

#[rustfmt::skip]
#[allow(clippy::excessive_precision, clippy::approx_constant, reason = "digits as computed")]
const DOUBLE: Table = &[
    (
        "gelu",
        &[
            (-22.0, -1.33283745874518866e-344), (-21.0, -6.01664848763148467e-301),
            (-15.0, -1.55847699372740549e-114), (-5.3, -2.73934881286342744e-8),
            (-0.3, -1.14629076457240748e-1), (0.7, 5.305701347051167078e-1), (11.0, 1.1e1),
        ],
    ),
    (
        "gelu_erf",
        &[
            (-38.0, -1.09646277682613803e-314), (-37.0, -2.11846135233409342e-298),
            (-30.0, -1.47201417814445611e-196), (-12.0, -2.13177853449321479e-32),
            (-5.3, -3.06877104118123477e-7), (-1.1, -1.49232667041020933e-1), (0.7, 5.306254434438488463e-1),
            (8.0, 7.999999999999995023),
        ],
    ),
    (
        "silu",
        &[
            (-745.0, -2.10265129420159312e-321), (-740.0, -3.09966751123555621e-319),
            (-700.0, -6.90177358063183959e-302), (-100.0, -3.72007597602083596e-42),
            (-1.7, -2.62590950642009000e-1), (0.3, 1.723327550434976889e-1), (17.0, 1.699999929621061694e1),
        ],
    ),
    (
        "sigmoid",
        &[
            (-744.0, 7.671944704179979073e-324), (-709.0, 1.216780750623423065e-308),
            (-30.0, 9.357622968839298953e-14), (0.2, 5.498339973124779113e-1), (40.0, 9.999999999999999957e-1),
        ],
    ),
    (
        "softplus",
        &[
            (-744.0, 7.671944704179979073e-324), (-90.0, 8.194012623990515430e-40),
            (-1.0, 3.132616875182228340e-1), (0.5, 9.740769841801066808e-1), (30.0, 3.000000000000009357e1),
        ],
    ),
];

/// How far the results may be off, in units in the last place: three for each function of the library that a formula calls.
const ULPS: f64 = 8.0;

#[test]
fn f32_tails() {
    for (op, points) in SINGLE {
        let x: Vec<f32> = points.iter().map(|(x, _)| *x as f32).collect();
        let mut out = vec![0f32; x.len()];
        let map = Map1::tight(x.len() as u64);
        let mut args = [input(&x), output(&mut out), value(&map)];
        // SAFETY: S9: arrays of the map's length.
        unsafe { run(WAVE_32, &format!("elementwise_{op}_f32"), (1, 64), &mut args) };
        for ((x, wanted), got) in points.iter().zip(out) {
            let ulp = f64::from((*wanted as f32).abs().next_up()) - f64::from((*wanted as f32).abs());
            let off = (f64::from(got) - wanted).abs() / ulp;
            assert!(off <= ULPS, "{op}({x}): got {got:e}, want {wanted:e}: {off} ulp");
        }
    }
}

#[test]
fn f64_tails() {
    for (op, points) in DOUBLE {
        let x: Vec<f64> = points.iter().map(|(x, _)| *x).collect();
        let mut out = vec![0f64; x.len()];
        let map = Map1::tight(x.len() as u64);
        let mut args = [input(&x), output(&mut out), value(&map)];
        // SAFETY: S9: arrays of the map's length.
        unsafe { run(WAVE_32, &format!("elementwise_{op}_f64"), (1, 64), &mut args) };
        for ((x, wanted), got) in points.iter().zip(out) {
            let off = (got - wanted).abs() / (wanted.abs().next_up() - wanted.abs());
            assert!(off <= ULPS, "{op}({x}): got {got:e}, want {wanted:e}: {off} ulp");
        }
    }
}
