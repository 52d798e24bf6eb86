//! What the random program does with graphs.

use super::Program;

impl Program {
    /// A graph copies a part of a buffer into another one, through memory of its own. It is launched a few times, on any stream,
    /// between fills of the two, and goes when others have come.
    pub(super) fn graph(&mut self) {
        let (stream, (to, from)) = (self.stream(), self.two());
        let (at, begin, len) = self.range(self.buffers[to].model.len(), self.buffers[from].model.len());
        let [target, source] = self.buffers.get_disjoint_mut([to, from]).unwrap();
        let graph = stream.capture(|stream| {
            let copy = stream.clone_of(&source.memory.slice(begin..begin + len)?)?;
            // Another piece of the graph's memory.
            drop(stream.clone_of(&copy)?);
            stream.copy(&copy, &mut target.memory.slice_mut(at..at + len)?)
        });
        let exec = graph.unwrap().instantiate().unwrap();
        for _ in 0..1 + self.random.below(3) {
            exec.launch(&self.stream()).unwrap();
            let [target, source] = self.buffers.get_disjoint_mut([to, from]).unwrap();
            target.model[at..at + len].copy_from_slice(&source.model[begin..begin + len]);
            let (stream, index) = (self.stream(), [to, from][self.random.below(2)]);
            if self.random.below(3) == 0 {
                stream.memset(&mut self.buffers[index].memory, 0).unwrap();
                self.buffers[index].model.fill(0.0);
            }
        }
        self.rest.graphs.push(exec);
        if self.rest.graphs.len() > 3 {
            self.rest.graphs.swap_remove(0);
        }
    }
}
