//! local
use std::process::ExitCode;
fn main() -> ExitCode {
    if let Some(code) = conformance::child() {
        return code;
    }
    let mut a = std::env::args().skip(1);
    let (platform, filter) = (a.next().unwrap(), a.next());
    let suite = conformance::Suite::new(&platform, None).unwrap();
    for job in suite.jobs(filter.as_deref(), None).unwrap() {
        let start = std::time::Instant::now();
        let v = suite.run(&job);
        println!("{:6.2}s dev{} {} {:?}", start.elapsed().as_secs_f64(), job.device, job.case.name, v);
    }
    ExitCode::SUCCESS
}
