//! Recurrent cells and layers, forward pass.

/// The type of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell {
    /// `relu(W x + R h + b)`.
    Relu,
    /// `tanh(W x + R h + b)`.
    Tanh,
    /// Gates in the order input, forget, output, new.
    Lstm,
    /// Gates in the order update, reset, new. The reset gate multiplies the matrix product.
    Gru,
}

/// The parameters of one layer in one direction: per gate a matrix (rows are outputs) and a bias.
#[derive(Debug, Clone)]
pub struct Params {
    /// For the input.
    pub w: Vec<Vec<f64>>,
    /// For the state.
    pub r: Vec<Vec<f64>>,
    /// Biases for the input.
    pub bw: Vec<Vec<f64>>,
    /// Biases for the state.
    pub br: Vec<Vec<f64>>,
}

/// The state of a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// The hidden state.
    pub h: Vec<f64>,
    /// The cell state, which only LSTM has.
    pub c: Vec<f64>,
}

fn affine(matrix: &[f64], bias: &[f64], x: &[f64]) -> Vec<f64> {
    let row = |(row, bias): (&[f64], &f64)| row.iter().zip(x).map(|(m, x)| m * x).sum::<f64>() + bias;
    matrix.chunks_exact(x.len()).zip(bias).map(row).collect()
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// One step of a sequence.
pub fn step(cell: Cell, params: &Params, x: &[f64], state: &State) -> State {
    let from_x = |gate: usize| affine(&params.w[gate], &params.bw[gate], x);
    let from_h = |gate: usize| affine(&params.r[gate], &params.br[gate], &state.h);
    let both = |gate: usize| from_x(gate).iter().zip(from_h(gate)).map(|(x, h)| x + h).collect::<Vec<_>>();
    match cell {
        Cell::Relu => State { h: both(0).into_iter().map(|x| x.max(0.0)).collect(), c: state.c.clone() },
        Cell::Tanh => State { h: both(0).into_iter().map(f64::tanh).collect(), c: state.c.clone() },
        Cell::Lstm => {
            let (i, f, o, g) = (both(0), both(1), both(2), both(3));
            let c: Vec<f64> = (0..state.c.len())
                .map(|at| sigmoid(f[at]) * state.c[at] + sigmoid(i[at]) * g[at].tanh())
                .collect();
            State { h: c.iter().zip(o).map(|(c, o)| sigmoid(o) * c.tanh()).collect(), c }
        }
        Cell::Gru => {
            let (z, r) = (both(0), both(1));
            let (nx, nh) = (from_x(2), from_h(2));
            let new = |at: usize| (nx[at] + sigmoid(r[at]) * nh[at]).tanh();
            let h = |at: usize| (1.0 - sigmoid(z[at])) * new(at) + sigmoid(z[at]) * state.h[at];
            State { h: (0..state.h.len()).map(h).collect(), c: state.c.clone() }
        }
    }
}

/// All steps of one sequence, forwards or backwards. Returns the outputs in the order of the inputs, and the last
/// state.
pub fn run(
    cell: Cell,
    params: &Params,
    inputs: &[Vec<f64>],
    first: &State,
    reverse: bool,
) -> (Vec<Vec<f64>>, State) {
    let mut outputs = vec![Vec::new(); inputs.len()];
    let mut state = first.clone();
    let mut take = |at: usize| {
        state = step(cell, params, &inputs[at], &state);
        outputs[at] = state.h.clone();
    };
    if reverse {
        (0..inputs.len()).rev().for_each(&mut take)
    } else {
        (0..inputs.len()).for_each(&mut take)
    }
    (outputs, state)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(gates: usize, w: f64, r: f64) -> Params {
        let of = |value: f64| vec![vec![value]; gates];
        Params { w: of(w), r: of(r), bw: of(0.0), br: of(0.0) }
    }

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-12, "{a} and {b}");
    }

    #[test]
    fn cells_by_hand() {
        let state = State { h: vec![0.5], c: vec![2.0] };
        let relu = step(Cell::Relu, &params(1, 1.0, -2.0), &[3.0], &state);
        close(relu.h[0], 2.0);
        close(step(Cell::Relu, &params(1, -1.0, -2.0), &[3.0], &state).h[0], 0.0);
        close(step(Cell::Tanh, &params(1, 1.0, -2.0), &[3.0], &state).h[0], 2.0_f64.tanh());
        // All gates see 0: sigmoid is ½ and tanh is 0.
        let lstm = step(Cell::Lstm, &params(4, 0.0, 0.0), &[3.0], &state);
        close(lstm.c[0], 1.0);
        close(lstm.h[0], 0.5 * 1.0_f64.tanh());
        let gru = step(Cell::Gru, &params(3, 0.0, 0.0), &[3.0], &state);
        close(gru.h[0], 0.25);
        // Update gate closed, reset gate at ½: tanh(w x + ½ r h).
        let mut gates = params(3, 0.0, 0.0);
        gates.bw[0] = vec![-1e9];
        gates.w[2] = vec![1.0];
        gates.r[2] = vec![4.0];
        close(step(Cell::Gru, &gates, &[3.0], &state).h[0], 4.0_f64.tanh());
    }

    #[test]
    fn directions() {
        let first = State { h: vec![0.0], c: vec![0.0] };
        let inputs = [vec![1.0], vec![2.0]];
        let (outputs, last) = run(Cell::Relu, &params(1, 1.0, 10.0), &inputs, &first, false);
        assert_eq!((outputs, last.h), (vec![vec![1.0], vec![12.0]], vec![12.0]));
        let (outputs, last) = run(Cell::Relu, &params(1, 1.0, 10.0), &inputs, &first, true);
        assert_eq!((outputs, last.h), (vec![vec![21.0], vec![2.0]], vec![21.0]));
    }
}
