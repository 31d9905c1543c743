use std::process::ExitCode;

use stwo_oracle::cli::{run, Arguments, Failure, EXIT_FAILED, USAGE};
use stwo_oracle::guard::{catch, one_line, silence_panics};

/// Deep recursion in a hostile input must not overflow the stack.
const STACK_BYTES: usize = 256 << 20;

fn main() -> ExitCode {
    silence_panics();
    match start() {
        Ok(status) => ExitCode::from(status),
        Err(failure) => {
            eprintln!("stwo-oracle: {}", one_line(&failure.message));
            ExitCode::from(failure.status)
        }
    }
}

fn start() -> Result<u8, Failure> {
    let mut arguments = Arguments::parse(std::env::args().skip(1))?;
    if matches!(arguments.command.as_str(), "help" | "--help" | "-h") {
        println!("{USAGE}");
        return Ok(0);
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(arguments.threads()?)
        .stack_size(STACK_BYTES)
        .build()
        .map_err(|e| Failure {
            status: EXIT_FAILED,
            message: e.to_string(),
        })?;
    // Working inside the pool spares every parallel loop a hand-over from a
    // thread outside it, and makes the thread count exact.
    match catch(|| pool.install(|| run(arguments))) {
        Ok(result) => result,
        Err(message) => Err(Failure {
            status: EXIT_FAILED,
            message: format!("panic: {message}"),
        }),
    }
}
