// The grid: its rows and columns, and the keys that move in it.

/** The cells that can have the focus, row by row: the heads first, then each row's name and its cells. */
let focusable = [];
/** The row and column of the one cell that Tab reaches. */
let here = { row: 1, column: 1 };

/** Draws the grid anew. Returns the counts of what it shows. */
function drawGrid() {
  const { rows, counts } = makeRows();
  sortRows(rows);
  const groups = makeColumns(rows);
  markSlim(groups, rows);
  const nothing = rows.length === 0;
  byId("grid").hidden = nothing;
  byId("nothing").hidden = !nothing;
  focusable = [];
  drawHead(groups);
  const byFamily = state.sort.by === "order";
  let family = null;
  const lines = rows.map((row) => {
    const starts = byFamily && row.family !== family;
    family = row.family;
    return drawRow(row, groups, starts);
  });
  byId("rows").replaceChildren(...lines);
  byId("grid").setAttribute("aria-rowcount", rows.length + 1);
  byId("grid").setAttribute("aria-colcount", focusable[0].length);
  here.row = Math.min(here.row, focusable.length - 1);
  here.column = Math.min(here.column, focusable[0].length - 1);
  const reachable = focusable[here.row]?.[here.column];
  if (reachable) reachable.tabIndex = 0;
  return counts;
}

/** Finds the columns in which nothing is to be read but equal bits: they can be narrow. */
function markSlim(groups, rows) {
  for (const group of groups) {
    group.slim = group.columns.map((column) => rows.every((row) => {
      return ["none", "equal", "absent"].includes(lookOf(row.cells.get(`${group.dtype} ${column}`)).kind);
    }));
  }
}

/** The class of a column's cells. */
function columnClass(group, index) {
  return `value${index === 0 ? " first" : ""}${group.slim[index] ? " slim" : ""}`;
}

function drawHead(groups) {
  const single = groups.every((group) => group.columns.length === 1);
  const heads = [headCell("name", "Operation", "name", { class: "name" })];
  const upper = make("tr", {}, make("th", { class: "name", role: "presentation" }));
  for (const group of groups) {
    const properties = { class: "group", scope: "colgroup", colspan: group.columns.length };
    upper.append(make("th", { ...properties, role: "columnheader" }, group.name));
    group.columns.forEach((column, index) => {
      const key = `cell ${group.dtype} ${column}`;
      const label = single ? group.name : columnName(column);
      const css = columnClass(group, index);
      heads.push(headCell(key, label, `${group.name} on ${columnName(column)}`, { class: css }));
    });
  }
  upper.append(make("th", { class: "cases", role: "presentation" }));
  heads.push(headCell("cases", "Cases", "number of cases", { class: "cases" }));
  focusable.push(heads);
  const lower = make("tr", { role: "row", "aria-rowindex": 1 }, ...heads);
  byId("head").replaceChildren(...(single ? [lower] : [upper, lower]));
  byId("grid").classList.toggle("single", single);
}

function headCell(by, label, words, properties) {
  const sorted = state.sort.by === by;
  const order = sorted ? (state.sort.down ? "descending" : "ascending") : "none";
  const arrow = state.sort.down ? "▾" : "▴";
  const mark = sorted ? make("span", { class: "mark", "aria-hidden": "true" }, arrow) : null;
  return make("th", {
    ...properties,
    role: "columnheader", scope: "col", tabindex: -1, "aria-sort": order, "data-sort": by,
    "aria-label": `${words}, sort`, title: label,
  }, make("span", { class: "label" }, label), mark);
}

function drawRow(row, groups, startsFamily) {
  const family = startsFamily ? make("span", { class: "family" }, data.families[row.family]) : null;
  const name = make("th", {
    class: "name", role: "rowheader", scope: "row", tabindex: -1,
    title: row.name, "data-operation": row.operation,
  }, make("span", { class: "label" }, row.name), family);
  const cells = groups.flatMap((group) => group.columns.map((column, index) => {
    return drawCell(row, group, column, columnClass(group, index));
  }));
  const cases = make("td", { class: "cases", role: "gridcell", tabindex: -1 }, row.cases.toLocaleString("en"));
  const line = [name, ...cells, cases];
  focusable.push(line);
  const properties = { role: "row", "aria-rowindex": focusable.length, class: startsFamily ? "starts" : undefined };
  const element = make("tr", properties, ...line);
  element.row = row;
  return element;
}

function drawCell(row, group, column, css) {
  const cell = row.cells.get(`${group.dtype} ${column}`);
  const look = lookOf(cell);
  const change = cell ? changeOf(cell) : null;
  const since = change ? `, ${change.by > 0 ? "worse" : "better"} than before` : "";
  const mark = change
    ? make("span", { class: "change", "aria-hidden": "true" }, change.by > 0 ? "▲" : "▼")
    : null;
  const element = make("td", {
    class: `${css} ${look.kind}`,
    role: "gridcell",
    tabindex: -1,
    "aria-label": `${row.name} ${group.name} on ${columnName(column)}: ${look.words}${since}`,
    "aria-selected": cell ? "false" : undefined,
  }, look.text, mark);
  element.cell = cell;
  return element;
}

/** Moves the focus to the cell in a row and column, or to the nearest one that exists. */
function focusCell(row, column) {
  const before = focusable[here.row]?.[here.column];
  if (before) before.tabIndex = -1;
  here.row = Math.max(0, Math.min(row, focusable.length - 1));
  here.column = Math.max(0, Math.min(column, focusable[here.row].length - 1));
  const now = focusable[here.row][here.column];
  now.tabIndex = 0;
  now.focus({ preventScroll: true });
  now.scrollIntoView({ block: "nearest", inline: "nearest" });
  return now;
}

function positionOf(element) {
  const row = focusable.findIndex((line) => line.includes(element));
  return row < 0 ? null : { row, column: focusable[row].indexOf(element) };
}

/** Sorts by a column: the worst first, then the other way round, then as in the registry. */
function sortBy(by) {
  const first = by !== "name";
  if (state.sort.by !== by) state.sort = { by, down: first };
  else if (state.sort.down === first) state.sort = { by, down: !first };
  else state.sort = { by: "order", down: false };
}

/** What Enter and a click do: a head sorts, a name opens the row's worst cell, a cell opens itself. */
function activate(element) {
  if (element.dataset.sort) {
    sortBy(element.dataset.sort);
    redraw();
    const head = focusable[0].find((one) => one.dataset.sort === element.dataset.sort);
    if (head) focusCell(0, focusable[0].indexOf(head));
    return;
  }
  const cell = element.cell ?? (element.dataset.operation ? element.parentElement.row.worst : null);
  if (cell) openPanel(cell, element);
}

const PAGE_ROWS = 10;

/** The row and column that a key leads to from here; null for other keys. */
function target(event) {
  const { row, column } = here;
  const last = { row: focusable.length - 1, column: focusable[0].length - 1 };
  switch (event.key) {
    case "ArrowUp": return { row: row - 1, column };
    case "ArrowDown": return { row: row + 1, column };
    case "ArrowLeft": return { row, column: column - 1 };
    case "ArrowRight": return { row, column: column + 1 };
    case "Home": return { row: event.ctrlKey ? 1 : row, column: 0 };
    case "End": return { row: event.ctrlKey ? last.row : row, column: last.column };
    case "PageUp": return { row: Math.max(1, row - PAGE_ROWS), column };
    case "PageDown": return { row: row + PAGE_ROWS, column };
    default: return null;
  }
}

function listenToGrid() {
  const grid = byId("grid");
  grid.addEventListener("click", (event) => {
    const element = event.target.closest("[tabindex]");
    const position = element && positionOf(element);
    if (!position) return;
    focusCell(position.row, position.column);
    activate(element);
  });
  grid.addEventListener("keydown", (event) => {
    if (event.altKey || event.metaKey) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      activate(focusable[here.row][here.column]);
      return;
    }
    const next = target(event);
    if (!next) return;
    event.preventDefault();
    const element = focusCell(next.row, next.column);
    if (isPanelOpen() && element.cell) openPanel(element.cell, element);
  });
}
