/**
 * Shows what the last search of the tab carried, and takes the word that its site gets nothing; on
 * an assistant's site, shows what may be added to the message there, and has it put in; on a page of
 * results that are ordered on this machine, shows them in that order, which the page never sees.
 */

import { failed, lineOf, talk, wellKnown } from "./chat.js";
import { page, readAs } from "./page.js";

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
  element("means").hidden = !search?.readAs;
  element("means").ontoggle = () => offerTopics(search);
  element("meaning").onsubmit = (event) => {
    event.preventDefault();
    propose(search);
  };
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

/** List results, whose links the tab follows as if they were typed: it comes from no page. */
function list(results, tab) {
  const items = results.map(({ title, snippet, link }) => {
    const [one, to] = [made("li", "", ""), made("a", "name", title || link)];
    to.href = link;
    to.onclick = (event) => {
      event.preventDefault();
      chrome.tabs.update(tab.id, { url: link }).then(() => close());
    };
    one.append(to, made("div", "why", new URL(link).host), made("div", "", snippet));
    return one;
  });
  element("results").replaceChildren(...items);
}

/** Show a message, and the line that may be added to it. @param {object} chat */
function showChat(chat, tab) {
  const { recipient, question, facts, ...said } = talk(chat, readAs);
  element("chat-title").textContent = `Your message to ${recipient}`;
  element("question").textContent = question;
  element("question").hidden = !question;
  element("chat-read-as").textContent = said.readAs;
  element("chat-headline").textContent = said.headline;
  element("draft").hidden = facts.length === 0;
  const chosen = new Set(facts);
  const left = () => facts.filter((each) => chosen.has(each));
  const about = made("span", "", "About me:");
  element("line").replaceChildren(about, ...facts.map((each) => choice(each, chosen, left)));
  element("people").textContent = said.people;
  element("waiting").hidden = !said.waiting;
  element("waiting-facts").textContent = said.waiting;
  fail(said.fault, "");
  element("again").hidden = false;
  element("draft").onsubmit = (event) => {
    event.preventDefault();
    put(tab, chat, left());
  };
  element("put").disabled = false;
  element("put").focus();
}

/** A fact of the line, which a click leaves out or takes back. */
function choice(fact, chosen, left) {
  const one = made("button", "fact", fact.phrase);
  Object.assign(one, { type: "button", title: fact.title, ariaPressed: "true" });
  one.onclick = () => {
    const out = !chosen.delete(fact) && chosen.add(fact);
    one.ariaPressed = String(Boolean(out));
    element("put").disabled = left().length === 0;
  };
  return one;
}

function fail(text, line) {
  element("failed").hidden = !text;
  element("failed-text").textContent = text;
  element("failed-line").textContent = line;
}

/** Have the facts told, and their line put in; the popup has nothing to add to that. */
async function put(tab, { origin, text, draft }, facts) {
  element("put").disabled = true;
  const names = facts.map(({ name }) => name);
  const line = lineOf(facts.map(({ phrase }) => phrase));
  const message = { origin, text, id: draft.id, names, line };
  const outcome = await chrome.runtime.sendMessage({ kind: "put", tab, put: message });
  if (outcome?.told && !outcome.fault) {
    close();
    return;
  }
  const why = failed(outcome ?? { told: null, fault: null });
  element("draft").hidden = true; // a draft works once
  fail(why.text, why.line);
}

/** Ask the user's word, which is given elsewhere, to use the chat box of an assistant. */
async function use({ recipient, address }) {
  element("use-here").disabled = true;
  const assistant = { recipient, address };
  const waits = await chrome.runtime.sendMessage({ kind: "use", assistant });
  element("used").hidden = !waits;
  element("not-used").hidden = Boolean(waits);
}

/** Lead the tab to its search without what was added, this once. */
async function without() {
  const [tab] = await chrome.tabs.query({ active: true, currentWindow: true });
  await chrome.runtime.sendMessage({ kind: "without", tab: tab?.id });
  close();
}

/** List what a search may mean, to choose from while typing. */
async function offerTopics({ recipient, query }) {
  const titles = (await chrome.runtime.sendMessage({ kind: "topics", recipient, query })) ?? [];
  element("topics").replaceChildren(...titles.map((value) => new Option("", value)));
}

/** Say what a search means, which waits for the user's word elsewhere. */
async function propose({ recipient, query }) {
  const meaning = { recipient, query, topic: element("topic").value.trim() };
  const told = await chrome.runtime.sendMessage({ kind: "means", meaning });
  element("proposed").hidden = told?.fault !== null;
  const { what = "nobody answered", hint = "" } = told?.fault ?? {};
  const why = hint ? `${what}: ${hint}` : what;
  element("not-proposed").textContent = told?.fault === null ? "" : `That did not work: ${why}`;
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
  const here = { tab: tab?.id, address: tab?.url };
  const told = await chrome.runtime.sendMessage({ kind: "popup", ...here });
  const known = told?.chat ? null : wellKnown(tab?.url);
  element("chat").hidden = !told?.chat;
  element("use").hidden = !known || Boolean(told?.state);
  element("use-name").textContent = known?.name;
  element("use-here").onclick = () => use(known);
  const nobody = { search: null, state: "off", fault: null, offered: null, refused: null };
  show(page(told ?? nobody));
  element("none").hidden ||= Boolean(told?.chat || known);
  if (told?.chat) {
    showChat(told.chat, tab.id);
  }
  list((await chrome.runtime.sendMessage({ kind: "results", ...here })) ?? [], tab);
}

if (window.top === window) {
  element("without").onclick = without;
  element("again").onclick = open;
  open();
}
