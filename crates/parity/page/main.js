// The page as a whole: the head, the filters, the legend, and what happens when something is chosen.

const columnNoun = data.kind === "run" ? "device" : "comparison";

function drawTitle() {
  const results = data.cases.flatMap((entry) => entry.results.filter((one) => one !== NO_RESULT));
  const failed = results.filter(isFailure).length;
  const known = results.filter((one) => one.status === "known").length;
  const title = data.kind === "run" ? "Parity" : data.columns.map((column) => column.name).join(", ");
  document.title = data.kind === "run" ? "Parity" : `Parity: ${title}`;
  byId("title").textContent = title;
  const verdict = byId("verdict");
  const all = data.kind === "run" ? "all right" : "no unknown differences";
  verdict.textContent = failed === 0 ? `✓ ${all}` : `✕ ${failureCount(failed)}`;
  verdict.classList.add(failed === 0 ? "good" : "bad");
  verdict.disabled = failed === 0;
  const parts = [
    plural(data.cases.length, "case"),
    plural(data.columns.length, columnNoun),
    plural(results.length, "result"),
  ];
  if (known > 0) parts.push(`${known.toLocaleString("en")} known to differ`);
  parts.push(data.facts[0][1].replace("T", " ").replace("Z", " UTC"));
  byId("summary").replaceChildren(...parts.map((part) => make("span", {}, part)));
}

/** Everything about where the results come from. */
function drawAbout() {
  const facts = definitions(data.facts.map(([name, value]) => [name, make("code", {}, value)]));
  const byName = data.columns.flatMap((column) => column.devices.map((source) => [source.name, source]));
  const cards = [...new Map(byName).values()].map((source) => card(source.name, "card",
    make("p", {}, source.description),
    definitions(Object.entries(source.facts))));
  const history = data.history.map((run) => {
    return `${runDate(run)} (${run.name}, version ${run.version}): ${plural(run.failures, "failure")}`;
  });
  const lists = [["Records and known differences", data.notes], ["Earlier runs", history]]
    .filter(([, notes]) => notes.length > 0)
    .map(([name, notes]) => card(name, "card wide", make("ul", {}, ...notes.map((note) => make("li", {}, note)))));
  byId("about").replaceChildren(card(data.kind === "run" ? "Run" : "Comparison", "card", facts), ...cards, ...lists);
}

function card(name, css, ...children) {
  return make("div", { class: css }, make("h3", {}, name), ...children);
}

function options(select, list) {
  select.replaceChildren(...list.map(([value, text]) => make("option", { value }, text)));
}

const SORTS = [
  ["order", "registry order"],
  ["name", "name"],
  ["worst", "worst error"],
  ["failures", "failures"],
  ["ulps", "ulp"],
  ["cases", "cases"],
  ["change", "worse than before"],
];

function drawFilters() {
  const used = new Set(data.cases.map((entry) => entry.dtype));
  options(byId("family"), [["", "all"], ...data.families.map((name, index) => [index, name])]);
  const dtypes = data.dtypes.map((name, index) => [index, name]).filter(([index]) => used.has(index));
  options(byId("dtype"), [["", "all"], ...dtypes]);
  const devices = data.columns.map((column, index) => [index, column.name]);
  options(byId("device"), [["each", "all, side by side"], ["worst", "worst of all"], ...devices]);
  options(byId("sort"), SORTS.filter(([by]) => by !== "change" || data.history.length > 0));
  byId("sort").append(make("option", { value: "", disabled: true }, "by a column"));
  byId("device-label").hidden = data.columns.length === 1;
  byId("failures-label").textContent = data.kind === "run" ? "Only failures" : "Only differences";
}

function drawLegend() {
  const isRun = data.kind === "run";
  const entry = (...parts) => make("span", { class: "entry" }, ...parts);
  const swatch = (kind, text) => make("span", { class: `swatch ${kind}` }, text);
  const steps = ["0", "¼", "½", "¾", ".9"].map((text, index) => swatch(`step step-${index + 1}`, text));
  const entries = [
    entry(swatch("equal", "="), "equal bits"),
    entry("error ÷ bound", make("span", { class: "scale" }, ...steps), "1"),
    entry(swatch("fail", "✕"), isRun ? "failed" : "differ"),
    entry(swatch("known", "◆"), "known"),
  ];
  if (!isRun) entries.push(entry(swatch("absent", "–"), "not compared"));
  if (data.history.length > 0) entries.push(entry("▲ worse than before, ▼ better"));
  const keys = [["↑↓←→", "move"], ["Enter", "open"], ["Esc", "close"], ["/", "find"]];
  const help = entry(...keys.flatMap(([key, words]) => [make("kbd", {}, key), `${words} `]));
  help.classList.add("keys");
  byId("legend").replaceChildren(...entries, help);
}

/** Draws the grid with the present choices. */
function redraw() {
  dropPanel();
  const counts = drawGrid();
  const failures = counts.failures > 0 ? `, ${failureCount(counts.failures)}` : "";
  byId("count").textContent = `${plural(counts.cases, "case")}, ${plural(counts.results, "result")}${failures}`;
  const listed = SORTS.some(([by]) => by === state.sort.by);
  byId("sort").value = listed ? state.sort.by : "";
}

function readFilters() {
  const number = (id) => (byId(id).value === "" ? "" : Number(byId(id).value));
  state.text = byId("find").value;
  state.family = number("family");
  state.dtype = number("dtype");
  const column = byId("device").value;
  state.column = column === "each" || column === "worst" ? column : Number(column);
  state.failures = byId("failures").checked;
}

function listen() {
  let timer = 0;
  const changed = () => {
    readFilters();
    redraw();
  };
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("find").addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(changed, 80);
  });
  for (const id of ["family", "dtype", "device", "failures"]) byId(id).addEventListener("change", changed);
  byId("sort").addEventListener("change", () => {
    const by = byId("sort").value;
    state.sort = { by, down: by !== "order" && by !== "name" };
    redraw();
  });
  byId("verdict").addEventListener("click", () => {
    byId("failures").checked = !byId("failures").checked;
    changed();
  });
  byId("reset").addEventListener("click", () => {
    byId("filters").reset();
    state.sort = { by: "order", down: false };
    changed();
  });
  byId("close").addEventListener("click", closePanel);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && isPanelOpen()) {
      event.preventDefault();
      closePanel();
    }
    if (event.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) {
      event.preventDefault();
      byId("find").focus();
    }
  });
  listenToGrid();
}

drawTitle();
drawAbout();
drawFilters();
drawLegend();
if (data.columns.length === 1) byId("device").value = "0";
else if (isNarrow() || data.columns.length > 4) byId("device").value = "worst";
readFilters();
listen();
redraw();
