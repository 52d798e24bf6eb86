// Numbers and elements: small things that every part of the page is made of.

/** An element. Properties that begin with "on" are handlers, others attributes. Texts are never read as HTML. */
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

const byId = (id) => document.getElementById(id);

const plural = (count, one, many = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

/** A fraction of what is allowed: two decimals if they say something. */
function fraction(x) {
  if (x === Infinity) return "∞";
  if (x >= 1000) return x.toExponential(0).replace("+", "");
  if (x >= 10) return x.toFixed(0);
  if (x > 0 && x < 0.005) return "<.01";
  return x.toFixed(2);
}

/** An error or bound: three digits. */
function digits(x) {
  if (x === null || x === undefined) return "none";
  if (x === Infinity) return "∞";
  if (x === 0) return "0";
  const size = Math.abs(x);
  return size >= 1e-3 && size < 1e6 ? String(Number(x.toPrecision(3))) : x.toExponential(2).replace("+", "");
}

/** Quotes a word for a shell. */
const quoted = (word) => `'${word.replaceAll("'", "'\\''")}'`;

/** The name of a column, or of all as one. */
const columnName = (column) => (column === "worst" ? "all devices" : data.columns[column].name);

/** The words for a cell's state, and the class that colours it. */
function lookOf(cell) {
  if (!cell) return { kind: "none", text: "", words: "no cases" };
  const { result } = cell.worst;
  if (cell.failures > 0) {
    return { kind: "fail", text: `✕ ${cell.failures}`, words: failureCount(cell.failures) };
  }
  if (cell.known > 0) {
    return { kind: "known", text: `◆ ${cell.known}`, words: `${plural(cell.known, "known difference")}` };
  }
  if (cell.absent === cell.results) return { kind: "absent", text: "–", words: "not compared" };
  if (result.worst === 0) return { kind: "equal", text: "=", words: "equal bits" };
  // By the number that is shown, so that equal numbers have equal colours.
  const text = fraction(result.worst);
  const step = [0.25, 0.5, 0.75, 0.9].filter((least) => Number(text) >= least).length + 1;
  return { kind: `step step-${step}`, text, words: `${text} of what is allowed` };
}

/** What a result's status means. */
function statusWords(status) {
  const words = {
    pass: "within the bound",
    known: "known difference",
    mismatch: data.kind === "run" ? "wrong" : "differs",
    error: "no result",
    absent: "not compared",
  };
  return words[status];
}

/** A number of failures, or of differences of two sides. */
const failureCount = (count) => plural(count, data.kind === "run" ? "failure" : "difference");
