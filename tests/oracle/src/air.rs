//! The wide Fibonacci family: constraints, components and traces.

use rayon::prelude::*;
use stwo::core::air::Component;
use stwo::core::fields::m31::BaseField;
use stwo::core::fields::FieldExpOps;
use stwo::core::poly::circle::CanonicCoset;
use stwo::prover::backend::simd::column::BaseColumn;
use stwo::prover::backend::simd::m31::{PackedM31, LOG_N_LANES, N_LANES};
use stwo::prover::backend::simd::SimdBackend;
use stwo::prover::backend::{Backend, Col, Column, CpuBackend};
use stwo::prover::poly::circle::CircleEvaluation;
use stwo::prover::poly::BitReversedOrder;
use stwo::prover::ComponentProver;
use stwo_constraint_framework::preprocessed_columns::PreProcessedColumnId;
use stwo_constraint_framework::{
    EvalAtRow, FrameworkComponent, FrameworkEval, TraceLocationAllocator,
};

use crate::statement::Air;

const SEQ: &str = "seq";
const LARGE_UNUSED: &str = "large_unused";

/// Packed rows handled at a time: three live column pieces of this length stay
/// well inside a first-level cache.
const BLOCK: usize = 64;

/// Each row runs a_k = a_{k-2}^2 + a_{k-1}^2, plus seq^2 in the variant with a
/// preprocessed column.
pub struct WideFibonacci {
    pub log_n_rows: u32,
    pub sequence_len: u32,
    pub with_seq: bool,
}

impl FrameworkEval for WideFibonacci {
    fn log_size(&self) -> u32 {
        self.log_n_rows
    }

    fn max_constraint_log_degree_bound(&self) -> u32 {
        self.log_n_rows + 1
    }

    fn evaluate<E: EvalAtRow>(&self, mut eval: E) -> E {
        let first = eval.next_trace_mask();
        if self.sequence_len < 2 {
            return eval;
        }
        let second = eval.next_trace_mask();
        let seq_squared = self.with_seq.then(|| {
            eval.get_preprocessed_column(PreProcessedColumnId { id: SEQ.into() })
                .square()
        });
        // Every value is squared in two consecutive constraints; keep it.
        let mut older = first.square();
        let mut newer = second.square();
        for k in 2..self.sequence_len {
            let next = eval.next_trace_mask();
            let mut expected = older + newer.clone();
            if let Some(seq_squared) = &seq_squared {
                expected += seq_squared.clone();
            }
            eval.add_constraint(next.clone() - expected);
            older = newer;
            newer = if k + 1 < self.sequence_len {
                next.square()
            } else {
                next
            };
        }
        eval
    }
}

/// The components of a statement, in proof order.
pub struct Components(Vec<FrameworkComponent<WideFibonacci>>);

impl Components {
    pub fn new(air: &Air) -> Self {
        let component = |log_n_rows, sequence_len, with_seq| WideFibonacci {
            log_n_rows,
            sequence_len,
            with_seq,
        };
        let no_sum = Default::default();
        Self(match air {
            Air::Plain(p) => vec![FrameworkComponent::new(
                &mut TraceLocationAllocator::default(),
                component(p.log_n_rows, p.sequence_len, false),
                no_sum,
            )],
            Air::Pair(p) => {
                let allocator = &mut TraceLocationAllocator::default();
                let first = component(p.log_n_rows, p.sequence_len, false);
                let second = component(p.second_log_n_rows, p.second_sequence_len, false);
                vec![
                    FrameworkComponent::new(allocator, first, no_sum),
                    FrameworkComponent::new_ex(allocator, second, no_sum, p.second_enabled == 0),
                ]
            }
            Air::Seq(p) => {
                let ids: Vec<_> = [SEQ, LARGE_UNUSED]
                    .into_iter()
                    .take(air.preprocessed_log_sizes().len())
                    .map(|id| PreProcessedColumnId { id: id.into() })
                    .collect();
                vec![FrameworkComponent::new(
                    &mut TraceLocationAllocator::new_with_preprocessed_columns(&ids),
                    component(p.log_n_rows, p.sequence_len, true),
                    no_sum,
                )]
            }
        })
    }

    pub fn for_verifier(&self) -> Vec<&dyn Component> {
        self.0.iter().map(|c| c as &dyn Component).collect()
    }

    pub fn for_prover<B: TraceBackend>(&self) -> Vec<&dyn ComponentProver<B>> {
        self.0.iter().map(B::as_component_prover).collect()
    }
}

/// A backend our traces and components can be handed to.
pub trait TraceBackend: Backend {
    fn column(column: BaseColumn) -> Col<Self, BaseField>;

    fn as_component_prover(
        component: &FrameworkComponent<WideFibonacci>,
    ) -> &dyn ComponentProver<Self>;
}

impl TraceBackend for SimdBackend {
    fn column(column: BaseColumn) -> Col<Self, BaseField> {
        column
    }

    fn as_component_prover(
        component: &FrameworkComponent<WideFibonacci>,
    ) -> &dyn ComponentProver<Self> {
        component
    }
}

impl TraceBackend for CpuBackend {
    fn column(column: BaseColumn) -> Col<Self, BaseField> {
        column.to_cpu()
    }

    fn as_component_prover(
        component: &FrameworkComponent<WideFibonacci>,
    ) -> &dyn ComponentProver<Self> {
        component
    }
}

pub type Evaluations<B> = Vec<CircleEvaluation<B, BaseField, BitReversedOrder>>;

/// The preprocessed columns (tree 0).
pub fn preprocessed_trace<B: TraceBackend>(air: &Air) -> Evaluations<B> {
    let Air::Seq(p) = air else { return vec![] };
    let mut columns = vec![index_column(p.log_n_rows)];
    if p.unused_log_n_rows > 0 {
        columns.push(BaseColumn::zeros(1 << p.unused_log_n_rows));
    }
    into_evaluations(columns)
}

/// The trace columns (tree 1).
pub fn trace<B: TraceBackend>(air: &Air) -> Evaluations<B> {
    into_evaluations(match air {
        Air::Plain(p) => sequence_columns(p.log_n_rows, p.sequence_len, false),
        Air::Seq(p) => sequence_columns(p.log_n_rows, p.sequence_len, true),
        Air::Pair(p) => {
            let mut columns = sequence_columns(p.log_n_rows, p.sequence_len, false);
            if p.second_enabled == 0 {
                columns.extend((0..p.second_sequence_len).map(|_| BaseColumn::zeros(2)));
            } else {
                columns.extend(sequence_columns(
                    p.second_log_n_rows,
                    p.second_sequence_len,
                    false,
                ));
            }
            columns
        }
    })
}

fn into_evaluations<B: TraceBackend>(columns: Vec<BaseColumn>) -> Evaluations<B> {
    columns
        .into_iter()
        .map(|column| {
            let domain = CanonicCoset::new(column.length.ilog2()).circle_domain();
            CircleEvaluation::new(domain, B::column(column))
        })
        .collect()
}

fn index_column(log_n_rows: u32) -> BaseColumn {
    (0..1 << log_n_rows).map(BaseField::from).collect()
}

/// Row r is 1, r, ... and is stored at index r.
fn sequence_columns(log_n_rows: u32, sequence_len: u32, with_seq: bool) -> Vec<BaseColumn> {
    let length = 1usize << log_n_rows;
    if log_n_rows < LOG_N_LANES {
        return short_sequence_columns(length, sequence_len, with_seq);
    }

    // SAFETY: every packed element is written below before any is read.
    let mut columns: Vec<BaseColumn> = (0..sequence_len)
        .map(|_| unsafe { BaseColumn::uninitialized(length) })
        .collect();
    let n_blocks = (length / N_LANES).div_ceil(BLOCK);
    let mut blocks: Vec<Vec<&mut [PackedM31]>> = (0..n_blocks)
        .map(|_| Vec::with_capacity(columns.len()))
        .collect();
    for column in &mut columns {
        for (block, piece) in blocks.iter_mut().zip(column.data.chunks_mut(BLOCK)) {
            block.push(piece);
        }
    }

    blocks
        .into_par_iter()
        .enumerate()
        .for_each(|(index, mut block)| {
            let first_row = (index * BLOCK * N_LANES) as u32;
            fill_block(first_row, &mut block, with_seq);
        });
    columns
}

/// Column by column within a block, so that each write runs along memory.
fn fill_block(first_row: u32, block: &mut [&mut [PackedM31]], with_seq: bool) {
    let n_packed = block[0].len();
    let lanes = PackedM31::from_array(std::array::from_fn(|lane| {
        BaseField::from_u32_unchecked(lane as u32)
    }));
    let row = |i: usize| lanes + BaseField::from(first_row + (i * N_LANES) as u32);

    let mut seq_squared = [PackedM31::broadcast(BaseField::from(0)); BLOCK];
    let mut older = [PackedM31::broadcast(BaseField::from(1)); BLOCK];
    let mut newer = older;
    for i in 0..n_packed {
        let row = row(i);
        newer[i] = row * row;
        if with_seq {
            seq_squared[i] = newer[i];
        }
    }

    for (k, piece) in block.iter_mut().enumerate() {
        match k {
            0 => piece.fill(PackedM31::broadcast(BaseField::from(1))),
            1 => (0..n_packed).for_each(|i| piece[i] = row(i)),
            _ => {
                for i in 0..n_packed {
                    let value = older[i] + newer[i] + seq_squared[i];
                    piece[i] = value;
                    older[i] = newer[i];
                    newer[i] = value * value;
                }
            }
        }
    }
}

fn short_sequence_columns(length: usize, sequence_len: u32, with_seq: bool) -> Vec<BaseColumn> {
    let mut columns: Vec<Vec<BaseField>> = Vec::new();
    for k in 0..sequence_len as usize {
        let column = (0..length)
            .map(|r| {
                let row = BaseField::from(r);
                match k {
                    0 => BaseField::from(1),
                    1 => row,
                    _ => {
                        let sum = columns[k - 2][r].square() + columns[k - 1][r].square();
                        if with_seq {
                            sum + row.square()
                        } else {
                            sum
                        }
                    }
                }
            })
            .collect();
        columns.push(column);
    }
    columns.iter().map(|c| BaseColumn::from_cpu(c)).collect()
}
