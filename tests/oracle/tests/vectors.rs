//! Known answers for the wide Fibonacci statements, and round trips through
//! the proof file. The vectors were obtained independently of this crate.

use stwo_oracle::cli::parse_config;
use stwo_oracle::guard::silence_panics;
use stwo_oracle::proof_file;
use stwo_oracle::prover::{prove_to_json, BackendKind};
use stwo_oracle::statement::{
    Air, ChannelKind, PairParameters, PlainParameters, SeqParameters, Statement,
};
use stwo_oracle::transcript::replay_text;
use stwo_oracle::verifier::verify_text;

const EMPTY_ROOT: &str = "69217a3079908094e11121d042354a7c1f55b6482ca1a51e1b250dfd1ed0eef9";
const EMPTY_ROOT_M31: &str = "69217a307a908014e211215042354a7c1f55b6482ca1a51e1c250d7d1fd0ee79";

fn statement(air: Air, channel: ChannelKind) -> Statement {
    Statement {
        air,
        channel,
        mix_config: false,
    }
}

fn plain(log_n_rows: u32, sequence_len: u32) -> Air {
    Air::Plain(PlainParameters {
        log_n_rows,
        sequence_len,
    })
}

fn pair(first: (u32, u32), second: (u32, u32), second_enabled: u32) -> Air {
    Air::Pair(PairParameters {
        log_n_rows: first.0,
        sequence_len: first.1,
        second_log_n_rows: second.0,
        second_sequence_len: second.1,
        second_enabled,
    })
}

fn seq(log_n_rows: u32, sequence_len: u32, unused_log_n_rows: u32) -> Air {
    Air::Seq(SeqParameters {
        log_n_rows,
        sequence_len,
        unused_log_n_rows,
    })
}

fn proof_file(statement: &Statement, config: &str, backend: BackendKind) -> String {
    let config = parse_config(config).unwrap();
    let proof = prove_to_json(statement, &config, backend, true).unwrap();
    proof_file::write(statement, &config, &proof)
}

struct Expected {
    tree0: &'static str,
    tree1: &'static str,
    alpha: &'static str,
    composition: &'static str,
    n_samples: &'static str,
    after_samples: &'static str,
    nonce: &'static str,
    last: &'static str,
}

fn check_vector(statement: &Statement, expected: &Expected) {
    for backend in [BackendKind::Auto, BackendKind::Simd, BackendKind::Cpu] {
        let file = proof_file(statement, "fast", backend);
        let verdict = verify_text(&file);
        assert!(verdict.accepted, "{}", verdict.reason);

        let replay = replay_text(&file).unwrap();
        let line = |start: &str| {
            replay
                .lines()
                .find_map(|l| l.strip_prefix(start)?.strip_prefix(' '))
                .unwrap_or_else(|| panic!("no line {start}"))
        };
        assert_eq!(line("value tree0_root"), expected.tree0);
        assert_eq!(line("value tree1_root"), expected.tree1);
        assert_eq!(line("value alpha"), expected.alpha);
        assert_eq!(line("value composition_root"), expected.composition);
        assert_eq!(line("value n_sampled_values"), expected.n_samples);
        assert_eq!(line("step sampled_values"), expected.after_samples);
        assert_eq!(line("value pow_nonce"), expected.nonce);
        assert_eq!(line("step pow_nonce"), expected.last);
    }
}

#[test]
fn plain_vector() {
    check_vector(
        &statement(plain(4, 100), ChannelKind::Blake2s),
        &Expected {
            tree0: EMPTY_ROOT,
            tree1: "e1e421e8674047a1cd934b498ff210361a7389f90f3edd112bdc6eff73fe5041",
            alpha: "1294978707 545043779 572046205 565151910",
            composition: "969855217a50793f286c837fa392440fb7c3e3ea70606069070d3c0d6bb167d1",
            n_samples: "108",
            after_samples: "b64716452e6d5e9a5128edc966b795a7d70164a449d4041aead3e3a573fd3ab3",
            nonce: "365",
            last: "a12813cdde81a07a13e00941dee5675dc3a5079e96b6e455bb51e69214af0ae7",
        },
    );
}

#[test]
fn plain_m31_vector() {
    check_vector(
        &statement(plain(4, 100), ChannelKind::Blake2sM31),
        &Expected {
            tree0: EMPTY_ROOT_M31,
            tree1: "c97a2937ecc5b431dc21a66fb4a1dc0c7773971a55ed5619fdcc3e407285851a",
            alpha: "522213065 1474045098 539710699 1948821193",
            composition: "d02dd233a5332c73e1e4fb0219043b6a0b86925350d66b51a388c4310a70d31e",
            n_samples: "108",
            after_samples: "c6d8dc6d2d430f41f83cc2686995ee576b775b24ee8cd004a2a4152ae14b8e6b",
            nonce: "229",
            last: "d6893b1ce04414546c25dd2b3c96f03312fd1065b970f1056fba3f6f2bebde75",
        },
    );
}

#[test]
fn lifted_pair_vector() {
    check_vector(
        &statement(pair((9, 4), (3, 5), 1), ChannelKind::Blake2s),
        &Expected {
            tree0: EMPTY_ROOT,
            tree1: "1130e3fd30236d939cb98dd687b01a89cb6c619e3b324fca8f2b544710230af6",
            alpha: "1723953718 1144964474 771529997 404509690",
            composition: "7439c66d1225ae50147905d8adf6451b5af98506ff6371385914c1590322444a",
            n_samples: "17",
            after_samples: "3e57b78df8a3194d398fe100a2f781a8edca119931b27f62eb6a5931d56b2ca0",
            nonce: "248",
            last: "3b0c08ed66c558f77e2f32dc543f09dd3d4fbd10665a8c547cf8245a6bfc07ac",
        },
    );
}

#[test]
fn seq_vector() {
    check_vector(
        &statement(seq(4, 3, 5), ChannelKind::Blake2s),
        &Expected {
            tree0: "297b9fb6ab85dec2a0cce0fa36b5132b57e21e71d6daa73d3e7b41759bc5fc37",
            tree1: "68dee407156f24e315feb6d1bc0f5a92bfa68e2fad454a6086cd4e7a22488437",
            alpha: "957202667 768094542 755655890 820088509",
            composition: "4cf06cb030209d08d17dbc1bc856a85aa43ddf3e4399eea89ca447cf1d9e3671",
            n_samples: "12",
            after_samples: "65ce63da575fa0f7bec2bc0ba92d4eb1bf638ca4a23555ca32955e25dfab5964",
            nonce: "360",
            last: "74deb65fd8b15f5a8d6ba452763705f6ee1e43ff6d69e37959341f29a16c4302",
        },
    );
}

#[test]
fn backends_and_coefficient_storage_agree() {
    let config = parse_config("pow=4,blowup=2,queries=9,last=1,fold=2").unwrap();
    for air in [
        plain(1, 1),
        plain(6, 9),
        seq(5, 6, 7),
        pair((6, 4), (4, 5), 1),
    ] {
        for channel in [ChannelKind::Blake2s, ChannelKind::Blake2sM31] {
            let mut statement = statement(air, channel);
            statement.mix_config = true;
            let prove = |backend, store| prove_to_json(&statement, &config, backend, store);
            let reference = prove(BackendKind::Cpu, true);
            assert_eq!(prove(BackendKind::Simd, true), reference);
            assert_eq!(prove(BackendKind::Simd, false), reference);
        }
    }
}

#[test]
fn every_small_pair_is_proved() {
    for first in 1..=5 {
        for second in 1..=5 {
            for enabled in [0, 1] {
                let air = pair((first, 4), (second, 5), enabled);
                let statement = statement(air, ChannelKind::Blake2s);
                let verdict = verify_text(&proof_file(&statement, "fast", BackendKind::Auto));
                assert!(verdict.accepted, "{air:?}: {}", verdict.reason);
            }
        }
    }
}

#[test]
fn lifting_needs_a_preprocessed_column() {
    for lift in 9..=12 {
        let config = format!("pow=4,lift={lift}");
        let file = |air| {
            proof_file(
                &statement(air, ChannelKind::Blake2s),
                &config,
                BackendKind::Auto,
            )
        };
        assert!(verify_text(&file(seq(8, 5, 0))).accepted);
        assert_eq!(
            verify_text(&file(plain(8, 5))).reason,
            "Witness is too short."
        );
    }
}

#[test]
fn mixing_the_config_matters() {
    let mut statement = statement(plain(5, 8), ChannelKind::Blake2s);
    statement.mix_config = true;
    let file = proof_file(&statement, "fast", BackendKind::Auto);
    assert!(verify_text(&file).accepted);
    let other = file.replace("\"mix_config\":true", "\"mix_config\":false");
    assert!(!verify_text(&other).accepted);
}

#[test]
fn hostile_files_are_rejected_without_harm() {
    silence_panics();
    let statement = statement(plain(5, 8), ChannelKind::Blake2s);
    let file = proof_file(&statement, "fast", BackendKind::Auto);
    let changed = |from: &str, to: &str| {
        let text = file.replace(from, to);
        assert_ne!(text, file, "{from} not found");
        verify_text(&text)
    };

    assert!(changed("\"n_queries\":3", "\"n_queries\":0")
        .reason
        .starts_with("config: n_queries"));
    assert!(changed("\"log_size\":0", "\"log_size\":4294967295")
        .reason
        .starts_with("last_layer_poly.log_size"));
    assert!(
        changed("\"log_blowup_factor\":1", "\"log_blowup_factor\":0")
            .reason
            .starts_with("config: log_blowup_factor")
    );
    assert!(changed("\"log_n_rows\":5", "\"log_n_rows\":4000000000")
        .reason
        .starts_with("statement: log_n_rows"));
    assert!(changed("\"queried_values\":[[],[[", "\"queried_values\":[[],[[1,").panicked);
    assert!(changed("stwo_cuda_proof_v1", "other").unparsable);
    assert!(verify_text(&"[".repeat(1 << 20)).unparsable);
    assert!(verify_text("").unparsable);

    // Only the configuration inside the proof differs.
    let at = file.rfind("\"pow_bits\":10").unwrap();
    let mut inner = file.clone();
    inner.replace_range(at..at + 13, "\"pow_bits\":11");
    assert_eq!(
        verify_text(&inner).reason,
        "proof.config differs from config"
    );
}

/// What the crate lets pass is part of what a second verifier is compared
/// with, so changes here must not go unnoticed.
#[test]
fn tolerated_by_the_crate() {
    let file = proof_file(
        &statement(plain(5, 8), ChannelKind::Blake2s),
        "fast",
        BackendKind::Auto,
    );
    let empty = "\"decommitments\":[{\"hash_witness\":[]}";
    let hash = vec!["7"; 32].join(",");
    let padded = file.replace(
        empty,
        &format!("\"decommitments\":[{{\"hash_witness\":[[{hash}]]}}"),
    );
    assert_ne!(padded, file);
    let verdict = verify_text(&padded);
    assert!(verdict.accepted, "{}", verdict.reason);
    assert_ne!(
        verdict.canonical_sha256,
        verify_text(&file).canonical_sha256
    );

    let file = proof_file(
        &statement(pair((6, 4), (4, 5), 1), ChannelKind::Blake2s),
        "fast",
        BackendKind::Auto,
    );
    for (size, accepted) in [(1, true), (3, true), (5, true), (6, false), (7, false)] {
        let other = file.replace(
            "\"second_log_n_rows\":4",
            &format!("\"second_log_n_rows\":{size}"),
        );
        assert_eq!(verify_text(&other).accepted, accepted, "size {size}");
    }
}
