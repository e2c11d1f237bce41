/** The relay to the daemon, its state, and the sites that it lists. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { module, search, site } from "./at.mjs";

const { Relay } = await module("lib/relay.js");
const [LONG, X] = [60_000, search("a.example", "x")];
const ABSENT = { code: "no daemon", what: "the daemon is not running", hint: "start it" };

/** A browser whose lines can be spoken for, and its relay; `refuses`: it starts no program. */
function browser(refuses = false) {
  const ports = [];
  const runtime = { ports, lastError: undefined };
  runtime.connectNative = (name) => {
    if (refuses) {
      throw new Error("no");
    }
    assert.equal(name, "reticent.relay");
    const port = { sent: [], open: true, hears: [], ends: [] };
    port.postMessage = (message) => port.sent.push(message);
    port.disconnect = () => (port.open = false);
    port.onMessage = { addListener: (listener) => port.hears.push(listener) };
    port.onDisconnect = { addListener: (listener) => port.ends.push(listener) };
    port.says = (message) => port.hears.forEach((each) => each(message));
    port.end = () => port.ends.forEach((each) => each(port));
    ports.push(port);
    return port;
  };
  return { runtime, relay: new Relay(runtime) };
}

const answer = (id, body, status = 200) => ({ id, status, body });

test("answers come in the order of the calls", async () => {
  const { runtime, relay } = browser();
  const calls = ["status", "decide", "refuse"].map((each) => relay.call(each, null, LONG));
  const [port] = runtime.ports;
  assert.deepEqual(port.sent.map(({ call }) => call), ["status", "decide", "refuse"]);
  const ids = port.sent.map(({ id }) => id);
  assert.equal(new Set(ids).size, 3);
  port.says(answer(ids[0], { locked: true }));
  port.says(ABSENT);
  port.says(answer(ids[2], ABSENT, 500));
  assert.deepEqual(await Promise.all(calls), [
    { body: { locked: true }, fault: null },
    { body: null, fault: ABSENT },
    { body: null, fault: ABSENT },
  ]);
  assert.equal(runtime.ports.length, 1);
});

test("what is too slow drops the line, with all that waits; a late answer goes nowhere", async () => {
  const { runtime, relay } = browser();
  const calls = [relay.call("decide", {}, 1), relay.call("decide", {}, LONG)];
  for (const outcome of await Promise.all(calls)) {
    assert.equal(outcome.fault.code, "too slow");
  }
  const [old] = runtime.ports;
  assert.equal(old.open, false);
  const next = relay.call("decide", {}, LONG);
  const [, fresh] = runtime.ports;
  const [{ id }] = fresh.sent;
  old.says(answer(old.sent[0].id, { header: "late" }));
  old.says(answer(id, { header: "forged" }));
  old.end();
  fresh.says(answer(id, { header: "own" }));
  assert.deepEqual(await next, { body: { header: "own" }, fault: null });
});

for (const [name, message] of Object.entries({
  "an answer to another call": answer(7, {}),
  "no answer at all": "hello",
  nothing: null,
  "an answer without a body": { id: 0, status: 200 },
  "a fault without a code": { what: "odd" },
  "a body of another kind": answer(0, "text"),
})) {
  test(`${name} drops the line`, async () => {
    const { runtime, relay } = browser();
    const call = relay.call("decide", {}, LONG);
    runtime.ports[0].says(message);
    assert.equal((await call).body, null);
    assert.equal(runtime.ports[0].open, false);
  });
}

for (const [why, code] of [
  ["Specified native messaging host not found.", "no host"],
  ["Access to the specified native messaging host is forbidden.", "no host"],
  ["No such native application reticent.relay", "no host"],
  ["Native host has exited.", "no daemon"],
  [undefined, "no daemon"],
]) {
  test(`the line ends: ${why}`, async () => {
    const { runtime, relay } = browser();
    const call = relay.call("status", null, LONG);
    runtime.lastError = why && { message: why };
    runtime.ports[0].end();
    assert.equal((await call).fault.code, code);
    relay.call("status", null, LONG);
    assert.equal(runtime.ports.length, 2);
    runtime.ports[1].end();
  });
}

test("a program that cannot be started is a fault", async () => {
  const { body, fault } = await browser(true).relay.call("status", null, LONG);
  assert.equal(body, null);
  assert.equal(fault.code, "no daemon");
});

const { Daemon } = await module("lib/daemon.js");
const listed = (...hosts) => hosts.map((each) => ({ recipient: each, search: site(each).search }));
const status = (sites, more = {}) => ({ version: "1", locked: false, clicks: false, sites, ...more });

/** A relay that answers with what is said next. */
function answering(...outcomes) {
  const calls = [];
  const call = async (name, body) => {
    calls.push([name, body]);
    const next = outcomes.shift();
    return next?.code ? { body: null, fault: next } : { body: next ?? { done: true }, fault: null };
  };
  return { calls, call };
}

async function started(...outcomes) {
  const line = answering(...outcomes);
  const daemon = new Daemon(line, () => {});
  await daemon.heard;
  return { daemon, line };
}

const hosts = (daemon) => daemon.sites.map(({ recipient }) => recipient);

test("it asks at once, and knows what is listed", async () => {
  const bad = { recipient: "c.example", search: "https://c.example/" };
  const sites = [...listed("a.example"), bad, null, "text", {}];
  const { daemon, line } = await started(status(sites, { clicks: true, stale_rules: true }));
  assert.deepEqual(line.calls, [["status", null]]);
  assert.deepEqual(hosts(daemon), ["a.example"]);
  assert.deepEqual([daemon.clicks, daemon.stale], [true, true]);
  assert.equal(daemon.state, "");
});

test("a locked one keeps what was known, an open one does not", async () => {
  const { daemon } = await started(
    status(listed("a.example", "b.example")),
    status(listed("c.example", "b.example"), { locked: true }),
    status(listed("c.example")),
  );
  await daemon.look();
  assert.equal(daemon.state, "lock");
  assert.deepEqual(hosts(daemon).sort(), ["a.example", "b.example", "c.example"]);
  await daemon.look();
  assert.equal(daemon.state, "");
  assert.deepEqual(hosts(daemon), ["c.example"]);
});

test("where it does not answer, the sites stay", async () => {
  const { daemon } = await started(status(listed("a.example")), { code: "no daemon" });
  await daemon.look();
  assert.equal(daemon.state, "off");
  assert.equal(daemon.fault.code, "no daemon");
  assert.deepEqual(hosts(daemon), ["a.example"]);
});

for (const [said, state] of [
  [{ code: "answered", header: "" }, ""],
  [{ code: "locked" }, "lock"],
  [{ code: "too slow" }, "slow"],
  [{ code: "no daemon" }, "off"],
  [{ code: "no host" }, "off"],
  [{ code: "blocked" }, ""],
  [{ code: "malformed" }, ""],
]) {
  test(`the state after: ${said.code}`, async () => {
    const { daemon } = await started(status([]), said);
    const { recipient, query, fault } = await daemon.decide(site("a.example"), "x");
    assert.equal(daemon.state, state);
    assert.deepEqual([recipient, query, fault], ["a.example", "x", said]);
  });
}

test("where pages led too often they are not asked about for a while, and the user is", async (context) => {
  context.mock.timers.enable({ apis: ["Date"] });
  const [full, asked] = [{ code: "too many from pages" }, []];
  const call = async (name, body, _, more) => {
    asked.push(name === "decide" ? `${body.recipient} ${more.by}` : name);
    return { body: more?.by === "page" ? full : { code: "answered" }, fault: null };
  };
  const daemon = new Daemon({ call }, () => {});
  await daemon.heard;
  const decide = async (host, by) => (await daemon.decide(site(host), "x", by)).answer.code;
  assert.equal(await decide("a.example", "page"), full.code);
  assert.equal(await decide("a.example", "page"), full.code);
  assert.equal(await decide("a.example", "user"), "answered");
  assert.equal(await decide("b.example", "page"), full.code);
  context.mock.timers.tick(1000);
  assert.equal(await decide("a.example", "page"), full.code);
  const all = ["a.example page", "a.example user", "b.example page", "a.example page"];
  assert.deepEqual(asked, ["status", ...all]);
});

test("it asks for one recipient, and nothing too long", async () => {
  const { daemon, line } = await started(status([]), { answered: true });
  await daemon.decide(site("a.example"), "version control");
  const wanted = { query: "version control", recipient: "a.example", asked: null };
  assert.deepEqual(line.calls.at(-1), ["decide", wanted]);
  const { answer, fault } = await daemon.decide(site("a.example"), "x".repeat(4097));
  assert.equal(answer, null);
  assert.equal(fault.code, "too large");
  assert.equal(line.calls.length, 2);
});

for (const [said, asked] of [
  [{ done: true }, true],
  [{ done: false }, false],
  [{ code: "no daemon" }, null],
]) {
  test(`whether the user is asked about an offer: ${asked}`, async () => {
    const { daemon, line } = await started(status([]), said);
    assert.equal(await daemon.offer({ recipient: "a.example" }), asked);
    assert.deepEqual(line.calls[1], ["offer", { recipient: "a.example" }]);
  });
}

test("what is refused is no site any more, also while it is locked", async () => {
  const both = listed("a.example", "b.example");
  const locked = status(listed(), { locked: true });
  const outcomes = [status(both), { code: "locked" }, { done: true }, locked, status(both)];
  const { daemon, line } = await started(...outcomes);
  assert.equal((await daemon.refuse("a.example")).code, "locked");
  assert.deepEqual(hosts(daemon), ["a.example", "b.example"]);
  assert.equal(await daemon.refuse("a.example"), null);
  assert.deepEqual(line.calls[2], ["refuse", { recipient: "a.example" }]);
  assert.deepEqual(hosts(daemon), ["b.example"]);
  assert.deepEqual([...daemon.refused], ["a.example"]);
  await daemon.look();
  assert.deepEqual([hosts(daemon), daemon.refused.size], [["a.example", "b.example"], 0]);
});

test("results are read as text, with links into the web, of the page that was asked for", async () => {
  const { resultsOf } = await module("lib/results.js");
  const links = ["https://a.example/", "javascript:a", "https://[", { animVal: "https://b.example/" }];
  const each = (href) => ({ querySelector: (what) => (what === "p" ? null : { textContent: " a\n b ", href }) });
  Object.assign(globalThis, { document: { querySelectorAll: () => links.map(each) }, location: { href: X } });
  const scripting = { executeScript: async ({ func, args }) => [{ result: func(...args) }] };
  const found = [await resultsOf(scripting, 1, X), await resultsOf(scripting, 1, `${X}y`)];
  assert.deepEqual(found, [[{ title: "a b", snippet: "", link: links[0] }], []]);
});
