//! Replays the verifier's side of the transcript over a finished proof and
//! lists every intermediate digest and challenge, to find where two provers
//! part ways.

use std::fmt::Write;

use num_traits::One;
use stwo::core::channel::{Blake2sChannelGeneric, Channel, MerkleChannel};
use stwo::core::circle::CirclePoint;
use stwo::core::fields::qm31::SecureField;
use stwo::core::fields::{Field, FieldExpOps};
use stwo::core::pcs::PcsConfig;
use stwo::core::queries::{draw_queries, Queries};
use stwo::core::vcs::blake2_hash::Blake2sHash;
use stwo::core::vcs_lifted::blake2_merkle::Blake2sMerkleChannelGeneric;

use crate::guard::catch;
use crate::proof_file::{hex, Proof, ProofFile};
use crate::statement::{check, ChannelKind, Statement, MAX_DOMAIN_LOG_SIZE};

/// Lines `step NAME DIGEST` give the channel digest after an operation, lines
/// `value NAME ...` a root read from the proof or a challenge drawn.
pub fn replay_text(text: &str) -> Result<String, String> {
    let file = ProofFile::parse(text).map_err(|e| format!("parse: {e}"))?;
    check(&file.statement, &file.config)?;
    let replayed = match file.statement.channel {
        ChannelKind::Blake2s => replay_file::<false>(&file),
        ChannelKind::Blake2sM31 => replay_file::<true>(&file),
    };
    replayed.map_err(|e| format!("parse: {e}"))
}

fn replay_file<const M31: bool>(file: &ProofFile<'_>) -> Result<String, String> {
    let proof = file.proof::<M31>()?;
    if proof.commitments.len() != 3 {
        return Err("expected 3 commitments".into());
    }
    catch(|| replay(&file.statement, &file.config, &proof)).map_err(|m| format!("panic: {m}"))
}

struct Log<const M31: bool> {
    channel: Blake2sChannelGeneric<M31>,
    text: String,
}

impl<const M31: bool> Log<M31> {
    fn step(&mut self, name: &str) {
        let digest = hex(&self.channel.digest().0);
        self.line("step", name, &digest);
    }

    fn value(&mut self, name: &str, value: &str) {
        self.line("value", name, value);
    }

    fn line(&mut self, kind: &str, name: &str, value: &str) {
        writeln!(self.text, "{kind} {name} {value}").expect("writing to a string");
    }

    fn root(&mut self, name: &str, root: Blake2sHash) {
        self.value(name, &hex(&root.0));
        Blake2sMerkleChannelGeneric::<M31>::mix_root(&mut self.channel, root);
        self.step(name);
    }

    fn draw(&mut self, name: &str) -> SecureField {
        let felt = self.channel.draw_secure_felt();
        self.value(name, &coordinates(felt));
        felt
    }

    fn numbers(&mut self, name: &str, numbers: &[usize]) {
        let text: Vec<_> = numbers.iter().map(usize::to_string).collect();
        self.value(name, &text.join(" "));
    }
}

fn coordinates(felt: SecureField) -> String {
    felt.to_m31_array().map(|c| c.0.to_string()).join(" ")
}

fn replay<const M31: bool>(
    statement: &Statement,
    config: &PcsConfig,
    proof: &Proof<M31>,
) -> String {
    let mut log = Log::<M31> {
        channel: Default::default(),
        text: String::new(),
    };

    if statement.mix_config {
        config.mix_into(&mut log.channel);
        log.step("mix_config");
    }
    log.root("tree0_root", proof.commitments[0]);
    log.root("tree1_root", proof.commitments[1]);
    log.draw("alpha");
    log.root("composition_root", proof.commitments[2]);
    let point = oods_point(log.draw("oods_t"));
    log.value("oods_point_x", &coordinates(point.x));
    log.value("oods_point_y", &coordinates(point.y));

    let samples = proof.sampled_values.clone().flatten_cols();
    log.value("n_sampled_values", &samples.len().to_string());
    log.channel.mix_felts(&samples);
    log.step("sampled_values");
    log.draw("quotient_coefficient");

    let fri = &proof.fri_proof;
    log.root("fri_first_layer_root", fri.first_layer.commitment);
    log.draw("fri_first_layer_alpha");
    for (i, layer) in fri.inner_layers.iter().enumerate() {
        log.root(&format!("fri_inner_layer_{i}_root"), layer.commitment);
        log.draw(&format!("fri_inner_layer_{i}_alpha"));
    }
    for (i, &coefficient) in fri.last_layer_poly.iter().enumerate() {
        log.value(
            &format!("last_layer_coefficient_{i}"),
            &coordinates(coefficient),
        );
    }
    log.channel.mix_felts(&fri.last_layer_poly);
    log.step("last_layer");

    let nonce = proof.proof_of_work;
    let enough = log.channel.verify_pow_nonce(config.pow_bits, nonce);
    log.value("pow_nonce", &nonce.to_string());
    log.value("pow_valid", &enough.to_string());
    log.channel.mix_u64(nonce);
    log.step("pow_nonce");

    let domain = lifted_log_size(statement, config).min(MAX_DOMAIN_LOG_SIZE);
    log.value("query_domain_log_size", &domain.to_string());
    let drawn = draw_queries(&mut log.channel, domain, config.fri_config.n_queries);
    log.numbers("query_positions_drawn", &drawn);
    log.numbers("query_positions", &Queries::new(&drawn, domain).positions);
    log.text
}

/// Rational parametrization of the circle, applied to the drawn parameter. The
/// crate draws and maps in one call; the parameter itself is worth seeing.
fn oods_point(t: SecureField) -> CirclePoint<SecureField> {
    let t_squared = t.square();
    let inverse = (SecureField::one() + t_squared).inverse();
    CirclePoint {
        x: (SecureField::one() - t_squared) * inverse,
        y: t.double() * inverse,
    }
}

/// Log size of the domain queries are drawn from. Preprocessed columns do not
/// count: their tree may be taller than the rest.
fn lifted_log_size(statement: &Statement, config: &PcsConfig) -> u32 {
    let largest = statement.air.trace_log_sizes().into_iter().max();
    config
        .lifting_log_size
        .unwrap_or(largest.unwrap_or(1) + config.fri_config.log_blowup_factor)
}
