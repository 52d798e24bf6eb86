// The panel: the worst case of a cell, and its other cases.

/** Number of a cell's cases that are listed. */
const LISTED = 200;

/** The open cell, the element it was opened from, and the shown case. */
let opened = null;

const isPanelOpen = () => opened !== null;

/** Opens a cell. On a narrow page the panel covers the grid, so that it takes the focus. */
function openPanel(cell, element) {
  markSelected(false);
  opened = { cell, position: positionOf(element), shown: cell.worst };
  markSelected(true);
  byId("panel").hidden = false;
  byId("body").classList.add("with-panel");
  drawPanel();
  byId("panel").scrollTop = 0;
  if (isNarrow()) byId("panel").focus();
  else element.scrollIntoView({ block: "nearest", inline: "nearest" });
}

/** Closes the panel. The focus returns to the cell. */
function closePanel() {
  if (!opened) return;
  const { position } = opened;
  markSelected(false);
  opened = null;
  byId("panel").hidden = true;
  byId("body").classList.remove("with-panel");
  if (position) focusCell(position.row, position.column);
}

/** Closes the panel after a change of the filters, without moving the focus. */
function dropPanel() {
  opened = null;
  byId("panel").hidden = true;
  byId("body").classList.remove("with-panel");
}

function markSelected(selected) {
  const element = opened?.position ? focusable[opened.position.row]?.[opened.position.column] : null;
  if (element?.hasAttribute("aria-selected")) element.setAttribute("aria-selected", String(selected));
}

const isNarrow = () => window.matchMedia("(max-width: 760px)").matches;

function drawPanel() {
  const { cell, shown } = opened;
  const name = data.operations[cell.operation][0];
  byId("panel-title").replaceChildren(
    make("span", { class: "operation" }, name),
    make("span", {}, data.dtypes[cell.dtype]),
    make("span", {}, columnName(shown.column)),
  );
  byId("panel-body").replaceChildren(...[
    caseHead(shown),
    measure(shown),
    whySection(shown),
    elementSection(shown),
    inputsSection(shown),
    histogramSection(shown),
    trendSection(cell),
    commandSection(shown),
    casesSection(cell, shown),
  ].filter((part) => part));
}

function section(title, ...children) {
  return make("section", {}, make("h3", {}, title), ...children);
}

function caseHead({ entry, result }) {
  return make("div", { class: "case-head" },
    make("code", { class: "id" }, ...breakable(entry.id)),
    make("p", { class: "about-case" },
      make("span", { class: `pill ${result.status}` }, statusWords(result.status)),
      ` ${plural(entry.elements, "element")}, judged: ${data.rules[entry.rule] || "not judged"}`));
}

/** An id that may break after each slash. */
function breakable(id) {
  return id.split("/").flatMap((part, index) => (index === 0 ? [part] : ["/", make("wbr"), part]));
}

/** The error beside the bound, as a number and a bar. */
function measure({ result }) {
  if (result.status === "absent" || (result.status === "error" && !result.sample)) return null;
  if (result.worst === 0) {
    return make("p", { class: "calm" }, data.kind === "run"
      ? "Every element has the reference’s bits, or is as good."
      : "Both sides have equal bits.");
  }
  const end = Math.max(1.25, Math.min(result.worst === Infinity ? 4 : result.worst * 1.1, 4));
  const filled = `${(Math.min(result.worst, end) / end) * 100}%`;
  const kind = result.worst > 1 ? "over" : "within";
  return make("div", { class: "measure" },
    make("p", {}, make("strong", {}, fraction(result.worst)), " of what is allowed"),
    make("div", { class: "meter", "aria-hidden": "true" },
      make("span", { class: `fill ${kind}`, style: `width:${filled}` }),
      make("span", { class: "limit", style: `left:${100 / end}%` })));
}

function whySection({ result }) {
  return result.why ? make("p", { class: `why ${result.status}` }, result.why) : null;
}

/** The worst element: both values, the error and the bound. */
function elementSection({ entry, column, result }) {
  const { sample } = result;
  if (!sample) return null;
  const { sides } = data.columns[column];
  const values = [[sides[0], make("code", {}, sample.got)], [sides[1], make("code", {}, sample.expected)]];
  const isRun = data.kind === "run";
  const error = sample.error === undefined
    ? "none: one side is infinite or NaN"
    : `${digits(sample.error)}${sample.ulps === undefined ? "" : ` = ${digits(sample.ulps)} ulp`}`;
  const bound = sample.allowed > 0 ? digits(sample.allowed) : "equal bits";
  const rows = [...values, [isRun ? "error" : "apart", error], ["bound", bound]];
  const counted = isRun ? entry.elements : result.histogram.reduce((sum, count) => sum + count, 0);
  const elements = plural(counted, isRun ? "element" : "compared element");
  if (result.wrong > 0) {
    rows.push([isRun ? "wrong" : "differ", `${result.wrong.toLocaleString("en")} of ${elements}`]);
  }
  return section(`Worst element: ${sample.index.toLocaleString("en")}`, definitions(rows));
}

function definitions(rows) {
  const lines = rows.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]);
  return make("dl", {}, ...lines);
}

function inputsSection({ entry, result }) {
  const operands = entry.operands ?? [];
  if (operands.length === 0) return null;
  const inputs = result.sample?.inputs ?? [];
  const items = operands.map((operand, index) => {
    const input = inputs[index];
    const values = input ? inputValues(input) : null;
    return make("li", {}, make("span", { class: "operand" }, operand), values);
  });
  return section(inputs.length > 0 ? "Its inputs" : "Inputs", make("ol", { class: "inputs", start: 0 }, ...items));
}

function inputValues(input) {
  if (input.count === 0) return make("span", { class: "values" }, input.indices);
  const more = input.count - input.values.length;
  const values = input.values.map((value) => make("code", {}, value));
  const rest = more > 0 ? make("span", { class: "more" }, `… ${plural(more, "more value")}`) : null;
  return make("span", { class: "values" }, make("span", { class: "indices" }, input.indices), ...values, rest);
}

function histogramSection({ entry, result }) {
  if (result.histogram.length < 2) return null;
  const { sample } = result;
  // Only where the bound is a number of ulp it is the same for every element.
  const plain = /^within [0-9.e+-]+ ulp$/.exec(data.rules[entry.rule] ?? "");
  const sides = data.kind === "run" ? 1 : 2;
  const bound = plain && sample ? sides * parseFloat(plain[0].slice("within ".length)) : 0;
  const title = data.kind === "run" ? "Elements by error in ulp" : "Compared elements by distance in ulp";
  return section(title, histogramChart(result.histogram, bound));
}

function trendSection(cell) {
  const past = pastOf(cell);
  if (past.length === 0) return null;
  const lines = past.map((one) => make("tr", {},
    make("td", { title: `${one.run.name}, version ${one.run.version}` }, runDate(one.run)),
    make("td", {}, one.failures > 0 ? plural(one.failures, "failure") : fraction(one.then)),
    make("td", {}, fraction(one.now)),
    make("td", {}, one.cases.toLocaleString("en"))));
  const head = make("tr", {}, ...["run", "then", "now", "cases of both"].map((name) => make("th", { scope: "col" }, name)));
  const result = cell.worst.result;
  return section("Earlier runs",
    trendChart(past, result.worst, cell.failures),
    make("table", { class: "runs" }, make("thead", {}, head), make("tbody", {}, ...lines.reverse())));
}

function commandSection({ entry, column }) {
  const templates = data.columns[column].commands;
  const commands = templates.map((command) => command.replaceAll("{case}", () => quoted(entry.id)));
  const hash = make("p", { class: "hash" }, "Hash of the case: ", make("code", {}, entry.hash));
  if (commands.length === 0) return section("The case", hash);
  return section("Run it again", ...commands.map(commandLine), hash);
}

function commandLine(command) {
  // A line ends between words, not at the dashes in them.
  const words = command.split(" ").flatMap((word, index) => {
    return [index === 0 ? "" : " ", make("span", { class: "word" }, word)];
  });
  const text = make("code", {}, ...words);
  const copy = async (event) => {
    const button = event.currentTarget;
    try {
      await navigator.clipboard.writeText(command);
      button.textContent = "Copied";
    } catch {
      window.getSelection().selectAllChildren(text);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  };
  return make("div", { class: "command" }, text, make("button", { type: "button", onclick: copy }, "Copy"));
}

/** The cell's cases, the worst first. */
function casesSection(cell, shown) {
  if (cell.all.length < 2) return null;
  const sorted = cell.all
    .map(([entry, column]) => ({ entry, column, result: entry.results[column] }))
    .sort((a, b) => (isWorse(a.result, b.result) ? -1 : isWorse(b.result, a.result) ? 1 : 0));
  const several = cell.column === "worst";
  const items = sorted.slice(0, LISTED).map((one) => {
    const current = one.entry === shown.entry && one.column === shown.column;
    const show = () => {
      opened.shown = one;
      drawPanel();
      byId("panel").scrollTop = 0;
      byId("panel").focus();
    };
    const look = lookOfResult(one.result);
    const properties = { type: "button", class: "one", "aria-current": current ? "true" : undefined };
    return make("li", {}, make("button", { ...properties, onclick: show },
      make("span", { class: `badge ${look.kind}` }, look.text),
      make("span", { class: "rest" }, ...breakable(one.entry.id.split("/").slice(2).join("/"))),
      several ? make("span", { class: "where" }, columnName(one.column)) : null));
  });
  const all = sorted.length.toLocaleString("en");
  const more = sorted.length > LISTED
    ? make("p", { class: "calm" }, `The first ${LISTED} of ${all}; a filter shows others.`)
    : null;
  const list = make("ol", { class: "cases-list" }, ...items);
  return section(`${plural(sorted.length, "result")} in this cell`, list, more);
}

/** The look of one result: that of a cell with nothing else in it. */
function lookOfResult(result) {
  const cell = newCell(0, 0, 0);
  addResult(cell, null, 0, result, true);
  const look = lookOf(cell);
  return { ...look, text: look.kind === "fail" ? "✕" : look.kind === "known" ? "◆" : look.text };
}
