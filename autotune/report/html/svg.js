"use strict";
// Text only ever enters the page through textContent and setAttribute: nothing that a person named is read as markup.
const make = (space) => (tag, attributes = {}, ...children) => {
  const node = space ? document.createElementNS(space, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
};
const svg = make("http://www.w3.org/2000/svg");
const html = make(null);
const clickable = (node, act) => {
  node.addEventListener("click", act);
  node.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); act(); } });
  return node;
};
