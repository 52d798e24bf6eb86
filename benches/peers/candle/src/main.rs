//! tensor-core's CPU device beside candle-core's CPU backend: each operation on both, in turns, in one run.
//!
//!     cd benches/peers/candle && cargo run --release -- [FILTER] [--json FILE]
//!
//! A row is an operation on arrays of one dtype and shape. Both do it for at least two milliseconds in turns, fifteen times;
//! the medians are compared. Above 1 tensor-core is quicker. Before it is timed, a row's results are held against each other,
//! those of sums against sums in `f64`: where only candle's are off, that is noted. What candle does not have is not timed.

mod quantized;
mod rows;
mod timing;

use std::process::ExitCode;

use rows::{Check, Row};

fn main() -> ExitCode {
    let (mut filter, mut json) = (String::new(), None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--json" => json = arguments.next(),
            "--help" | "-h" => {
                println!("usage: peers-candle [FILTER] [--json FILE]\nexample: peers-candle softmax/f16");
                return ExitCode::SUCCESS;
            }
            text => filter = text.to_owned(),
        }
    }
    println!(
        "{:<28} {:<5} {:<24} {:>10} {:>10} {:>6}",
        "operation", "dtype", "shape", "ours us", "candle us", "ratio"
    );
    let mut results = Vec::new();
    let mut wrong = 0;
    for row in rows::all().into_iter().filter(|row| row.name().contains(&filter)) {
        match compare(row) {
            Ok(result) => results.extend(result),
            Err(why) => {
                println!("{why}");
                wrong += 1;
            }
        }
    }
    let slower: Vec<_> =
        results.iter().filter(|row| row["ratio"].as_f64().is_some_and(|ratio| ratio < 1.0)).collect();
    println!("{} rows, {} slower than candle, {wrong} wrong", results.len(), slower.len());
    for row in slower {
        let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        println!(
            "slower: {}/{}/{} {:.2}",
            text("op"),
            text("dtype"),
            text("shape"),
            row["ratio"].as_f64().unwrap_or(0.0)
        );
    }
    if let Some(path) = json {
        let text = serde_json::to_string_pretty(&results).expect("numbers and text");
        if let Err(error) = std::fs::write(&path, text + "\n") {
            eprintln!("{path}: {error}");
            return ExitCode::FAILURE;
        }
    }
    if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs, checks and times a row, and prints its line. `None` if candle does not have it.
fn compare(mut row: Row) -> Result<Option<serde_json::Value>, String> {
    let note = match row.check()? {
        Check::Passed => String::new(),
        Check::CandleIsOff(off) => format!("  candle is {off}"),
        Check::CandleHasNone => {
            println!("{:<28} {:<5} {:<24} candle has none", row.operation, row.dtype, row.shape);
            return Ok(None);
        }
    };
    let (ours, theirs) = timing::in_turns(&mut *row.ours, &mut *row.theirs);
    let ratio = theirs / ours;
    println!(
        "{:<28} {:<5} {:<24} {:>10.1} {:>10.1} {:>6.2}{note}",
        row.operation,
        row.dtype,
        row.shape,
        ours * 1e6,
        theirs * 1e6,
        ratio
    );
    Ok(Some(serde_json::json!({
        "op": row.operation, "dtype": row.dtype, "shape": row.shape,
        "us": ours * 1e6, "candle_us": theirs * 1e6, "ratio": ratio,
    })))
}
