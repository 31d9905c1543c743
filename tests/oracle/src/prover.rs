//! Proving with the crate.

use std::time::{Duration, Instant};

use stwo::core::channel::Blake2sChannelGeneric;
use stwo::core::pcs::PcsConfig;
use stwo::core::poly::circle::CanonicCoset;
use stwo::core::vcs::blake2_hash::Blake2sHash;
use stwo::core::vcs_lifted::blake2_merkle::Blake2sMerkleChannelGeneric;
use stwo::prover::backend::simd::m31::LOG_N_LANES;
use stwo::prover::backend::simd::SimdBackend;
use stwo::prover::backend::{BackendForChannel, CpuBackend};
use stwo::prover::mempool::BaseColumnPool;
use stwo::prover::poly::circle::PolyOps;
use stwo::prover::poly::twiddles::TwiddleTree;
use stwo::prover::{prove, CommitmentSchemeProver, CommitmentTreeProver};

use crate::air::{preprocessed_trace, trace, Components, TraceBackend};
use crate::guard::{catch, one_line};
use crate::proof_file::{proof_json, Proof};
use crate::statement::{check, max_domain_log_size, Air, ChannelKind, Statement};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackendKind {
    /// SIMD wherever it is correct, scalar where it is not.
    Auto,
    Simd,
    /// Scalar. Equal bytes, except that its nonce search runs through 0, 1, 2,
    /// ... and so differs whenever the smallest nonce is 2^20 or more.
    Cpu,
}

impl BackendKind {
    pub fn parse(name: &str) -> Result<Self, String> {
        match name {
            "auto" => Ok(Self::Auto),
            "simd" => Ok(Self::Simd),
            "cpu" => Ok(Self::Cpu),
            _ => Err(format!("unknown backend \"{name}\"")),
        }
    }

    fn resolve(self, air: &Air) -> Self {
        match self {
            Self::Auto if simd_drops_columns(air) => Self::Cpu,
            Self::Auto => Self::Simd,
            chosen => chosen,
        }
    }
}

/// Where the crate's SIMD backend adds vectors of different sizes, it loops
/// over whole packed elements of the larger one. With fewer than 16 rows there
/// are none, the smaller ones are lost, and the proof comes out invalid.
pub fn simd_drops_columns(air: &Air) -> bool {
    matches!(air, Air::Pair(p) if p.second_enabled != 0
        && p.log_n_rows != p.second_log_n_rows
        && p.log_n_rows.max(p.second_log_n_rows) < LOG_N_LANES)
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Timings {
    pub trace: Duration,
    pub commit: Duration,
    pub prove: Duration,
    pub total: Duration,
}

/// What one prover keeps between requests: twiddles and column buffers.
pub struct Session<B: PolyOps> {
    twiddles: TwiddleTree<B>,
    pool: BaseColumnPool<B>,
}

impl<B: TraceBackend> Session<B> {
    pub fn new(statement: &Statement, config: &PcsConfig) -> Self {
        // Composition is interpolated on twice the trace domain, which never
        // exceeds the extended trace domain since blowup is at least 1.
        let log_size = max_domain_log_size(statement, config);
        Self {
            twiddles: B::precompute_twiddles(
                CanonicCoset::new(log_size).circle_domain().half_coset,
            ),
            pool: BaseColumnPool::new(),
        }
    }

    /// Produces one proof.
    pub fn prove<const M31: bool>(
        &self,
        statement: &Statement,
        config: &PcsConfig,
        store_coefficients: bool,
    ) -> Result<(Proof<M31>, Timings), String>
    where
        B: BackendForChannel<Blake2sMerkleChannelGeneric<M31>>,
    {
        let start = Instant::now();
        let preprocessed = preprocessed_trace::<B>(&statement.air);
        let columns = trace::<B>(&statement.air);
        let traced = Instant::now();

        let components = Components::new(&statement.air);
        let channel = &mut Blake2sChannelGeneric::<M31>::default();
        let mut scheme =
            CommitmentSchemeProver::<B, Blake2sMerkleChannelGeneric<M31>>::with_memory_pool(
                *config,
                &self.twiddles,
                &self.pool,
            );
        if store_coefficients || needs_coefficients(&statement.air) {
            scheme.set_store_polynomials_coefficients();
        }
        if statement.mix_config {
            config.mix_into(channel);
        }
        for tree in [preprocessed, columns] {
            let mut builder = scheme.tree_builder();
            builder.extend_evals(tree);
            builder.commit(channel);
        }
        let committed = Instant::now();

        let proof = prove(&components.for_prover::<B>(), channel, scheme)
            .map_err(|e| one_line(&e.to_string()))?;
        let end = Instant::now();

        let timings = Timings {
            trace: traced - start,
            commit: committed - traced,
            prove: end - committed,
            total: end - start,
        };
        Ok((proof, timings))
    }
}

/// A disabled component counts as minimal in size and so breaks the uniform
/// ratio that lets the crate reuse committed evaluations; it then re-evaluates
/// from coefficients and panics if they were not kept.
fn needs_coefficients(air: &Air) -> bool {
    matches!(air, Air::Pair(p) if p.second_enabled == 0)
}

/// Proves and returns the proof's canonical JSON. Panics become errors.
pub fn prove_to_json(
    statement: &Statement,
    config: &PcsConfig,
    backend: BackendKind,
    store_coefficients: bool,
) -> Result<String, String> {
    fn run<B, const M31: bool>(
        statement: &Statement,
        config: &PcsConfig,
        store_coefficients: bool,
    ) -> Result<String, String>
    where
        B: TraceBackend + BackendForChannel<Blake2sMerkleChannelGeneric<M31>>,
    {
        let session = Session::<B>::new(statement, config);
        let (proof, _) = session.prove::<M31>(statement, config, store_coefficients)?;
        Ok(proof_json(&proof))
    }

    check(statement, config)?;
    let run = match (backend.resolve(&statement.air), statement.channel) {
        (BackendKind::Simd | BackendKind::Auto, ChannelKind::Blake2s) => run::<SimdBackend, false>,
        (BackendKind::Simd | BackendKind::Auto, ChannelKind::Blake2sM31) => {
            run::<SimdBackend, true>
        }
        (BackendKind::Cpu, ChannelKind::Blake2s) => run::<CpuBackend, false>,
        (BackendKind::Cpu, ChannelKind::Blake2sM31) => run::<CpuBackend, true>,
    };
    match catch(|| run(statement, config, store_coefficients)) {
        Ok(result) => result,
        Err(message) => Err(format!("panic: {message}")),
    }
}

/// Commits the statement's tree 0 and returns its root.
pub fn preprocessed_root<const M31: bool>(statement: &Statement, config: &PcsConfig) -> Blake2sHash
where
    SimdBackend: BackendForChannel<Blake2sMerkleChannelGeneric<M31>>,
{
    let session = Session::<SimdBackend>::new(statement, config);
    let columns = preprocessed_trace::<SimdBackend>(&statement.air);
    let polynomials = SimdBackend::interpolate_columns(columns, &session.twiddles);
    let tree = CommitmentTreeProver::<SimdBackend, Blake2sMerkleChannelGeneric<M31>>::new(
        polynomials,
        config.fri_config.log_blowup_factor,
        &session.twiddles,
        false,
        config.lifting_log_size,
        &session.pool,
    );
    tree.commitment.root()
}
