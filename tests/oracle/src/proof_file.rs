//! The proof file: one JSON object holding statement, configuration and proof.

use serde::Deserialize;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use stwo::core::pcs::PcsConfig;
use stwo::core::proof::StarkProof;
use stwo::core::vcs_lifted::blake2_merkle::Blake2sMerkleHasherGeneric;

use crate::statement::{Statement, StatementIn};

pub const SCHEMA: &str = "stwo_cuda_proof_v1";

pub type Proof<const M31: bool> = StarkProof<Blake2sMerkleHasherGeneric<M31>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile<'a> {
    schema: String,
    statement: StatementIn,
    config: PcsConfig,
    // Kept as text: its hash type depends on the statement's channel.
    #[serde(borrow)]
    proof: &'a RawValue,
}

pub struct ProofFile<'a> {
    pub statement: Statement,
    pub config: PcsConfig,
    proof: &'a RawValue,
}

impl<'a> ProofFile<'a> {
    pub fn parse(text: &'a str) -> Result<Self, String> {
        let raw: RawFile<'a> = serde_json::from_str(text).map_err(|e| e.to_string())?;
        if raw.schema != SCHEMA {
            return Err(format!("unknown schema \"{}\"", raw.schema));
        }
        Ok(Self {
            statement: Statement::from_input(raw.statement)?,
            config: raw.config,
            proof: raw.proof,
        })
    }

    pub fn proof<const M31: bool>(&self) -> Result<Proof<M31>, String> {
        serde_json::from_str(self.proof.get()).map_err(|e| format!("proof: {e}"))
    }
}

pub fn proof_json<const M31: bool>(proof: &Proof<M31>) -> String {
    serde_json::to_string(proof).expect("a proof is plain data")
}

pub fn sha256_hex(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// Lays the object out by hand so that the key order is the documented one and
/// the proof is exactly what serde_json writes for it.
pub fn write(statement: &Statement, config: &PcsConfig, proof_json: &str) -> String {
    format!(
        "{{\"schema\":\"{SCHEMA}\",\"statement\":{},\"config\":{},\"proof\":{proof_json}}}",
        statement.to_json(),
        serde_json::to_string(config).expect("a configuration is plain data"),
    )
}
