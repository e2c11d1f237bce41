/** What a search carries, and what is added to its address: each once, for that search alone. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { module, search, site } from "./at.mjs";

const { Searching } = await module("lib/searching.js");

/** A daemon that counts its answers, and the searches that were noted; `seen`: tabs in front. */
function made(seen = [1, 2]) {
  const [asked, noted] = [[], []];
  const sites = [site("a.example"), site("b.example")];
  const decide = async ({ recipient }, query, by) => {
    asked.push(`${recipient} ${query}${by === "user" ? " by the user" : ""}`);
    return { recipient, query, answer: { header: `h="${asked.length}"` }, fault: null };
  };
  const daemon = { sites, heard: Promise.resolve(), decide };
  const note = (tab, { query, url, fault }) => noted.push([tab, fault?.code ?? query, url]);
  const tabs = { note, last: () => null };
  const searching = new Searching(daemon, tabs, async (tab) => seen.includes(tab));
  return { asked, noted, searching };
}

const X = search("a.example", "x");
const headerFor = async (searching, tab, address) => (await searching.leaves(tab, address)).header;

test("an answer that was begun is taken, and once", async () => {
  const { asked, noted, searching } = made();
  searching.begin(1, X);
  assert.deepEqual(noted, []);
  assert.equal(await headerFor(searching, 1, `${X}#top`), 'h="1"');
  assert.deepEqual(noted, [[1, "x", `${X}#top`]]);
  assert.equal(await headerFor(searching, 1, X), 'h="2"');
  assert.deepEqual(asked, ["a.example x", "a.example x"]);
});

for (const [name, tab, address] of [
  ["another query", 1, search("a.example", "y")],
  ["another recipient", 1, search("b.example", "x")],
  ["another tab", 2, X],
]) {
  test(`${name} has its own answer`, async () => {
    const { searching } = made();
    searching.begin(1, X);
    assert.equal(await headerFor(searching, tab, address), 'h="2"');
  });
}

test("what gives way to another search is the last to be begun until that has its answer", async () => {
  const { asked, searching } = made();
  const y = search("a.example", "y");
  [X, y, y].forEach((each) => searching.begin(1, each));
  searching.begin(2, y);
  await new Promise(setImmediate); // the browser says which tab is in front
  assert.deepEqual(asked, ["a.example x", "a.example y"]);
  assert.equal(await headerFor(searching, 1, y), 'h="3"');
  searching.begin(1, y);
  assert.equal(await headerFor(searching, 1, y), 'h="4"');
});

test("a search that is begun is of its tab, until it is taken, or gives way", async () => {
  const { searching } = made();
  const y = search("a.example", "y");
  searching.begin(1, X);
  assert.deepEqual([searching.tabOf(X), searching.tabOf(y), searching.tabOf(null)], [1, null, null]);
  searching.begin(1, y);
  assert.deepEqual([searching.tabOf(X), searching.tabOf(y)], [null, 1]);
  await headerFor(searching, 1, y);
  assert.equal(searching.tabOf(y), null);
});

test("a search of two tabs is of neither, until one of them has it", async () => {
  const { searching } = made();
  [1, 2].forEach((tab) => searching.begin(tab, X));
  assert.equal(searching.tabOf(X), null);
  await headerFor(searching, 2, X);
  assert.equal(searching.tabOf(X), 1);
  searching.forget(1);
  assert.equal(searching.tabOf(X), null);
});

test("a search that was begun too long ago is nobody's", (context) => {
  context.mock.timers.enable({ apis: ["Date"] });
  const { searching } = made();
  searching.begin(1, X);
  context.mock.timers.tick(2000);
  assert.equal(searching.tabOf(X), null);
});

test("what a page searches where nobody sees it is not asked about", async () => {
  const { asked, noted, searching } = made([1]);
  searching.begin(2, X);
  assert.equal(await headerFor(searching, 2, X), "");
  assert.deepEqual([asked, noted], [[], [[2, "unseen", X]]]);
});

test("what the user has begun is theirs, wherever it is, and once", async () => {
  const { asked, searching } = made([2]);
  searching.own(1, X);
  assert.equal(await headerFor(searching, 1, `${X}#top`), 'h="1"');
  assert.equal(await headerFor(searching, 1, X), "");
  searching.own(2, X);
  assert.equal(await headerFor(searching, 2, search("a.example", "y")), 'h="2"');
  assert.deepEqual(asked, ["a.example x by the user", "a.example y"]);
});

for (const [name, change] of [
  ["too long ago", (searching, context) => context.mock.timers.tick(2000)],
  ["forgotten", (searching) => searching.forget(1)],
]) {
  test(`what the user has begun is a page's where that is ${name}`, async (context) => {
    context.mock.timers.enable({ apis: ["Date"] });
    const { asked, searching } = made();
    searching.own(1, X);
    change(searching, context);
    await headerFor(searching, 1, X);
    assert.deepEqual(asked, ["a.example x"]);
  });
}

const WORDS = { "unit test": "python", "slow query": "c++ sql" };
const QUERIES = [...Object.keys(WORDS), "knee pain"];
const LANGUAGE = { kl: "de-de" };
const [WORDED, SET] = ["w.example", "p.example"];
const addressOf = (query, host = WORDED) => search(host, query.replaceAll("+", "%2B").replaceAll(" ", "+"));
const led = (query) => addressOf(query + (WORDS[query] ? ` ${WORDS[query]}` : ""));

/** A daemon, tabs, and what decides for them; `asked`: the queries that the daemon was asked. */
function adding() {
  const [asked, notes] = [[], new Map()];
  const daemon = {
    sites: [site(WORDED, "words"), site(SET, "parameters")],
    heard: Promise.resolve(),
    decide: async ({ recipient, carry }, query, by) => {
      asked.push(query);
      const parameters = carry === "parameters" ? LANGUAGE : {};
      const answer = { header: "h", words: WORDS[query] ?? "", parameters };
      return { recipient, query, answer: query === "off" ? null : answer, fault: null };
    },
  };
  const tabs = { note: (tab, each) => notes.set(tab, each), last: (tab) => notes.get(tab) ?? null };
  const searching = new Searching(daemon, tabs, async () => true);
  return { asked, searching, notes, leaves: async (tab, from) => (await searching.leaves(tab, from)).address };
}

test("one that the user sends off twice at once is decided as it was", async (context) => {
  context.mock.timers.enable({ apis: ["Date"] });
  const { searching, leaves } = adding();
  for (const [after, wanted] of [[0, led("unit test")], [999, led("unit test")], [1000, addressOf("unit test")]]) {
    context.mock.timers.tick(after);
    searching.own(1, addressOf("unit test"));
    assert.equal(await leaves(1, addressOf("unit test")), wanted);
  }
});

test("a click is of what was asked for, and after the lock nothing is known of that", async () => {
  const { asked, searching, leaves } = adding();
  await leaves(1, addressOf("unit test"));
  const found = { site: site(WORDED, "words"), query: "unit test python" };
  assert.equal(searching.asked(found, led("unit test")), "unit test");
  searching.forgetLed();
  assert.equal(searching.asked(found, led("unit test")), "unit test python");
  assert.equal(await leaves(2, led("unit test")), led("unit test"));
  assert.deepEqual(asked, ["unit test", "unit test python"]);
});

/** Numbers below `most`, drawn from a seed: Lehmer's generator. */
function drawn(seed) {
  let state = seed + 1;
  return (most) => (state = (state * 48_271) % 2_147_483_647) % most;
}

test("whatever tabs do one after the other, no word is there twice, and pages come to rest", async () => {
  for (let seed = 0; seed < 200; seed += 1) {
    const [draw, { asked, leaves }] = [drawn(seed), adding()];
    const been = [addressOf(QUERIES[draw(3)])];
    for (let step = 0; step < 30; step += 1) {
      const tab = draw(3);
      const from = draw(2) ? addressOf(QUERIES[draw(3)]) : been[draw(been.length)]; // typed; back, reloaded
      const first = await leaves(tab, from);
      assert.equal(await leaves(tab, first), first, "it is led once");
      const back = await leaves(tab, from); // the page leads back to where it was led from
      assert.equal(await leaves(tab, from), back, "and then it rests");
      been.push(first, back);
    }
    const wanted = new Set(QUERIES.flatMap((each) => [addressOf(each), led(each)]));
    assert.ok(been.every((each) => wanted.has(each)), been.join("\n"));
    assert.ok(asked.every((each) => QUERIES.includes(each)), "what was added is not asked about");
  }
});
