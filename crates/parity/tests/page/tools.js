// What the scripts of the tests act and look with.

const seen = {};

/** Notes something for the test. */
const see = (name, value) => { seen[name] = value; };

const all = (selector) => [...document.querySelectorAll(selector)];
const one = (selector) => document.querySelector(selector);
const textOf = (element) => (element ? element.textContent.trim() : null);

/** Presses a key on the element that has the focus. */
function key(name, more = {}) {
  const event = new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true, ...more });
  document.activeElement.dispatchEvent(event);
}

/** Gives a field a value, as a reader would. */
async function choose(id, value) {
  const field = document.getElementById(id);
  if (field.type === "checkbox") field.checked = value;
  else field.value = value;
  field.dispatchEvent(new Event(field.type === "search" ? "input" : "change", { bubbles: true }));
  await new Promise((done) => setTimeout(done, 300));
}

/** The rows of the grid: for each its name, and the text of each cell under its head. */
function grid() {
  const heads = all("#head tr:last-child th").map((head) => head.getAttribute("aria-label"));
  return all("#rows tr").map((row) => {
    const cells = [...row.children].map((cell) => textOf(cell));
    return [row.children[0].title, Object.fromEntries(heads.slice(1).map((head, index) => [head, cells[index + 1]]))];
  });
}

/** The cell of a row under the head that begins like this. */
function cell(operation, head) {
  const column = all("#head tr:last-child th").findIndex((one) => one.getAttribute("aria-label").startsWith(head));
  const row = all("#rows tr").find((one) => one.children[0].title === operation);
  return row.children[column];
}

/** Runs a script and writes what it saw into the document. */
async function run(script) {
  try {
    await script();
  } catch (error) {
    seen.error = String(error.stack ?? error);
  }
  const element = document.createElement("pre");
  element.id = "seen";
  element.textContent = JSON.stringify(seen);
  document.body.append(element);
}
