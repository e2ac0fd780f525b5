// Linear scales with round ticks, and scales of words.
function roundStep(span, count) {
  const raw = span / count, power = 10 ** Math.floor(Math.log10(raw));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= raw * 0.999);
}
const shortNumber = (number) => Number(number.toPrecision(4)).toString();
function numberScale(values, from, to) {
  let low = Math.min(...values), high = Math.max(...values);
  if (!(high > low)) { const room = Math.abs(low) * 0.05 || 1; low -= room; high += room; }
  const at = (value) => from + (to - from) * (value - low) / (high - low);
  const back = (place) => low + (high - low) * (place - from) / (to - from);
  const step = roundStep(high - low, 5), ticks = [];
  for (let index = Math.ceil(low / step); index * step <= high * (1 + 1e-12); index++) ticks.push(index * step);
  return { at, back, ticks: ticks.map((tick) => [at(tick), shortNumber(tick)]) };
}
function wordScale(words, from, to) {
  const order = [...new Set(words)].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  const step = (to - from) / order.length;
  const at = (word) => from + step * (order.indexOf(word) + 0.5);
  return { at, ticks: order.map((word) => [at(word), word]) };
}
function padded(low, high) { const room = (high - low) * 0.06; return [low - room, high + room]; }
