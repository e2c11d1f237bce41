/** What is known of the daemon: its state, and the sites that it lists. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { module, site } from "./at.mjs";

const { Daemon } = await module("lib/daemon.js");
const listed = (...hosts) => hosts.map((each) => ({ recipient: each, search: site(each).search }));
const status = (sites, more = {}) => ({ version: "1", locked: false, clicks: false, sites, ...more });

/** A relay that answers with what is said next. */
function relay(...outcomes) {
  const calls = [];
  const call = async (name, body) => {
    calls.push([name, body]);
    const next = outcomes.shift();
    return next?.code ? { body: null, fault: next } : { body: next ?? { done: true }, fault: null };
  };
  return { calls, call };
}

async function started(...outcomes) {
  const line = relay(...outcomes);
  const daemon = new Daemon(line, () => {});
  await daemon.heard;
  return { daemon, line };
}

const hosts = (daemon) => daemon.sites.map(({ recipient }) => recipient);

test("it asks at once, and knows what is listed", async () => {
  const bad = { recipient: "c.example", search: "https://c.example/" };
  const sites = [...listed("a.example"), bad, null, "text", {}];
  const { daemon, line } = await started(status(sites, { clicks: true }));
  assert.deepEqual(line.calls, [["status", null]]);
  assert.deepEqual(hosts(daemon), ["a.example"]);
  assert.equal(daemon.clicks, true);
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
    const { daemon } = await started(status([]));
    const answer = { body: null, fault: said };
    const { daemon: asked } = await started(status([]), said);
    const decided = await asked.decide(site("a.example"), "x");
    assert.equal(asked.state, state);
    assert.equal(daemon.state, "");
    assert.deepEqual([decided.recipient, decided.query], ["a.example", "x"]);
    assert.deepEqual(decided.fault, answer.fault);
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
  const { daemon, line } = await started(status(both), { done: true }, locked);
  assert.equal(await daemon.refuse("a.example"), null);
  assert.deepEqual(line.calls[1], ["refuse", { recipient: "a.example" }]);
  assert.deepEqual(hosts(daemon), ["b.example"]);
  assert.deepEqual([...daemon.refused], ["a.example"]);
});

test("what is listed again is refused no more", async () => {
  const both = listed("a.example", "b.example");
  const { daemon } = await started(status(both), null, status(listed("b.example")), status(both));
  await daemon.refuse("a.example");
  assert.deepEqual([...daemon.refused], ["a.example"]);
  await daemon.look();
  assert.deepEqual([...daemon.refused], []);
});

test("a refusal that failed says why, and changes nothing", async () => {
  const { daemon } = await started(status(listed("a.example")), { code: "locked" });
  assert.equal((await daemon.refuse("a.example")).code, "locked");
  assert.deepEqual(hosts(daemon), ["a.example"]);
  assert.equal(daemon.refused.size, 0);
});
