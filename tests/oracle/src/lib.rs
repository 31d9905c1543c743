//! Proves and verifies our statements with the published stwo crates.
//!
//! Everything here is a thin driver around `stwo` 2.3.0: the statements are
//! ours, the protocol is the crate's, and so is the verdict.

pub mod air;
pub mod bench;
pub mod cli;
pub mod guard;
pub mod proof_file;
pub mod prover;
pub mod statement;
pub mod transcript;
pub mod verifier;

/// The crate whose verdict we report.
pub const CRATE: &str = "stwo 2.3.0";
