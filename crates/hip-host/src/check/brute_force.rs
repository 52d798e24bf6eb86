//! Tests the machine against a second implementation of the order: a graph with an edge for every rule, and
//! its transitive closure.

use super::clock::Clock;
use super::machine::{Extent, Kind, Machine, StreamName};
use super::report::{Conflict, Report};
use super::shadow::Access;
use proptest::prelude::*;
use std::sync::Arc;

/// Number of bytes that the histories use.
const BYTES: usize = 8;

#[derive(Debug, Clone)]
enum Step {
    /// A thread submits to a stream, optionally ordered after an earlier operation.
    Submit {
        thread: u64,
        stream: usize,
        after: Option<usize>,
        write: bool,
        from: usize,
        to: usize,
    },
    Touch {
        thread: u64,
        write: bool,
        from: usize,
        to: usize,
    },
    WaitForStream {
        thread: u64,
        stream: usize,
    },
    WaitForDevice {
        thread: u64,
        device: usize,
    },
    WaitForOperation {
        thread: u64,
        operation: usize,
    },
}

/// Two devices, each with a null stream, two blocking streams and a non-blocking one.
fn stream(index: usize) -> StreamName {
    let kind = [Kind::Null, Kind::Blocking, Kind::Blocking, Kind::NonBlocking][index % 4];
    StreamName { id: index as u64, number: index as u64, device: index / 4, kind }
}

fn waits_for(behind: StreamName, before: StreamName) -> bool {
    let through_null =
        matches!((behind.kind, before.kind), (Kind::Null, Kind::Blocking) | (Kind::Blocking, Kind::Null));
    behind.id == before.id || behind.device == before.device && through_null
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let thread = || 0..2_u64;
    let range = || (0..BYTES, 1..4_usize).prop_map(|(from, len)| (from, (from + len).min(BYTES)));
    let submit = (thread(), 0..8_usize, proptest::option::of(0..30_usize), any::<bool>(), range());
    let step = prop_oneof![
        6 => submit.prop_map(|(thread, stream, after, write, (from, to))| {
            Step::Submit { thread, stream, after, write, from, to }
        }),
        2 => (thread(), any::<bool>(), range())
            .prop_map(|(thread, write, (from, to))| Step::Touch { thread, write, from, to }),
        1 => (thread(), 0..8_usize).prop_map(|(thread, stream)| Step::WaitForStream { thread, stream }),
        1 => (thread(), 0..2_usize).prop_map(|(thread, device)| Step::WaitForDevice { thread, device }),
        1 => (thread(), 0..30_usize)
            .prop_map(|(thread, operation)| Step::WaitForOperation { thread, operation }),
    ];
    proptest::collection::vec(step, 1..30)
}

/// A node of the graph.
#[derive(Clone, Copy)]
struct Node {
    /// The thread of a call; `None` for an operation.
    thread: Option<u64>,
    stream: Option<StreamName>,
    /// The range of bytes that it uses, and whether it writes them.
    uses: Option<(usize, usize, bool)>,
    step: usize,
}

/// All nodes, and for each the nodes that a rule orders directly before it.
#[derive(Default)]
struct Graph {
    nodes: Vec<Node>,
    before: Vec<Vec<usize>>,
}

impl Graph {
    fn add(&mut self, node: Node, before: Vec<usize>) -> usize {
        self.nodes.push(node);
        self.before.push(before);
        self.nodes.len() - 1
    }

    fn find(&self, wanted: impl Fn(&Node) -> bool) -> Vec<usize> {
        (0..self.nodes.len()).filter(|index| wanted(&self.nodes[*index])).collect()
    }

    /// Adds a call of a thread, after its earlier calls. The first call of a new thread comes after all calls
    /// so far.
    fn call(
        &mut self,
        thread: u64,
        step: usize,
        uses: Option<(usize, usize, bool)>,
        mut before: Vec<usize>,
    ) -> usize {
        let mut earlier = self.find(|node| node.thread == Some(thread));
        if earlier.is_empty() {
            earlier = self.find(|node| node.thread.is_some());
        }
        before.extend(earlier);
        self.add(Node { thread: Some(thread), stream: None, uses, step }, before)
    }

    /// For each node, which other nodes come before it.
    fn closure(&self) -> Vec<Vec<bool>> {
        let past = |before: &Vec<usize>| {
            let mut reached = vec![false; self.nodes.len()];
            let mut open = before.clone();
            while let Some(earlier) = open.pop() {
                if !std::mem::replace(&mut reached[earlier], true) {
                    open.extend(&self.before[earlier]);
                }
            }
            reached
        };
        self.before.iter().map(past).collect()
    }
}

/// The unordered pairs of steps, byte by byte: (byte, earlier step, later step).
fn races_by_graph(steps: &[Step]) -> Vec<(usize, usize, usize)> {
    let mut graph = Graph::default();
    let mut operations: Vec<usize> = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        match *step {
            Step::Submit { thread, stream: index, after, write, from, to } => {
                let name = stream(index);
                let call = graph.call(thread, number, None, Vec::new());
                let mut before =
                    graph.find(|node| node.stream.is_some_and(|earlier| waits_for(name, earlier)));
                before.push(call);
                before.extend(after.and_then(|after| operations.get(after)));
                let uses = Some((from, to, write));
                operations
                    .push(graph.add(Node { thread: None, stream: Some(name), uses, step: number }, before));
            }
            Step::Touch { thread, write, from, to } => {
                graph.call(thread, number, Some((from, to, write)), Vec::new());
            }
            Step::WaitForStream { thread, stream: index } => {
                let name = stream(index);
                let covered = |earlier: StreamName| {
                    let blocking = earlier.device == name.device && earlier.kind == Kind::Blocking;
                    earlier.id == name.id || name.kind == Kind::Null && blocking
                };
                let before = graph.find(|node| node.stream.is_some_and(covered));
                graph.call(thread, number, None, before);
            }
            Step::WaitForDevice { thread, device } => {
                let before = graph.find(|node| node.stream.is_some_and(|earlier| earlier.device == device));
                graph.call(thread, number, None, before);
            }
            Step::WaitForOperation { thread, operation } => {
                let before = operations.get(operation).copied().into_iter().collect();
                graph.call(thread, number, None, before);
            }
        }
    }
    let reached = graph.closure();
    let mut races = Vec::new();
    for (index, (late, past)) in graph.nodes.iter().zip(&reached).enumerate() {
        for (early, ordered) in graph.nodes[..index].iter().zip(past) {
            let (Some(a), Some(b)) = (early.uses, late.uses) else { continue };
            if !ordered && (a.2 || b.2) {
                let shared = a.0.max(b.0)..a.1.min(b.1);
                races.extend(shared.map(|byte| (byte, early.step, late.step)));
            }
        }
    }
    races
}

/// The machine's reports, in the same form.
fn races_by_machine(steps: &[Step]) -> Vec<(usize, usize, usize)> {
    let mut machine = Machine::default();
    let mut clocks: Vec<Arc<Clock>> = Vec::new();
    let mut races = Vec::new();
    let step_of = |what: &str| what.parse::<usize>().expect("operations are called by their step");
    let mut tell = |reports: Vec<Report>| {
        for report in reports {
            assert!(matches!(
                report.conflict,
                Conflict::WriteAfterWrite | Conflict::ReadAfterWrite | Conflict::WriteAfterRead
            ));
            let pair = (step_of(&report.first.what), step_of(&report.second.what));
            races.extend(report.extents.into_iter().flatten().map(|byte| (byte, pair.0, pair.1)));
        }
    };
    let uses = |write, from, to| {
        let access = if write { Access::Write } else { Access::Read };
        [Extent { range: from..to, access }]
    };
    for (number, step) in steps.iter().enumerate() {
        match *step {
            Step::Submit { thread, stream: index, after, write, from, to } => {
                let after: Vec<_> = after.and_then(|after| clocks.get(after).cloned()).into_iter().collect();
                let extents = uses(write, from, to);
                let (clock, reports) =
                    machine.submit(thread, stream(index), &after, number.to_string(), &extents);
                clocks.push(clock);
                tell(reports);
            }
            Step::Touch { thread, write, from, to } => {
                tell(machine.touch(thread, number.to_string(), &uses(write, from, to)));
            }
            Step::WaitForStream { thread, stream: index } => {
                let known = machine.of_stream(stream(index));
                machine.learn(thread, &known);
            }
            Step::WaitForDevice { thread, device } => {
                let known = machine.of_device(device);
                machine.learn(thread, &known);
            }
            Step::WaitForOperation { thread, operation } => {
                let known = clocks.get(operation).map(|clock| (**clock).clone()).unwrap_or_default();
                machine.learn(thread, &known);
            }
        }
    }
    races
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every report is a race, and the first race of every byte is reported. Later ones may be missing, since
    /// a write hides the uses before it.
    #[test]
    fn the_machine_agrees_with_the_graph(steps in steps()) {
        let (expected, found) = (races_by_graph(&steps), races_by_machine(&steps));
        for race in &found {
            prop_assert!(expected.contains(race), "{race:?} is no race");
        }
        for byte in 0..BYTES {
            let first = |races: &[(usize, usize, usize)]| {
                races.iter().filter(|race| race.0 == byte).map(|race| race.2).min()
            };
            prop_assert_eq!(first(&found), first(&expected), "byte {}", byte);
        }
    }
}
