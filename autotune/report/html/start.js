// Fills the controls and draws: the first objective across, the second up, the recommended point chosen.
(() => {
  const names = Object.keys(data.metrics), [across, up, tried] = ["across", "up", "tried"].map((id) => document.getElementById(id));
  const first = [...data.objectives.filter((name) => names.includes(name)), ...names];
  for (const select of [across, up]) select.append(...[...new Set(first)].map((name) => html("option", { value: name }, metricTitle(name))));
  across.value = first[0];
  up.value = first[1] ?? first[0];
  const redraw = () => drawScatter(across.value, up.value, tried.checked, document.querySelector(".is-chosen")?.dataset.point ?? data.recommended);
  for (const control of [across, up, tried]) control.addEventListener("change", redraw);
  document.querySelectorAll("#front tbody tr").forEach((row) => clickable(row, () => choose(row.dataset.point)));
  document.getElementById("charts").hidden = false;
  drawParallel();
  redraw();
})();
