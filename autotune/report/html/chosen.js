// The chosen point beside the baseline: its parameters, its numbers, how to export it.
const data = JSON.parse(document.getElementById("data").textContent);
const byId = new Map(data.points.map((point) => [point.id, point]));
const metricTitle = (name) => { const m = data.metrics[name]; return m.unit ? `${m.label} [${m.unit}]` : m.label; };
const better = (name, up) => (data.metrics[name].goal === "max" ? (up ? "↑" : "→") : (up ? "↓" : "←"));
const cells = (tag, ...texts) => html("tr", {}, ...texts.map((text) => html(tag, {}, text)));

function parameterRows(point, base) {
  const names = [...new Set([...Object.keys(base.candidate), ...Object.keys(point.candidate)])];
  const differs = (name) => point.candidate[name] !== base.candidate[name];
  return names.sort((a, b) => differs(b) - differs(a)).map((name) => {
    const [mine, theirs] = [point.candidate[name] ?? "–", base.candidate[name] ?? "–"];
    const row = cells("td", name, mine, theirs);
    if (mine !== theirs) row.className = "differs";
    return row;
  });
}
function metricRows(point, base) {
  const names = [...new Set([...data.objectives, ...Object.keys(data.metrics)])];
  return names.filter((name) => data.metrics[name]).filter((name) => point.values[name] || base.values[name]).map((name) => {
    const mine = point.values[name], row = cells("td", data.metrics[name].label, mine ? mine.text : "unknown", base.values[name]?.text ?? "unknown");
    if (mine?.ratio) row.children[1].append(html("br"), html("span", { class: mine.verdict }, mine.ratio));
    if (mine?.basis) row.title = mine.basis;
    return row;
  });
}
function showChosen(point) {
  const base = byId.get(data.baseline), panel = document.getElementById("chosen");
  const heads = cells("th", "", point.id, point === base ? "" : "the original");
  panel.replaceChildren(
    html("h3", {}, [point.id, ...point.names].join(", ")),
    html("p", { class: "legend" }, point.kind === "tried" ? `on ${point.device}: tried, not on the front; measured alone` : `on ${point.device}`),
    html("table", {}, heads, ...parameterRows(point, base), ...metricRows(point, base)));
  if (point.export) panel.append(html("p", {}, "export it", html("code", { class: "command" }, point.export)));
}
function choose(id) {
  const point = byId.get(id);
  if (!point) return;
  document.querySelectorAll(".is-chosen").forEach((node) => node.classList.remove("is-chosen"));
  document.querySelectorAll("[data-point]").forEach((node) => { if (node.dataset.point === id) node.classList.add("is-chosen"); });
  showChosen(point);
}
