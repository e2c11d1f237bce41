/** The badge: how much a tab's last search carried, and what is wrong where something is. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { module, site, search as address } from "./at.mjs";

const { Tabs } = await module("lib/tabs.js");
const GATE = "chrome-extension://own/chromium/gate.html";
const X = address("a.example", "x");
const search = (attributes, fault = null) => ({
  recipient: "a.example",
  query: "x",
  url: X,
  answer: fault ? null : { code: "answered", attributes },
  fault,
});

/** Badges, by tab; those of tabs that are closed fail. */
function action() {
  const [texts, titles] = [new Map(), new Map()];
  const set = (map) => async ({ tabId = "all", text, title }) => {
    if (tabId === 404) {
      throw new Error("no such tab");
    }
    map.set(tabId, text === undefined ? title : text);
  };
  const shown = { setBadgeText: set(texts), setTitle: set(titles) };
  return { texts, titles, ...shown, setBadgeBackgroundColor: async () => {} };
}

function made() {
  const sites = [site("a.example"), site("b.example")];
  const [shown, daemon] = [action(), { state: "", fault: null, sites, refused: new Set() }];
  return { shown, daemon, tabs: new Tabs(shown, daemon) };
}

test("a number for a search, and none for a tab without one", () => {
  const { shown, tabs } = made();
  tabs.note(1, search({ region: "x", int_python: "yes" }));
  tabs.note(2, search({}));
  tabs.paint(3);
  assert.deepEqual([...shown.texts], [[1, "2"], [2, "0"]]);
  assert.match(shown.titles.get(1), /a\.example 2 facts/);
  assert.match(shown.titles.get(2), /no facts/);
});

test("what is wrong stands everywhere, and goes again", () => {
  const { shown, daemon, tabs } = made();
  tabs.note(1, search({ region: "x" }));
  for (const state of ["off", "slow", ""]) {
    daemon.state = state;
    tabs.paintAll();
    assert.deepEqual([...shown.texts.values()].sort(), [state || "1", state].sort());
  }
});

test("a browser that finds no relay says so, and not that nothing runs", () => {
  const { shown, daemon, tabs } = made();
  tabs.note(1, search({}, { code: "no host" }));
  for (const [code, words] of [["no host", /finds no Reticent/], ["no daemon", /does not run/]]) {
    Object.assign(daemon, { state: "off", fault: { code } });
    tabs.paintAll();
    assert.deepEqual([...shown.texts.values()], ["off", "off"]);
    [...shown.titles.values()].forEach((each) => assert.match(each, words));
  }
});

test("what a search carried is forgotten as the vault is locked", () => {
  const { shown, daemon, tabs } = made();
  tabs.note(1, search({ region: "x" }));
  tabs.note(2, search({}, { code: "no daemon" }));
  daemon.state = "lock";
  tabs.paintAll();
  assert.equal(tabs.last(1), null);
  assert.equal(tabs.last(2).fault.code, "no daemon");
  const locked = { ...search({}), answer: { code: "locked", attributes: {} } };
  tabs.note(1, locked);
  tabs.paintAll();
  assert.equal(tabs.last(1), locked);
  assert.equal(shown.texts.get(1), "lock");
});

test("what a search carried is forgotten in all tabs as its site is refused", () => {
  const { shown, daemon, tabs } = made();
  [1, 2].forEach((tab) => tabs.note(tab, search({ region: "x" })));
  tabs.note(3, { ...search({}), recipient: "b.example" });
  daemon.refused.add("a.example");
  tabs.paintAll();
  assert.deepEqual([1, 2, 3, "all"].map((tab) => shown.texts.get(tab)), [null, null, "0", ""]);
  assert.deepEqual([tabs.last(1), tabs.last(2)], [null, null]);
});

test("a badge whose search is forgotten says what all say", () => {
  const { shown, daemon, tabs } = made();
  tabs.note(1, search({ region: "x" }));
  daemon.state = "lock";
  tabs.paintAll();
  assert.deepEqual([shown.texts.get(1), shown.texts.get("all")], [null, "lock"]);
});

for (const [name, pages, kept] of [
  ["its own page", [X], true],
  ["a part of it", [X, `${X}#here`], true],
  ["more of the same search", [X, `${X}&page=2`], true],
  ["another page of its site", [X, "https://www.a.example/result"], true],
  ["a search there that was not asked about", [X, address("a.example", "y")], false],
  ["another site", [X, "https://c.example/"], false],
  ["another site that is listed", [X, address("b.example", "x")], false],
  ["a site of a like name", [X, "https://ba.example/"], false],
  ["a site that the search is sent on to", ["https://c.example/"], false],
  ["no page of the web", [X, undefined], false],
  ["no page of the web yet", [undefined], true],
  ["a page of the browser", [X, "chrome://version/"], false],
  ["the gate, and then its page", [`${GATE}#${X}`, X], true],
]) {
  test(`what a search carried is ${kept ? "kept" : "forgotten"} at ${name}`, () => {
    const { shown, tabs } = made();
    tabs.note(1, search({ region: "x" }));
    tabs.note(2, search({ region: "x" }));
    pages.forEach((now) => tabs.follow(1, { moved: now, now }));
    assert.equal(tabs.last(1) !== null, kept);
    assert.equal(shown.texts.get(1), kept ? "1" : null);
    assert.equal(shown.texts.get(2), "1");
  });
}

test("what is said of the page before the search's is not of the search", () => {
  const { tabs } = made();
  for (const now of ["https://c.example/", address("a.example", "before"), undefined]) {
    tabs.note(1, search({ region: "x" }));
    tabs.follow(1, { now });
    assert.equal(tabs.last(1).query, "x");
  }
});

test("a site that has offered says so, whatever is searched for there", () => {
  const { shown, tabs } = made();
  tabs.offered(1, "c.example");
  assert.equal(tabs.offering(1), "c.example");
  assert.equal(shown.texts.get(1), "?");
  const words = "c.example says which facts it could use: `reticent requests list --waiting`";
  assert.equal(shown.titles.get(1), words);
  for (const now of [address("c.example", "x"), address("c.example", "y")]) {
    tabs.follow(1, { moved: now, now });
    assert.equal(shown.texts.get(1), "?");
  }
  tabs.follow(1, { moved: X, now: X });
  assert.deepEqual([tabs.offering(1), shown.texts.get(1)], [null, null]);
});

test("a site that has offered says so until it is listed, or refused", () => {
  for (const listed of [true, false]) {
    const { shown, daemon, tabs } = made();
    tabs.offered(1, "www.c.example");
    daemon.state = "lock";
    tabs.paintAll();
    assert.deepEqual([tabs.offering(1), shown.texts.get(1)], ["www.c.example", "lock"]);
    listed ? daemon.sites.push(site("c.example")) : daemon.refused.add("www.c.example");
    tabs.paintAll();
    assert.deepEqual([tabs.offering(1), shown.texts.get(1)], [null, null]);
  }
});

test("what a listed or refused site offers, and where there was a search, is no question", () => {
  const { shown, daemon, tabs } = made();
  daemon.refused.add("d.example");
  ["a.example", "d.example", "www.d.example"].forEach((host) => tabs.offered(1, host));
  assert.deepEqual([tabs.offering(1), shown.texts.size], [null, 0]);
  tabs.offered(1, "c.example");
  tabs.note(1, search({ region: "x" }));
  assert.deepEqual([tabs.offering(1), shown.texts.get(1)], [null, "1"]);
});

test("a search that took too long says so until the next", () => {
  const { shown, tabs } = made();
  tabs.note(1, search({}, { code: "too slow" }));
  assert.equal(shown.texts.get(1), "slow");
  tabs.note(1, search({ region: "x" }));
  assert.equal(shown.texts.get(1), "1");
});

test("a tab that is closed is forgotten, and a badge of one is no error", () => {
  const { tabs } = made();
  tabs.note(404, search({}));
  tabs.forget(404);
  assert.equal(tabs.last(404), null);
});
