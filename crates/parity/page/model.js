// The page's data, the filters, and the cells of the grid. No part of the document is touched here.

const data = JSON.parse(document.getElementById("data").textContent);

/** Results in the order of their badness; of equal ones the error decides. */
const RANK = { pass: 0, absent: 0, known: 1, mismatch: 2, error: 2 };

const NO_RESULT = null;
const EQUAL = { status: "pass", worst: 0, ulps: 0, wrong: 0, histogram: [] };

/** A result as src/html/data.rs writes it: 0 for none, 1 for equal bits, or an object with null for infinity. */
function readResult(raw) {
  if (raw === 0) return NO_RESULT;
  if (raw === 1) return EQUAL;
  return {
    wrong: 0,
    histogram: [],
    ...raw,
    ulps: raw.ulps ?? 0,
    worst: raw.worst ?? Infinity,
  };
}

for (const entry of data.cases) {
  entry.results = entry.results.map(readResult);
  entry.lower = entry.id.toLowerCase();
}
for (const run of data.history) {
  run.byKey = new Map();
  for (const cell of run.cells) {
    cell.then ??= Infinity;
    cell.now ??= Infinity;
    run.byKey.set(`${cell.operation} ${cell.dtype} ${cell.column}`, cell);
  }
}

const isFailure = (result) => RANK[result.status] === 2;

/** Whether the first result is worse than the second. */
function isWorse(a, b) {
  if (RANK[a.status] !== RANK[b.status]) return RANK[a.status] > RANK[b.status];
  if (a.worst !== b.worst) return a.worst > b.worst;
  return a.ulps > b.ulps;
}

/** What the reader chose. `column` is a device's index, "each" for all side by side, or "worst" for all as one. */
const state = {
  text: "",
  family: "",
  dtype: "",
  column: "each",
  failures: false,
  sort: { by: "order", down: false },
};

/** A test of ids, with the meaning of --filter: a part of an id, or with * and ? the whole of it. */
function textFilter(text) {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return () => true;
  if (!/[*?]/.test(wanted)) return (entry) => entry.lower.includes(wanted);
  const escaped = wanted.replace(/[.+^${}()|[\]\\]/g, "\\$&");
  const pattern = new RegExp(`^${escaped.replace(/\*/g, ".*").replace(/\?/g, ".")}$`);
  return (entry) => entry.lower === wanted || pattern.test(entry.lower);
}

/** The indices of the data's columns that count. */
function chosenColumns() {
  return typeof state.column === "number" ? [state.column] : data.columns.map((_, index) => index);
}

function newCell(operation, dtype, column) {
  return {
    operation, dtype, column,
    cases: 0, results: 0, failures: 0, known: 0, absent: 0, wrong: 0, ulps: 0,
    /** The worst result, with its case and column. */
    worst: null,
    /** All its results as [case, column], in the order of the report. */
    all: [],
  };
}

function addResult(cell, entry, column, result, isNewCase) {
  cell.cases += isNewCase ? 1 : 0;
  cell.results += 1;
  cell.failures += isFailure(result) ? 1 : 0;
  cell.known += result.status === "known" ? 1 : 0;
  cell.absent += result.status === "absent" ? 1 : 0;
  cell.ulps = Math.max(cell.ulps, result.ulps);
  cell.all.push([entry, column]);
  const before = cell.worst;
  const replaces = !before || isWorse(result, before.result)
    || (before.result.status === "absent" && result.status === "pass" && !isWorse(before.result, result));
  if (replaces) cell.worst = { entry, column, result };
}

/** The rows of the grid under the present filters: one for each operation, with its cells by "dtype column". */
function makeRows() {
  const matches = textFilter(state.text);
  const columns = chosenColumns();
  const merged = state.column === "worst";
  const rows = new Map();
  const counts = { cases: 0, results: 0, failures: 0 };
  for (const entry of data.cases) {
    const [, family] = data.operations[entry.operation];
    if (state.family !== "" && state.family !== family) continue;
    if (state.dtype !== "" && state.dtype !== entry.dtype) continue;
    if (!matches(entry)) continue;
    let row = null;
    let used = new Set();
    for (const column of columns) {
      const result = entry.results[column];
      if (result === NO_RESULT || (state.failures && !isFailure(result))) continue;
      row ??= rows.get(entry.operation) ?? newRow(rows, entry.operation, family);
      const shownColumn = merged ? "worst" : column;
      const key = `${entry.dtype} ${shownColumn}`;
      let cell = row.cells.get(key);
      if (!cell) row.cells.set(key, (cell = newCell(entry.operation, entry.dtype, shownColumn)));
      addResult(cell, entry, column, result, !used.has(key));
      used.add(key);
      counts.results += 1;
      counts.failures += isFailure(result) ? 1 : 0;
    }
    if (row) {
      row.cases += 1;
      counts.cases += 1;
    }
  }
  const all = [...rows.values()];
  all.forEach(summarize);
  return { rows: all, counts };
}

function newRow(rows, operation, family) {
  const row = { operation, family, name: data.operations[operation][0], cases: 0, cells: new Map() };
  rows.set(operation, row);
  return row;
}

/** The row's worst cell, its failures and its greatest change. */
function summarize(row) {
  row.failures = 0;
  row.change = 0;
  row.ulps = 0;
  row.worst = null;
  for (const cell of row.cells.values()) {
    row.failures += cell.failures;
    row.ulps = Math.max(row.ulps, cell.ulps);
    if (!row.worst || isWorse(cell.worst.result, row.worst.worst.result)) row.worst = cell;
    const change = changeOf(cell);
    if (change && Math.abs(change.by) > Math.abs(row.change)) row.change = change.by;
  }
}

/** What earlier runs say of a cell: the oldest first, each the worst of the cell's columns. */
function pastOf(cell) {
  const columns = cell.column === "worst" ? data.columns.map((_, index) => index) : [cell.column];
  const past = [];
  for (const run of data.history) {
    const found = columns.map((column) => run.byKey.get(`${cell.operation} ${cell.dtype} ${column}`));
    const there = found.filter((one) => one);
    if (there.length === 0) continue;
    past.push({
      run,
      cases: Math.max(...there.map((one) => one.cases)),
      failures: there.reduce((sum, one) => sum + one.failures, 0),
      then: Math.max(...there.map((one) => one.then)),
      now: Math.max(...there.map((one) => one.now)),
    });
  }
  return past;
}

/** The change since the last run that has the cell, over the cases of both; null if it is too small to show. */
function changeOf(cell) {
  const last = pastOf(cell).at(-1);
  if (!last || last.then === last.now) return null;
  const by = last.now === Infinity ? 1e9 : last.then === Infinity ? -1e9 : last.now - last.then;
  return Math.abs(by) < 0.005 ? null : { by, ...last };
}

/** The columns of the grid: dtypes, each with one column for each shown device that has a cell. */
function makeColumns(rows) {
  const columns = state.column === "worst" ? ["worst"] : chosenColumns();
  const used = new Set();
  rows.forEach((row) => row.cells.forEach((_, key) => used.add(key)));
  const groups = [];
  data.dtypes.forEach((name, dtype) => {
    const here = columns.filter((column) => used.has(`${dtype} ${column}`));
    if (here.length > 0) groups.push({ name, dtype, columns: here });
  });
  return groups;
}

/** How a row compares by what the grid is sorted by: greater is worse. */
function sortValue(row, by) {
  const badness = (cell) => {
    if (!cell) return -1;
    const result = cell.worst.result;
    return RANK[result.status] * 1e12 + Math.min(result.worst, 1e11) + cell.failures;
  };
  if (by === "worst") return badness(row.worst);
  if (by === "failures") return row.failures;
  if (by === "ulps") return row.ulps;
  if (by === "cases") return row.cases;
  if (by === "change") return row.change;
  if (by.startsWith("cell ")) return badness(row.cells.get(by.slice("cell ".length)));
  return -row.operation;
}

function sortRows(rows) {
  const { by, down } = state.sort;
  const sign = down ? -1 : 1;
  if (by === "name") rows.sort((a, b) => sign * a.name.localeCompare(b.name));
  else if (by === "order") rows.sort((a, b) => a.operation - b.operation);
  else rows.sort((a, b) => sign * (sortValue(a, by) - sortValue(b, by)) || a.operation - b.operation);
}
