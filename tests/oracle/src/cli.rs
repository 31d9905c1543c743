//! The command line.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, BufReader, BufWriter, Write};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;
use stwo::core::fri::FriConfig;
use stwo::core::pcs::PcsConfig;

use crate::proof_file;
use crate::prover::{prove_to_json, BackendKind};
use crate::statement::{check_config, Air, ChannelKind, Statement, StatementIn};
use crate::{bench, transcript, verifier};

pub const USAGE: &str = "\
usage: stwo-oracle COMMAND ...
  verify FILE [--json]
  verify-batch FILE.jsonl
  prove STATEMENT --config CONFIG --output FILE
  prove-many SPEC.jsonl
  bench STATEMENT --config CONFIG [--warmup W] [--repeat R] [--json]
        [--stdin-driven] [--store-coefficients 0|1]
  transcript STATEMENT --config CONFIG | transcript --proof FILE
STATEMENT: --air NAME --channel blake2s|blake2s_m31 --log-n-rows L
  --sequence-len N [--second-log-n-rows L --second-sequence-len N
  --second-enabled 0|1] [--unused-log-n-rows L] [--mix-config]
CONFIG: fast, secure, or pow=10,blowup=1,queries=3,last=0,fold=1,lift=none
Everywhere: [--threads T]; where a proof is made: [--backend auto|simd|cpu].
FILE may be - for standard input or output.";

pub const EXIT_REJECTED: u8 = 1;
pub const EXIT_USAGE: u8 = 2;
pub const EXIT_UNPARSABLE: u8 = 3;
pub const EXIT_FAILED: u8 = 4;

/// An error for standard error, with the exit status that goes with it.
pub struct Failure {
    pub status: u8,
    pub message: String,
}

fn usage(message: impl Into<String>) -> Failure {
    Failure {
        status: EXIT_USAGE,
        message: message.into(),
    }
}

fn failed(message: impl Into<String>) -> Failure {
    Failure {
        status: EXIT_FAILED,
        message: message.into(),
    }
}

const SWITCHES: [&str; 3] = ["json", "mix-config", "stdin-driven"];
const OPTIONS: [&str; 16] = [
    "air",
    "channel",
    "log-n-rows",
    "sequence-len",
    "second-log-n-rows",
    "second-sequence-len",
    "second-enabled",
    "unused-log-n-rows",
    "config",
    "output",
    "proof",
    "threads",
    "backend",
    "warmup",
    "repeat",
    "store-coefficients",
];

/// Parsed arguments. Every option must be consumed, so that a misplaced one
/// is an error rather than silently ignored.
pub struct Arguments {
    pub command: String,
    positional: Vec<String>,
    options: BTreeMap<String, String>,
}

impl Arguments {
    pub fn parse(arguments: impl Iterator<Item = String>) -> Result<Self, Failure> {
        let mut arguments = arguments.peekable();
        let command = arguments.next().ok_or_else(|| usage("no command"))?;
        let mut positional = vec![];
        let mut options = BTreeMap::new();
        while let Some(argument) = arguments.next() {
            let Some(name) = argument.strip_prefix("--") else {
                positional.push(argument);
                continue;
            };
            let value = if SWITCHES.contains(&name) {
                String::new()
            } else if OPTIONS.contains(&name) {
                arguments
                    .next()
                    .ok_or_else(|| usage(format!("--{name} needs a value")))?
            } else {
                return Err(usage(format!("unknown option --{name}")));
            };
            if options.insert(name.to_string(), value).is_some() {
                return Err(usage(format!("--{name} given twice")));
            }
        }
        Ok(Self {
            command,
            positional,
            options,
        })
    }

    fn switch(&mut self, name: &str) -> bool {
        self.options.remove(name).is_some()
    }

    fn text(&mut self, name: &str) -> Result<String, Failure> {
        self.options
            .remove(name)
            .ok_or_else(|| usage(format!("--{name} is missing")))
    }

    fn number<T: std::str::FromStr>(&mut self, name: &str) -> Result<T, Failure> {
        let text = self.text(name)?;
        text.parse()
            .map_err(|_| usage(format!("--{name} {text}: not a number")))
    }

    fn number_or<T: std::str::FromStr>(&mut self, name: &str, default: T) -> Result<T, Failure> {
        if self.options.contains_key(name) {
            self.number(name)
        } else {
            Ok(default)
        }
    }

    fn flag_or(&mut self, name: &str, default: bool) -> Result<bool, Failure> {
        match self.number_or(name, u8::from(default))? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(usage(format!("--{name} must be 0 or 1"))),
        }
    }

    fn file(&mut self) -> Result<String, Failure> {
        if self.positional.len() != 1 {
            return Err(usage("expected one file"));
        }
        Ok(self.positional.remove(0))
    }

    /// Zero stands for one thread per core.
    pub fn threads(&mut self) -> Result<usize, Failure> {
        self.number_or("threads", 0)
    }

    fn backend(&mut self) -> Result<BackendKind, Failure> {
        if self.options.contains_key("backend") {
            BackendKind::parse(&self.text("backend")?).map_err(usage)
        } else {
            Ok(BackendKind::Auto)
        }
    }

    fn statement(&mut self) -> Result<Statement, Failure> {
        let air = self.text("air")?;
        let mut parameters = json!({
            "log_n_rows": self.number::<u32>("log-n-rows")?,
            "sequence_len": self.number::<u32>("sequence-len")?,
        });
        match air.as_str() {
            "wide_fibonacci_pair" => {
                parameters["second_log_n_rows"] = self.number::<u32>("second-log-n-rows")?.into();
                parameters["second_sequence_len"] =
                    self.number::<u32>("second-sequence-len")?.into();
                parameters["second_enabled"] =
                    u32::from(self.flag_or("second-enabled", true)?).into();
            }
            "wide_fibonacci_seq" => {
                parameters["unused_log_n_rows"] =
                    self.number_or::<u32>("unused-log-n-rows", 0)?.into();
            }
            _ => {}
        }
        Ok(Statement {
            air: Air::parse(&air, parameters).map_err(usage)?,
            channel: ChannelKind::parse(&self.text("channel")?).map_err(usage)?,
            mix_config: self.switch("mix-config"),
        })
    }

    fn config(&mut self) -> Result<PcsConfig, Failure> {
        parse_config(&self.text("config")?).map_err(|e| usage(format!("--config: {e}")))
    }

    fn done(&self) -> Result<(), Failure> {
        if let Some(extra) = self.positional.first() {
            return Err(usage(format!("unexpected argument {extra}")));
        }
        if let Some(extra) = self.options.keys().next() {
            return Err(usage(format!("--{extra} does not belong here")));
        }
        Ok(())
    }
}

/// Reads `fast`, `secure` or a `key=value` list; absent keys are as in `fast`.
pub fn parse_config(text: &str) -> Result<PcsConfig, String> {
    let mut config = PcsConfig {
        pow_bits: 10,
        fri_config: FriConfig {
            log_blowup_factor: 1,
            log_last_layer_degree_bound: 0,
            n_queries: 3,
            fold_step: 1,
        },
        lifting_log_size: None,
    };
    match text {
        "fast" => return Ok(config),
        "secure" => {
            config.pow_bits = 26;
            config.fri_config.n_queries = 70;
            return Ok(config);
        }
        _ => {}
    }
    for item in text.split(',') {
        let (key, value) = item
            .split_once('=')
            .ok_or_else(|| format!("\"{item}\" is not key=value"))?;
        if (key, value) == ("lift", "none") {
            config.lifting_log_size = None;
            continue;
        }
        let number: u32 = value
            .parse()
            .map_err(|_| format!("{key}: \"{value}\" is not a number"))?;
        match key {
            "pow" => config.pow_bits = number,
            "blowup" => config.fri_config.log_blowup_factor = number,
            "queries" => config.fri_config.n_queries = number as usize,
            "last" => config.fri_config.log_last_layer_degree_bound = number,
            "fold" => config.fri_config.fold_step = number,
            "lift" => config.lifting_log_size = Some(number),
            _ => return Err(format!("unknown key \"{key}\"")),
        }
    }
    check_config(&config)?;
    Ok(config)
}

/// Runs one command and returns the exit status.
pub fn run(mut arguments: Arguments) -> Result<u8, Failure> {
    let arguments = &mut arguments;
    match arguments.command.as_str() {
        "verify" => verify(arguments),
        "verify-batch" => verify_batch(arguments),
        "prove" => prove(arguments),
        "prove-many" => prove_many(arguments),
        "bench" => run_bench(arguments),
        "transcript" => run_transcript(arguments),
        other => Err(usage(format!("unknown command {other}"))),
    }
}

fn verify(arguments: &mut Arguments) -> Result<u8, Failure> {
    let path = arguments.file()?;
    let as_json = arguments.switch("json");
    arguments.done()?;
    let bytes = read(&path)?;
    // Not UTF-8 means not JSON; let the parser say so.
    let verdict = verifier::verify_text(&String::from_utf8_lossy(&bytes));
    if as_json {
        print(&verdict.to_json())?;
    } else if verdict.accepted {
        print("accepted")?;
    } else if verdict.unparsable {
        return Err(Failure {
            status: EXIT_UNPARSABLE,
            message: verdict.reason,
        });
    } else {
        print(&format!("rejected: {}", verdict.reason))?;
    }
    Ok(if verdict.accepted {
        0
    } else if verdict.unparsable {
        EXIT_UNPARSABLE
    } else {
        EXIT_REJECTED
    })
}

fn verify_batch(arguments: &mut Arguments) -> Result<u8, Failure> {
    let path = arguments.file()?;
    arguments.done()?;
    for_each_line(&path, true, |line| verifier::verify_text(line).to_json())?;
    Ok(0)
}

fn prove(arguments: &mut Arguments) -> Result<u8, Failure> {
    let statement = arguments.statement()?;
    let config = arguments.config()?;
    let backend = arguments.backend()?;
    let store_coefficients = arguments.flag_or("store-coefficients", true)?;
    let output = arguments.text("output")?;
    arguments.done()?;
    let proof = prove_to_json(&statement, &config, backend, store_coefficients).map_err(failed)?;
    let text = proof_file::write(&statement, &config, &proof);
    if output == "-" {
        print(&text)?;
    } else {
        fs::write(&output, text).map_err(|e| failed(format!("{output}: {e}")))?;
    }
    Ok(0)
}

#[derive(Deserialize)]
struct ManyIn {
    #[serde(flatten)]
    statement: StatementIn,
    config: PcsConfig,
}

#[derive(Serialize)]
struct ManyOut {
    canonical_sha256: Option<String>,
    error: Option<String>,
}

fn prove_many(arguments: &mut Arguments) -> Result<u8, Failure> {
    let path = arguments.file()?;
    let backend = arguments.backend()?;
    arguments.done()?;
    for_each_line(&path, false, |line| {
        let result = serde_json::from_str::<ManyIn>(line)
            .map_err(|e| format!("parse: {e}"))
            .and_then(|spec| {
                let statement =
                    Statement::from_input(spec.statement).map_err(|e| format!("parse: {e}"))?;
                prove_to_json(&statement, &spec.config, backend, true)
            });
        let (canonical_sha256, error) = match result {
            Ok(proof) => (Some(proof_file::sha256_hex(&proof)), None),
            Err(error) => (None, Some(error)),
        };
        serde_json::to_string(&ManyOut {
            canonical_sha256,
            error,
        })
        .expect("a result is plain data")
    })?;
    Ok(0)
}

fn run_bench(arguments: &mut Arguments) -> Result<u8, Failure> {
    let statement = arguments.statement()?;
    let config = arguments.config()?;
    let options = bench::Options {
        warmup: arguments.number_or("warmup", 1)?,
        repeat: arguments.number_or("repeat", 5)?,
        store_coefficients: arguments.flag_or("store-coefficients", true)?,
        stdin_driven: arguments.switch("stdin-driven"),
    };
    // The report is JSON either way.
    arguments.switch("json");
    arguments.done()?;
    let report = bench::run(
        &statement,
        &config,
        options,
        &mut BufReader::new(io::stdin()),
        &mut io::stdout(),
    )
    .map_err(failed)?;
    print(&report)?;
    Ok(0)
}

fn run_transcript(arguments: &mut Arguments) -> Result<u8, Failure> {
    let file = if arguments.options.contains_key("proof") {
        let path = arguments.text("proof")?;
        arguments.done()?;
        String::from_utf8_lossy(&read(&path)?).into_owned()
    } else {
        let statement = arguments.statement()?;
        let config = arguments.config()?;
        let backend = arguments.backend()?;
        arguments.done()?;
        let proof = prove_to_json(&statement, &config, backend, true).map_err(failed)?;
        proof_file::write(&statement, &config, &proof)
    };
    let replay = transcript::replay_text(&file).map_err(|message| Failure {
        status: if message.starts_with("parse: ") {
            EXIT_UNPARSABLE
        } else {
            EXIT_FAILED
        },
        message,
    })?;
    print(replay.trim_end())?;
    Ok(0)
}

/// Lines read ahead of the output when they may be handled side by side.
const LINES_AT_ONCE: usize = 64;

/// Writes one result line per input line, in order. Blank lines count too, so
/// that results can be matched by line number.
fn for_each_line(
    path: &str,
    side_by_side: bool,
    handle: impl Fn(&str) -> String + Sync,
) -> Result<(), Failure> {
    let input: Box<dyn BufRead> = if path == "-" {
        Box::new(BufReader::new(io::stdin()))
    } else {
        let file = fs::File::open(path).map_err(|e| failed(format!("{path}: {e}")))?;
        Box::new(BufReader::new(file))
    };
    let mut output = BufWriter::new(io::stdout());
    let mut lines = input.split(b'\n');
    let at_once = if side_by_side { LINES_AT_ONCE } else { 1 };
    loop {
        let batch = lines
            .by_ref()
            .take(at_once)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|e| failed(format!("{path}: {e}")))?;
        if batch.is_empty() {
            return Ok(());
        }
        let results: Vec<String> = if side_by_side {
            batch
                .par_iter()
                .map(|line| handle(&String::from_utf8_lossy(line)))
                .collect()
        } else {
            batch
                .iter()
                .map(|line| handle(&String::from_utf8_lossy(line)))
                .collect()
        };
        for result in results {
            writeln!(output, "{result}").map_err(|e| failed(format!("writing output: {e}")))?;
        }
        output
            .flush()
            .map_err(|e| failed(format!("writing output: {e}")))?;
    }
}

fn read(path: &str) -> Result<Vec<u8>, Failure> {
    let result = if path == "-" {
        let mut bytes = vec![];
        io::Read::read_to_end(&mut io::stdin(), &mut bytes).map(|_| bytes)
    } else {
        fs::read(path)
    };
    result.map_err(|e| failed(format!("{path}: {e}")))
}

fn print(text: &str) -> Result<(), Failure> {
    writeln!(io::stdout(), "{text}").map_err(|e| failed(format!("writing output: {e}")))
}
