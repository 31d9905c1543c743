//! Verification by the crate, with guards against inputs it does not survive.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use stwo::core::channel::Blake2sChannelGeneric;
use stwo::core::pcs::{CommitmentSchemeVerifier, PcsConfig};
use stwo::core::vcs::blake2_hash::Blake2sHash;
use stwo::core::vcs_lifted::blake2_merkle::{
    Blake2sMerkleChannelGeneric, Blake2sMerkleHasherGeneric,
};
use stwo::core::vcs_lifted::merkle_hasher::MerkleHasherLifted;
use stwo::core::verifier::verify;
use stwo::prover::backend::simd::SimdBackend;
use stwo::prover::backend::BackendForChannel;

use crate::air::Components;
use crate::guard::{catch, one_line};
use crate::proof_file::{proof_json, sha256_hex, Proof, ProofFile};
use crate::prover::preprocessed_root;
use crate::statement::{check, Air, ChannelKind, Statement};
use crate::CRATE;

/// Recomputing a larger preprocessed tree than this is refused.
const MAX_PREPROCESSED_LOG_SIZE: u32 = 26;

#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    pub accepted: bool,
    pub reason: String,
    pub panicked: bool,
    #[serde(rename = "crate")]
    pub verified_by: &'static str,
    /// Empty when the proof could not be read.
    pub canonical_sha256: String,
    /// Whether the input could not be read at all.
    #[serde(skip)]
    pub unparsable: bool,
}

impl Verdict {
    fn new(outcome: Result<(), Failure>, canonical_sha256: String) -> Self {
        let (accepted, reason, panicked) = match outcome {
            Ok(()) => (true, "ok".to_string(), false),
            Err(Failure::Rejected(reason)) => (false, reason, false),
            Err(Failure::Panicked(message)) => (false, format!("panic: {message}"), true),
        };
        Self {
            accepted,
            reason,
            panicked,
            verified_by: CRATE,
            canonical_sha256,
            unparsable: false,
        }
    }

    fn unparsable(error: &str) -> Self {
        Self {
            accepted: false,
            reason: format!("parse: {}", one_line(error)),
            panicked: false,
            verified_by: CRATE,
            canonical_sha256: String::new(),
            unparsable: true,
        }
    }

    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a verdict is plain data")
    }
}

enum Failure {
    Rejected(String),
    Panicked(String),
}

fn rejected(reason: impl Into<String>) -> Failure {
    Failure::Rejected(reason.into())
}

/// Verifies the text of one proof file. Never panics.
pub fn verify_text(text: &str) -> Verdict {
    let file = match catch(|| ProofFile::parse(text)) {
        Ok(Ok(file)) => file,
        Ok(Err(error)) => return Verdict::unparsable(&error),
        Err(message) => return Verdict::unparsable(&format!("panic: {message}")),
    };
    match file.statement.channel {
        ChannelKind::Blake2s => verify_file::<false>(&file),
        ChannelKind::Blake2sM31 => verify_file::<true>(&file),
    }
}

fn verify_file<const M31: bool>(file: &ProofFile<'_>) -> Verdict
where
    SimdBackend: BackendForChannel<Blake2sMerkleChannelGeneric<M31>>,
{
    let proof = match file.proof::<M31>() {
        Ok(proof) => proof,
        Err(error) => return Verdict::unparsable(&error),
    };
    let canonical = sha256_hex(&proof_json(&proof));
    Verdict::new(
        verify_proof(&file.statement, &file.config, proof),
        canonical,
    )
}

fn verify_proof<const M31: bool>(
    statement: &Statement,
    config: &PcsConfig,
    proof: Proof<M31>,
) -> Result<(), Failure>
where
    SimdBackend: BackendForChannel<Blake2sMerkleChannelGeneric<M31>>,
{
    check(statement, config).map_err(Failure::Rejected)?;
    check_shape(config, &proof)?;

    let first_root = proof.commitments[0];
    catch(|| run_crate_verifier(statement, config, proof)).map_err(Failure::Panicked)??;

    // The crate binds this root but cannot know which one the statement means.
    // Comparing after its verdict keeps rejected proofs cheap.
    let expected = expected_first_root::<M31>(statement, config)?;
    if first_root != expected {
        return Err(rejected("commitments[0] is not the statement's tree 0"));
    }
    Ok(())
}

/// What the driver of the crate has to check itself, before it can index the
/// commitments or hand over a proof that would hang the crate.
fn check_shape<const M31: bool>(config: &PcsConfig, proof: &Proof<M31>) -> Result<(), Failure> {
    if proof.config != *config {
        return Err(rejected("proof.config differs from config"));
    }
    if proof.commitments.len() != 3 {
        return Err(rejected(format!(
            "expected 3 commitments, found {}",
            proof.commitments.len()
        )));
    }
    // The crate loops over this redundant field without comparing it with the
    // coefficients, and keeps it private; read it back from the JSON form.
    let last_layer = serde_json::to_value(&proof.fri_proof.last_layer_poly)
        .map_err(|e| rejected(e.to_string()))?;
    if last_layer["log_size"].as_u64().is_none_or(|l| l > 10) {
        return Err(rejected("last_layer_poly.log_size is not in 0..=10"));
    }
    Ok(())
}

fn run_crate_verifier<const M31: bool>(
    statement: &Statement,
    config: &PcsConfig,
    proof: Proof<M31>,
) -> Result<(), Failure> {
    let components = Components::new(&statement.air);
    let channel = &mut Blake2sChannelGeneric::<M31>::default();
    if statement.mix_config {
        config.mix_into(channel);
    }
    let scheme = &mut CommitmentSchemeVerifier::<Blake2sMerkleChannelGeneric<M31>>::new(*config);
    scheme.commit(
        proof.commitments[0],
        &statement.air.preprocessed_log_sizes(),
        channel,
    );
    scheme.commit(
        proof.commitments[1],
        &statement.air.trace_log_sizes(),
        channel,
    );
    verify(&components.for_verifier(), channel, scheme, proof)
        .map_err(|e| rejected(one_line(&e.to_string())))
}

type RootKey = (Air, u32, Option<u32>, bool);

/// The root tree 0 must have.
fn expected_first_root<const M31: bool>(
    statement: &Statement,
    config: &PcsConfig,
) -> Result<Blake2sHash, Failure>
where
    SimdBackend: BackendForChannel<Blake2sMerkleChannelGeneric<M31>>,
{
    let sizes = statement.air.preprocessed_log_sizes();
    let Some(largest) = sizes.into_iter().max() else {
        return Ok(MerkleHasherLifted::finalize(Blake2sMerkleHasherGeneric::<
            M31,
        >::default()));
    };
    let blowup = config.fri_config.log_blowup_factor;
    let lifting = config.lifting_log_size;
    if (largest + blowup).max(lifting.unwrap_or(0)) > MAX_PREPROCESSED_LOG_SIZE {
        return Err(rejected("tree 0 is too large to recompute"));
    }

    // Batches verify many mutations of one proof; remember the last roots.
    static ROOTS: Mutex<Option<HashMap<RootKey, Blake2sHash>>> = Mutex::new(None);
    let key = (statement.air, blowup, lifting, M31);
    let known = ROOTS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .as_ref()
        .and_then(|roots| roots.get(&key).copied());
    if let Some(root) = known {
        return Ok(root);
    }
    let root = catch(|| preprocessed_root::<M31>(statement, config)).map_err(Failure::Panicked)?;
    ROOTS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .get_or_insert_default()
        .insert(key, root);
    Ok(root)
}
