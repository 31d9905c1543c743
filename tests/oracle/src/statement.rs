//! What is proved: an AIR with its parameters, a channel, and whether the
//! configuration is mixed into the transcript.

use serde::{Deserialize, Serialize};
use stwo::core::pcs::PcsConfig;

/// Largest circle domain the crate's group can address.
pub const MAX_DOMAIN_LOG_SIZE: u32 = 30;
/// Bounds that keep a hostile proof file from exhausting memory or time. They
/// lie far beyond anything a real proof uses.
const MAX_SEQUENCE_LEN: u32 = 1 << 16;
const MAX_QUERIES: usize = 1 << 16;
const MAX_FOLD_STEP: u32 = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelKind {
    Blake2s,
    Blake2sM31,
}

impl ChannelKind {
    pub fn parse(name: &str) -> Result<Self, String> {
        match name {
            "blake2s" => Ok(Self::Blake2s),
            "blake2s_m31" => Ok(Self::Blake2sM31),
            _ => Err(format!("unknown channel \"{name}\"")),
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Blake2s => "blake2s",
            Self::Blake2sM31 => "blake2s_m31",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlainParameters {
    pub log_n_rows: u32,
    pub sequence_len: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairParameters {
    pub log_n_rows: u32,
    pub sequence_len: u32,
    pub second_log_n_rows: u32,
    pub second_sequence_len: u32,
    pub second_enabled: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeqParameters {
    pub log_n_rows: u32,
    pub sequence_len: u32,
    pub unused_log_n_rows: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(untagged)]
pub enum Air {
    Plain(PlainParameters),
    Pair(PairParameters),
    Seq(SeqParameters),
}

impl Air {
    pub fn parse(name: &str, parameters: serde_json::Value) -> Result<Self, String> {
        let bad = |e: serde_json::Error| format!("parameters of {name}: {e}");
        match name {
            "wide_fibonacci" => serde_json::from_value(parameters)
                .map(Self::Plain)
                .map_err(bad),
            "wide_fibonacci_pair" => serde_json::from_value(parameters)
                .map(Self::Pair)
                .map_err(bad),
            "wide_fibonacci_seq" => serde_json::from_value(parameters)
                .map(Self::Seq)
                .map_err(bad),
            _ => Err(format!("unknown air \"{name}\"")),
        }
    }

    pub fn name(&self) -> &'static str {
        match self {
            Self::Plain(_) => "wide_fibonacci",
            Self::Pair(_) => "wide_fibonacci_pair",
            Self::Seq(_) => "wide_fibonacci_seq",
        }
    }

    /// Log sizes of the preprocessed columns, before blowup.
    pub fn preprocessed_log_sizes(&self) -> Vec<u32> {
        match self {
            Self::Seq(p) if p.unused_log_n_rows > 0 => vec![p.log_n_rows, p.unused_log_n_rows],
            Self::Seq(p) => vec![p.log_n_rows],
            _ => vec![],
        }
    }

    /// Log sizes of the trace columns, before blowup.
    pub fn trace_log_sizes(&self) -> Vec<u32> {
        match self {
            Self::Plain(p) => vec![p.log_n_rows; p.sequence_len as usize],
            Self::Seq(p) => vec![p.log_n_rows; p.sequence_len as usize],
            Self::Pair(p) => {
                // The framework expects a disabled component's columns at the
                // smallest size a circle domain can have.
                let second = if p.second_enabled == 0 {
                    1
                } else {
                    p.second_log_n_rows
                };
                let mut sizes = vec![p.log_n_rows; p.sequence_len as usize];
                sizes.resize(sizes.len() + p.second_sequence_len as usize, second);
                sizes
            }
        }
    }

    pub fn check(&self) -> Result<(), String> {
        let (rows, lengths) = match self {
            Self::Plain(p) => (vec![p.log_n_rows], vec![p.sequence_len]),
            Self::Pair(p) => {
                if p.second_enabled > 1 {
                    return Err("second_enabled must be 0 or 1".into());
                }
                (
                    vec![p.log_n_rows, p.second_log_n_rows],
                    vec![p.sequence_len, p.second_sequence_len],
                )
            }
            Self::Seq(p) => {
                let mut rows = vec![p.log_n_rows];
                if p.unused_log_n_rows > 0 {
                    rows.push(p.unused_log_n_rows);
                }
                (rows, vec![p.sequence_len])
            }
        };
        if rows.iter().any(|&l| !(1..MAX_DOMAIN_LOG_SIZE).contains(&l)) {
            return Err(format!(
                "log_n_rows must be in 1..={}",
                MAX_DOMAIN_LOG_SIZE - 1
            ));
        }
        if lengths.iter().any(|n| !(1..=MAX_SEQUENCE_LEN).contains(n)) {
            return Err(format!("sequence_len must be in 1..={MAX_SEQUENCE_LEN}"));
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statement {
    pub air: Air,
    pub channel: ChannelKind,
    pub mix_config: bool,
}

/// The statement as it stands in a proof file.
#[derive(Serialize)]
struct StatementOut<'a> {
    air: &'a str,
    channel: &'a str,
    mix_config: bool,
    parameters: &'a Air,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatementIn {
    pub air: String,
    pub channel: String,
    pub mix_config: bool,
    pub parameters: serde_json::Value,
}

impl Statement {
    pub fn from_input(input: StatementIn) -> Result<Self, String> {
        Ok(Self {
            air: Air::parse(&input.air, input.parameters)?,
            channel: ChannelKind::parse(&input.channel)?,
            mix_config: input.mix_config,
        })
    }

    pub fn to_json(&self) -> String {
        serde_json::to_string(&StatementOut {
            air: self.air.name(),
            channel: self.channel.name(),
            mix_config: self.mix_config,
            parameters: &self.air,
        })
        .expect("a statement is plain data")
    }
}

/// Rejects what the crate's own constructor would refuse (deserializing skips
/// it) and what would make the crate hang or allocate without bound.
pub fn check_config(config: &PcsConfig) -> Result<(), String> {
    let fri = &config.fri_config;
    if !(1..=16).contains(&fri.log_blowup_factor) {
        return Err(format!(
            "log_blowup_factor {} is not in 1..=16",
            fri.log_blowup_factor
        ));
    }
    if fri.log_last_layer_degree_bound > 10 {
        return Err(format!(
            "log_last_layer_degree_bound {} is not in 0..=10",
            fri.log_last_layer_degree_bound
        ));
    }
    if !(1..=MAX_FOLD_STEP).contains(&fri.fold_step) {
        return Err(format!(
            "fold_step {} is not in 1..={MAX_FOLD_STEP}",
            fri.fold_step
        ));
    }
    // The crate draws until it holds exactly n_queries positions and checks
    // only after pushing one, so zero would never end.
    if !(1..=MAX_QUERIES).contains(&fri.n_queries) {
        return Err(format!(
            "n_queries {} is not in 1..={MAX_QUERIES}",
            fri.n_queries
        ));
    }
    if config
        .lifting_log_size
        .is_some_and(|l| l > MAX_DOMAIN_LOG_SIZE)
    {
        return Err(format!("lifting_log_size exceeds {MAX_DOMAIN_LOG_SIZE}"));
    }
    Ok(())
}

/// Checks statement and configuration together.
pub fn check(statement: &Statement, config: &PcsConfig) -> Result<(), String> {
    check_config(config).map_err(|e| format!("config: {e}"))?;
    statement
        .air
        .check()
        .map_err(|e| format!("statement: {e}"))?;
    if max_domain_log_size(statement, config) > MAX_DOMAIN_LOG_SIZE {
        return Err(format!(
            "statement: extended domain exceeds 2^{MAX_DOMAIN_LOG_SIZE}"
        ));
    }
    Ok(())
}

/// Log size of the largest domain the proof touches.
pub fn max_domain_log_size(statement: &Statement, config: &PcsConfig) -> u32 {
    let air = &statement.air;
    let largest_column = air
        .preprocessed_log_sizes()
        .into_iter()
        .chain(air.trace_log_sizes())
        .max()
        .unwrap_or(1);
    (largest_column + config.fri_config.log_blowup_factor).max(config.lifting_log_size.unwrap_or(0))
}
