// Parallel coordinates: parameters that varied, then the objectives; dragging along an axis filters.
const PARALLEL_HIGH = 360, P_TOP = 52, P_BOTTOM = 24, P_SIDE = 70;
const kept = new Map();

function parallelAxes() {
  const devices = new Set(data.points.map((point) => point.device));
  const words = data.parameters.map((name) => ({ name, title: name, value: (point) => point.candidate[name] ?? "–", words: true }));
  if (devices.size > 1) words.unshift({ name: "device", title: "device", value: (point) => point.device, words: true });
  const numbers = data.objectives.filter((name) => data.metrics[name]).map((name) => (
    { name: `metric ${name}`, title: `${data.metrics[name].label} ${better(name, true)}`, value: (point) => point.values[name]?.at, words: false }));
  return [...words, ...numbers];
}
function drawParallel() {
  const axes = parallelAxes(), wide = Math.max(760, P_SIDE * 2 + 96 * (axes.length - 1));
  const chart = document.getElementById("parallel");
  chart.setAttribute("viewBox", `0 0 ${wide} ${PARALLEL_HIGH}`);
  const points = data.points.filter((point) => axes.every((axis) => axis.value(point) !== undefined));
  axes.forEach((axis, index) => {
    axis.x = P_SIDE + index * (wide - 2 * P_SIDE) / Math.max(1, axes.length - 1);
    const values = points.map(axis.value);
    axis.scale = axis.words ? wordScale(values, PARALLEL_HIGH - P_BOTTOM, P_TOP) : numberScale(values, PARALLEL_HIGH - P_BOTTOM, P_TOP);
  });
  const order = { tried: 0, baseline: 1, front: 2 };
  const threads = points.sort((a, b) => order[a.kind] - order[b.kind]).map((point) => thread(point, axes));
  chart.replaceChildren(...threads, ...axes.map((axis) => parallelAxis(axis, chart, axes)));
}
function thread(point, axes) {
  const path = axes.map((axis, index) => `${index ? "L" : "M"}${axis.x},${axis.scale.at(axis.value(point))}`).join("");
  const group = svg("g", { class: point.kind, "data-point": point.id }, svg("title", {}, point.id), svg("path", { class: "thread", d: path }));
  return clickable(group, () => choose(point.id));
}
function parallelAxis(axis, chart, axes) {
  const label = (at, text) => svg("text", { x: axis.x + 5, y: at + 4 }, text.length > 14 ? `${text.slice(0, 13)}…` : text);
  const area = svg("rect", { class: "axis-area", x: axis.x - 12, y: P_TOP - 6, width: 24, height: PARALLEL_HIGH - P_TOP - P_BOTTOM + 12 });
  const brush = svg("rect", { class: "brush", x: axis.x - 8, width: 16, height: 0, y: 0 });
  const title = svg("text", { class: "title", transform: `translate(${axis.x} ${P_TOP - 12}) rotate(-12)`, "text-anchor": "middle" }, axis.title);
  brushable(axis, area, brush, chart, axes);
  return svg("g", {}, svg("line", { class: "grid-line", x1: axis.x, x2: axis.x, y1: P_TOP, y2: PARALLEL_HIGH - P_BOTTOM }),
    ...axis.scale.ticks.map(([at, text]) => label(at, text)), title, brush, area);
}
function brushable(axis, area, brush, chart, axes) {
  let start = null;
  const height = (event) => { const box = chart.getBoundingClientRect(); return (event.clientY - box.top) * chart.viewBox.baseVal.height / box.height; };
  area.addEventListener("pointerdown", (event) => { start = height(event); area.setPointerCapture(event.pointerId); });
  area.addEventListener("pointermove", (event) => {
    if (start === null) return;
    const span = [Math.min(start, height(event)), Math.max(start, height(event))];
    brush.setAttribute("y", span[0]); brush.setAttribute("height", span[1] - span[0]);
    kept.set(axis.name, span); filterThreads(axes);
  });
  area.addEventListener("pointerup", (event) => {
    if (Math.abs(height(event) - start) < 4) { kept.delete(axis.name); brush.setAttribute("height", 0); filterThreads(axes); }
    start = null;
  });
}
function filterThreads(axes) {
  const passes = (point) => axes.every((axis) => {
    const span = kept.get(axis.name), at = axis.scale.at(axis.value(point));
    return !span || (at >= span[0] && at <= span[1]);
  });
  document.querySelectorAll("#parallel [data-point]").forEach((node) => node.classList.toggle("is-out", !passes(byId.get(node.dataset.point))));
}
