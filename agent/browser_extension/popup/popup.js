/** Shows what the last search of the tab carried, and takes the word that its site gets nothing. */

import { page } from "./page.js";

const element = (id) => document.getElementById(id);

/** Show what there is to say, and hide what has nothing to say. */
function show({ state, word, search, sent, unspecified, added, facts, figures }) {
  element("state").hidden = !state;
  element("state-text").textContent = state?.text;
  element("state-hint").textContent = state?.hint;
  element("word").hidden = !word;
  element("word-text").textContent = word?.text;
  element("word-command").textContent = word?.command;
  element("word-rest").textContent = word?.rest;
  element("none").hidden = Boolean(search || word);
  element("search").hidden = !search;
  element("query").textContent = search?.query;
  element("recipient").textContent = search?.recipient;
  element("recipient").hidden = sent.length > 0; // then the headline names it
  element("read-as").textContent = search?.readAs;
  element("read-as").hidden = !search?.readAs;
  element("headline").textContent = search?.headline;
  element("sent").replaceChildren(...sent.map(item));
  element("added").hidden = !added;
  element("added").textContent = added?.text;
  element("without").hidden = !added?.undo;
  element("unspecified").replaceChildren(...unspecified.map(item));
  element("left-out").hidden = unspecified.length === 0;
  element("facts").replaceChildren(...facts.map((each) => made("li", "", each)));
  element("figures").hidden = figures.length === 0;
  element("bits").replaceChildren(...figures.map((each) => made("li", "", each)));
  element("refuse").onclick = () => refuse(search.recipient);
}

function made(name, kind, text) {
  const one = document.createElement(name);
  one.className = kind;
  one.textContent = text;
  return one;
}

function item({ name, value, why }) {
  const [one, pair] = [made("li", "", ""), made("div", "pair", "")];
  pair.append(made("span", "name", name), made("span", "value", value));
  one.append(pair, ...(why ? [made("div", "why", why)] : []));
  return one;
}

/** Lead the tab to its search without what was added, this once. */
async function without() {
  const [tab] = await chrome.tabs.query({ active: true, currentWindow: true });
  await chrome.runtime.sendMessage({ kind: "without", tab: tab?.id });
  close();
}

async function refuse(recipient) {
  element("refuse").disabled = true;
  const told = await chrome.runtime.sendMessage({ kind: "refuse", recipient });
  if (told?.fault === null) {
    await open();
  } else {
    element("refuse").disabled = false;
    const why = told?.fault?.what ?? "nobody answered";
    element("refused").textContent = `That did not work: ${why}.`;
  }
}

async function open() {
  const [tab] = await chrome.tabs.query({ active: true, currentWindow: true });
  const told = await chrome.runtime.sendMessage({
    kind: "popup",
    tab: tab?.id,
    address: tab?.url,
  });
  const nobody = { search: null, state: "off", fault: null, offered: null, refused: null };
  show(page(told ?? nobody));
}

if (window.top === window) {
  element("without").onclick = without;
  open();
}
