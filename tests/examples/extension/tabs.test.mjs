/** Tabs: what a badge says, the offers of sites, and who sends a message. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { module, search, site } from "./at.mjs";

const { Tabs } = await module("lib/tabs.js");
const GATE = "chrome-extension://own/chromium/gate.html";
const X = search("a.example", "x");
const searched = (attributes, fault = null) => ({
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
  tabs.note(1, searched({ region: "x", int_python: "yes" }));
  tabs.note(2, searched({}));
  tabs.paint(3);
  assert.deepEqual([...shown.texts], [[1, "2"], [2, "0"]]);
  assert.match(shown.titles.get(1), /a\.example 2 facts/);
  assert.match(shown.titles.get(2), /no facts/);
});

test("what is wrong stands everywhere, and goes again", () => {
  const { shown, daemon, tabs } = made();
  tabs.note(1, searched({ region: "x" }));
  for (const state of ["off", "slow", ""]) {
    daemon.state = state;
    tabs.paintAll();
    assert.deepEqual([...shown.texts.values()].sort(), [state || "1", state].sort());
  }
});

test("a browser that finds no relay says so, and not that nothing runs", () => {
  const { shown, daemon, tabs } = made();
  tabs.note(1, searched({}, { code: "no host" }));
  for (const [code, words] of [["no host", /finds no Reticent/], ["no daemon", /does not run/]]) {
    Object.assign(daemon, { state: "off", fault: { code } });
    tabs.paintAll();
    assert.deepEqual([...shown.texts.values()], ["off", "off"]);
    [...shown.titles.values()].forEach((each) => assert.match(each, words));
  }
});

test("what a search carried is forgotten as the vault is locked", () => {
  const { shown, daemon, tabs } = made();
  tabs.note(1, searched({ region: "x" }));
  tabs.note(2, searched({}, { code: "no daemon" }));
  daemon.state = "lock";
  tabs.paintAll();
  assert.equal(tabs.last(1), null);
  assert.equal(tabs.last(2).fault.code, "no daemon");
  const locked = { ...searched({}), answer: { code: "locked", attributes: {} } };
  tabs.note(1, locked);
  tabs.paintAll();
  assert.equal(tabs.last(1), locked);
  assert.equal(shown.texts.get(1), "lock");
  tabs.note(404, searched({ region: "x" }));
  tabs.forget(404);
  assert.equal(tabs.last(404), null);
});

test("what a search carried is forgotten in all tabs as its site is refused", () => {
  const { shown, daemon, tabs } = made();
  [1, 2].forEach((tab) => tabs.note(tab, searched({ region: "x" })));
  tabs.note(3, { ...searched({}), recipient: "b.example" });
  daemon.refused.add("a.example");
  tabs.paintAll();
  assert.deepEqual([1, 2, 3, "all"].map((tab) => shown.texts.get(tab)), [null, null, "0", ""]);
  assert.deepEqual([tabs.last(1), tabs.last(2)], [null, null]);
});

for (const [name, pages, kept] of [
  ["its own page", [X], true],
  ["a part of it", [X, `${X}#here`], true],
  ["more of the same search", [X, `${X}&page=2`], true],
  ["another page of its site", [X, "https://www.a.example/result"], true],
  ["a search there that was not asked about", [X, search("a.example", "y")], false],
  ["another site", [X, "https://c.example/"], false],
  ["another site that is listed", [X, search("b.example", "x")], false],
  ["a site of a like name", [X, "https://ba.example/"], false],
  ["a site that the search is sent on to", ["https://c.example/"], false],
  ["no page of the web", [X, undefined], false],
  ["no page of the web yet", [undefined], true],
  ["a page of the browser", [X, "chrome://version/"], false],
  ["the gate, and then its page", [`${GATE}#${X}`, X], true],
]) {
  test(`what a search carried is ${kept ? "kept" : "forgotten"} at ${name}`, () => {
    const { shown, tabs } = made();
    tabs.note(1, searched({ region: "x" }));
    tabs.note(2, searched({ region: "x" }));
    pages.forEach((now) => tabs.follow(1, { moved: now, now }));
    assert.equal(tabs.last(1) !== null, kept);
    assert.equal(shown.texts.get(1), kept ? "1" : null);
    assert.equal(shown.texts.get(2), "1");
  });
}

test("a site that has offered says so, whatever is searched for there", () => {
  const { shown, tabs } = made();
  tabs.offered(1, "c.example");
  assert.equal(tabs.offering(1), "c.example");
  assert.equal(shown.texts.get(1), "?");
  const words = "c.example says which facts it could use: `reticent requests list --waiting`";
  assert.equal(shown.titles.get(1), words);
  for (const now of [search("c.example", "x"), search("c.example", "y")]) {
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
  tabs.note(1, searched({ region: "x" }));
  assert.deepEqual([tabs.offering(1), shown.texts.get(1)], [null, "1"]);
});

const { Offers } = await module("lib/offers.js");
const { MOST_OFFERS } = await module("lib/limits.js");
const offering = (query, value = "region", host = "a.example") => ({
  url: search(host, query),
  method: "GET",
  responseHeaders: [{ name: "accept-shared-attributes", value }],
});

/** Offers to a daemon that says these, and then that the user is asked. */
function offersOf(...answers) {
  const told = [];
  const offer = async ({ names }) => {
    told.push(names[0]);
    return answers.length > 0 ? answers.shift() : true;
  };
  return { told, offers: new Offers({ offer }) };
}

test("what the user is asked about is told once", async () => {
  const { told, offers } = offersOf();
  const template = search("a.example", "{query}");
  const offer = { recipient: "a.example", names: ["region"], search: template };
  assert.deepEqual(await offers.heard(offering("x")), offer);
  assert.equal(await offers.heard(offering("y")), null);
  assert.equal((await offers.heard(offering("x", "gender"))).names[0], "gender");
  assert.equal(await offers.heard({ ...offering("x"), url: "https://a.example/other" }), null);
  assert.deepEqual(told, ["region", "gender"]);
});

for (const [name, answer, times] of [
  ["what the user is not asked about is told once", false, 1],
  ["what nobody heard is told again", null, 2],
]) {
  test(name, async () => {
    const { told, offers } = offersOf(answer);
    assert.equal(await offers.heard(offering("x")), null);
    await offers.heard(offering("x"));
    assert.equal(told.length, times);
  });
}

test("a site that makes up offers leaves room for those of others", async () => {
  const { told, offers } = offersOf();
  for (let number = 0; number <= MOST_OFFERS; number += 1) {
    await offers.heard(offering("x", `n${number}`, "evil.example"));
  }
  assert.notEqual(await offers.heard(offering("x")), null);
  assert.equal(await offers.heard(offering("x")), null);
  assert.equal(told.length, MOST_OFFERS + 2);
});

const { isPage, isVisit, listedPage } = await module("lib/senders.js");
const { scriptOf } = await module("lib/scripts.js");
const ID = "abc";
const [GATE_PAGE, POPUP] = ["chromium/gate.html", "popup/popup.html"];
const DRAWN = "0f535c20-c025-4aa4-abf8-b073d82bf0a3"; // the browser draws one for each session
const getURL = (path) => `chrome-extension://${path === GATE_PAGE ? DRAWN : ID}/${path}`;
const runtime = { id: ID, getURL };
const SITES = [site("a.example")];
const SCRIPT = { id: ID, tab: { id: 3 }, frameId: 0, url: search("a.example", "x") };

test("a page of the extension, whatever is behind its path", () => {
  for (const end of ["", "#x", "?y"]) {
    const url = `${runtime.getURL(POPUP)}${end}`;
    assert.ok(isPage({ id: ID, url }, runtime, POPUP));
    assert.ok(!isPage({ id: "other", url }, runtime, POPUP));
    assert.ok(!isPage({ id: ID, url, frameId: 2 }, runtime, POPUP));
    assert.ok(!isPage({ id: ID, url: `https://a.example/?${url}` }, runtime, POPUP));
  }
  assert.ok(!isPage({ id: ID }, runtime, POPUP));
});

test("the gate is known by where it lies, not by the address that leads there", () => {
  const url = `chrome-extension://${ID}/${GATE_PAGE}`;
  assert.ok(isPage({ id: ID, url: `${url}#x` }, runtime, GATE_PAGE));
  assert.ok(!isPage({ id: ID, url: getURL(GATE_PAGE) }, runtime, GATE_PAGE));
});

test("a page that a tab goes to, and none that is fetched ahead", () => {
  const request = { tabId: 3, frameId: 0, documentLifecycle: "active" };
  assert.ok(isVisit(request));
  assert.ok(isVisit({ tabId: 3 }));
  for (const more of [{ tabId: -1 }, { documentId: "1B2B" }, { documentLifecycle: "prerender" }]) {
    assert.ok(!isVisit({ ...request, ...more }));
  }
});

test("our script in the top frame of a listed site's page", () => {
  const wanted = { tab: 3, address: SCRIPT.url, origin: "https://a.example" };
  assert.deepEqual(listedPage(SCRIPT, runtime, SITES), wanted);
  for (const more of [
    { id: "other" },
    { tab: undefined },
    { frameId: 1 },
    { frameId: undefined },
    { url: undefined },
    { url: search("b.example", "x") },
    { url: "https://a.example:444/search?q=x" },
    { url: "http://a.example/search?q=x" },
  ]) {
    assert.equal(listedPage({ ...SCRIPT, ...more }, runtime, SITES), null);
  }
});

test("the script is on the pages of one origin", () => {
  const [own] = scriptOf("http://127.0.0.1:8710", true).matches;
  assert.equal(own, "http://127.0.0.1:8710/*");
  assert.deepEqual(scriptOf("http://127.0.0.1:8710", false).matches, ["http://127.0.0.1/*"]);
  assert.equal(scriptOf("https://a.example", true).persistAcrossSessions, false);
});
