// Two small charts: how many elements are how far off, and the error in earlier runs.

function svg(tag, properties = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(properties)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** An empty chart; the words are for those who do not see it. */
function picture(width, height, words) {
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img", "aria-label": words });
}

/** The last bucket: elements without a distance. src/histogram.rs has the meaning of all. */
const NO_DISTANCE = 23;

/** Number of bars that have room for a label each. */
const MOST_LABELS = 13;

/** The label of a bucket: the least error in it, in ulp. */
function bucketLabel(bucket) {
  if (bucket === 0) return "=";
  if (bucket === 1) return "<½";
  if (bucket === 2) return "½";
  if (bucket === NO_DISTANCE) return "∞";
  const least = 2 ** (bucket - 3);
  const more = bucket === NO_DISTANCE - 1 ? "+" : "";
  return least < 1024 ? String(least) : `${least / 1024}k${more}`;
}

/** Counts of elements by their error in ulp, with heights on a logarithmic scale. */
function histogramChart(counts, boundUlps) {
  const last = Math.max(counts.length - 1, 4);
  const shown = [];
  for (let bucket = 0; bucket <= Math.min(last, NO_DISTANCE - 1); bucket += 1) shown.push(bucket);
  if (counts[NO_DISTANCE] > 0) {
    while (shown.length > 1 && !counts[shown.at(-1)]) shown.pop();
    shown.push(NO_DISTANCE);
  }
  const [width, height, top, bottom] = [360, 118, 16, 18];
  const step = width / shown.length;
  const most = Math.log10(1 + Math.max(...counts));
  const chart = picture(width, height, histogramWords(counts));
  const base = height - bottom;
  chart.append(svg("line", { x1: 0, x2: width, y1: base, y2: base, class: "axis" }));
  shown.forEach((bucket, index) => {
    const count = counts[bucket] ?? 0;
    const tall = count === 0 ? 0 : Math.max(2, (Math.log10(1 + count) / most) * (base - top));
    const middle = (index + 0.5) * step;
    const kind = bucket === 0 ? "bar equal" : bucket === NO_DISTANCE ? "bar far" : "bar";
    const bounds = { x: (index + 0.14) * step, y: base - tall, width: 0.72 * step, height: tall };
    chart.append(svg("rect", { ...bounds, class: kind, rx: 1 }));
    if (count > 0) chart.append(svg("text", { x: middle, y: base - tall - 3, class: "value" }, short(count)));
    // Every second label if all would run into each other. The even ones include equal bits and 1/2.
    const labelled = shown.length <= MOST_LABELS || bucket % 2 === 0 || bucket === NO_DISTANCE;
    if (labelled) chart.append(svg("text", { x: middle, y: height - 5, class: "tick" }, bucketLabel(bucket)));
  });
  if (boundUlps > 0 && Number.isFinite(boundUlps)) {
    const x = boundPosition(boundUlps, shown) * step;
    if (x > 0 && x < width) {
      chart.append(svg("line", { x1: x, x2: x, y1: 4, y2: base, class: "bound" }));
      chart.append(svg("text", { x: x + 4, y: 11, class: "bound-label" }, `bound ${digits(boundUlps)}`));
    }
  }
  return chart;
}

/** Where a bound in ulp is, in bars from the left. Within a bar the scale is logarithmic. */
function boundPosition(ulps, shown) {
  const bucket = ulps < 0.5 ? 1 : Math.min(Math.floor(Math.log2(ulps)) + 3, NO_DISTANCE - 1);
  const within = ulps < 0.5 ? 2 * ulps : Math.log2(ulps) % 1;
  const index = shown.indexOf(bucket);
  return index < 0 ? shown.length + 1 : index + (within < 0 ? within + 1 : within);
}

function short(count) {
  if (count < 10_000) return String(count);
  return count < 1e6 ? `${Math.round(count / 1000)}k` : `${(count / 1e6).toFixed(1)}M`;
}

function histogramWords(counts) {
  const parts = counts.map((count, bucket) => {
    if (count === 0) return null;
    if (bucket === 0) return `${count} equal`;
    if (bucket === 1) return `${count} less than 1/2 ulp off`;
    if (bucket === NO_DISTANCE) return `${count} infinite or NaN on one side`;
    return `${count} from ${2 ** (bucket - 3)} ulp off`;
  });
  return `Elements by error: ${parts.filter((part) => part).join(", ")}`;
}

/** The error of a cell in earlier runs and now, as fractions of what is allowed. */
function trendChart(past, now, failuresNow) {
  const points = past.map((one) => ({ value: one.then, failed: one.failures > 0, label: runDate(one.run) }));
  points.push({ value: now, failed: failuresNow > 0, label: "now" });
  const [width, height, top, bottom, side] = [360, 96, 10, 18, 14];
  const finite = points.map((point) => point.value).filter(Number.isFinite);
  const most = Math.max(1.15, Math.min(2, ...finite.map((value) => value * 1.1)), 0);
  const x = (index) => side + (index * (width - 2 * side)) / Math.max(1, points.length - 1);
  const y = (value) => top + (1 - Math.min(value, most) / most) * (height - top - bottom);
  const words = points.map((point) => `${point.label} ${point.failed ? "failed" : fraction(point.value)}`);
  const chart = picture(width, height, `Trend: ${words.join(", ")}`);
  chart.append(svg("line", { x1: 0, x2: width, y1: y(0), y2: y(0), class: "axis" }));
  chart.append(svg("line", { x1: 0, x2: width, y1: y(1), y2: y(1), class: "bound" }));
  chart.append(svg("text", { x: 0, y: y(1) - 3, class: "bound-label" }, "bound"));
  const line = points.map((point, index) => `${x(index).toFixed(1)},${y(point.value).toFixed(1)}`).join(" ");
  chart.append(svg("polyline", { points: line, class: "line" }));
  points.forEach((point, index) => {
    const last = index === points.length - 1;
    const kind = `dot${point.failed ? " failed" : ""}${last ? " last" : ""}`;
    if (point.failed) chart.append(svg("text", { x: x(index), y: y(point.value) + 5, class: kind }, "✕"));
    else chart.append(svg("circle", { cx: x(index), cy: y(point.value), r: last ? 4 : 3, class: kind }));
  });
  const ends = points.length > 1 ? [0, points.length - 1] : [0];
  for (const index of ends) {
    const anchor = index === 0 ? "start" : "end";
    const attributes = { x: index === 0 ? 0 : width, y: height - 4, style: `text-anchor:${anchor}` };
    chart.append(svg("text", { ...attributes, class: "tick" }, points[index].label));
  }
  return chart;
}

const runDate = (run) => (run.date ? run.date.slice(0, 16).replace("T", " ") : run.name);
