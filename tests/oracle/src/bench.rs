//! Timing of the crate's prover, warm and in one process.

use std::io::{BufRead, Write};

use serde::Serialize;
use stwo::core::pcs::PcsConfig;
use stwo::core::vcs_lifted::blake2_merkle::Blake2sMerkleChannelGeneric;
use stwo::prover::backend::simd::SimdBackend;
use stwo::prover::backend::BackendForChannel;

use crate::guard::catch;
use crate::proof_file::{proof_json, sha256_hex, Proof};
use crate::prover::{simd_drops_columns, Session, Timings};
use crate::statement::{check, ChannelKind, Statement};
use crate::CRATE;

#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub warmup: usize,
    pub repeat: usize,
    pub store_coefficients: bool,
    /// Prove once per line read from standard input instead of `repeat` times.
    pub stdin_driven: bool,
}

#[derive(Serialize)]
struct Report {
    total_ns: Vec<u64>,
    trace_ns: Vec<u64>,
    commit_ns: Vec<u64>,
    prove_ns: Vec<u64>,
    /// Largest resident set the process ever had.
    peak_rss_bytes: u64,
    canonical_sha256: String,
    threads: usize,
    instruction_set: &'static str,
    store_coefficients: bool,
    #[serde(rename = "crate")]
    crate_version: &'static str,
}

impl Report {
    fn add(&mut self, timings: Timings) {
        self.total_ns.push(timings.total.as_nanos() as u64);
        self.trace_ns.push(timings.trace.as_nanos() as u64);
        self.commit_ns.push(timings.commit.as_nanos() as u64);
        self.prove_ns.push(timings.prove.as_nanos() as u64);
    }
}

/// Returns the report as one line of JSON.
pub fn run(
    statement: &Statement,
    config: &PcsConfig,
    options: Options,
    input: &mut (impl BufRead + Send),
    output: &mut (impl Write + Send),
) -> Result<String, String> {
    check(statement, config)?;
    if simd_drops_columns(&statement.air) {
        return Err("the SIMD backend cannot prove this statement".into());
    }
    keep_freed_memory();
    let run = || match statement.channel {
        ChannelKind::Blake2s => measure::<false>(statement, config, options, input, output),
        ChannelKind::Blake2sM31 => measure::<true>(statement, config, options, input, output),
    };
    match catch(run) {
        Ok(report) => report,
        Err(message) => Err(format!("panic: {message}")),
    }
}

fn measure<const M31: bool>(
    statement: &Statement,
    config: &PcsConfig,
    options: Options,
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> Result<String, String>
where
    SimdBackend: BackendForChannel<Blake2sMerkleChannelGeneric<M31>>,
{
    let session = Session::<SimdBackend>::new(statement, config);
    let prove = || session.prove::<M31>(statement, config, options.store_coefficients);
    let mut report = Report {
        total_ns: vec![],
        trace_ns: vec![],
        commit_ns: vec![],
        prove_ns: vec![],
        peak_rss_bytes: 0,
        canonical_sha256: String::new(),
        threads: rayon::current_num_threads(),
        instruction_set: instruction_set(),
        store_coefficients: options.store_coefficients,
        crate_version: CRATE,
    };
    let mut last: Option<Proof<M31>> = None;

    for _ in 0..options.warmup {
        last = Some(prove()?.0);
    }
    if options.stdin_driven {
        let mut say = |text: String| -> Result<(), String> {
            writeln!(output, "{text}")
                .and_then(|()| output.flush())
                .map_err(|e| format!("writing output: {e}"))
        };
        say("ready".into())?;
        let mut line = String::new();
        while input.read_line(&mut line).map_err(|e| e.to_string())? > 0 {
            if line.trim() != "go" {
                return Err(format!("expected \"go\", found \"{}\"", line.trim()));
            }
            line.clear();
            let (proof, timings) = prove()?;
            report.add(timings);
            last = Some(proof);
            say(timings.total.as_nanos().to_string())?;
        }
    } else {
        for _ in 0..options.repeat {
            let (proof, timings) = prove()?;
            report.add(timings);
            last = Some(proof);
        }
    }

    report.canonical_sha256 = last.map_or_else(String::new, |p| sha256_hex(&proof_json(&p)));
    report.peak_rss_bytes = peak_rss_bytes();
    Ok(serde_json::to_string(&report).expect("a report is plain data"))
}

/// The crate allocates and frees column-sized buffers in every proof. Handing
/// them back to the system each time costs page faults, measured at a few per
/// cent of the total; a fair comparison does not charge the crate for that.
fn keep_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: mallopt only stores its arguments; it needs no other state.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 32 << 20);
        libc::mallopt(libc::M_TRIM_THRESHOLD, libc::c_int::MAX);
    }
}

/// Zero where the system does not tell.
fn peak_rss_bytes() -> u64 {
    std::fs::read_to_string("/proc/self/status")
        .unwrap_or_default()
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok())
        .map_or(0, |kib| kib * 1024)
}

/// The kernels compiled in; the crate chooses the same way.
const fn instruction_set() -> &'static str {
    if cfg!(target_feature = "avx512f") {
        "avx512"
    } else if cfg!(target_feature = "avx2") {
        "avx2"
    } else if cfg!(target_feature = "neon") {
        "neon"
    } else {
        "portable"
    }
}
