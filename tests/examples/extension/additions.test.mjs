/** What is added to a search's address: once, whatever a tab goes to next, and nothing in circles. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { module, search, site } from "./at.mjs";

const { Searching } = await module("lib/searching.js");
const WORDS = { "unit test": "python", "slow query": "c++ sql" };
const QUERIES = [...Object.keys(WORDS), "knee pain"];
const LANGUAGE = { kl: "de-de" };
const [WORDED, SET] = ["w.example", "p.example"];
const at = (query, host = WORDED) => search(host, query.replaceAll("+", "%2B").replaceAll(" ", "+"));
const led = (query) => at(query + (WORDS[query] ? ` ${WORDS[query]}` : ""));

/** A daemon, tabs, and what decides for them; `asked`: the queries that the daemon was asked. */
function made() {
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

test("words stand after the query, and go there once, whoever comes by", async () => {
  const { asked, leaves, notes } = made();
  assert.equal(await leaves(1, `${at("unit test")}&ia=web#top`), `${led("unit test")}&ia=web#top`);
  for (const [tab, more] of [[1, ""], [2, ""], [3, "&page=2"]]) {
    assert.equal(await leaves(tab, led("unit test") + more), led("unit test") + more);
    assert.equal(notes.get(tab).query, "unit test");
  }
  assert.deepEqual(asked, ["unit test"]);
});

test("a header is none of what is added", async () => {
  const { searching } = made();
  assert.equal((await searching.leaves(1, at("unit test"))).header, "");
});

test("parameters are set where they are not, in each address", async () => {
  const { asked, leaves } = made();
  const address = at("x", SET);
  assert.equal(await leaves(1, address), `${address}&kl=de-de`);
  assert.equal(await leaves(1, `${address}&kl=de-de`), `${address}&kl=de-de`);
  assert.equal(await leaves(1, `${address}&p=2`), `${address}&p=2&kl=de-de`);
  assert.equal(await leaves(1, `${address}&kl=fr-fr`), `${address}&kl=fr-fr`);
  assert.deepEqual(asked, ["x", "x", "x"]);
});

test("the same again in a tab goes on as it is, until that searches for something else", async () => {
  const { asked, leaves, notes } = made();
  await leaves(1, at("unit test"));
  for (const more of ["", "&ia=web"]) {
    assert.equal(await leaves(1, at("unit test") + more), at("unit test") + more);
    assert.equal(notes.get(1).fault.code, "repeated");
  }
  assert.equal(await leaves(2, at("unit test")), led("unit test"));
  await leaves(1, at("knee pain"));
  assert.equal(await leaves(1, at("unit test")), led("unit test"));
  assert.deepEqual(asked, ["unit test", "unit test", "knee pain", "unit test"]);
});

test("one that the user sends off twice at once is decided as it was", async (context) => {
  context.mock.timers.enable({ apis: ["Date"] });
  const { searching, leaves } = made();
  for (const [after, wanted] of [[0, led("unit test")], [999, led("unit test")], [1000, at("unit test")]]) {
    context.mock.timers.tick(after);
    searching.own(1, at("unit test"));
    assert.equal(await leaves(1, at("unit test")), wanted);
  }
});

test("where nobody answers, nothing is added, and it is asked again", async () => {
  const { asked, leaves } = made();
  for (let times = 0; times < 2; times += 1) {
    assert.equal(await leaves(1, at("off")), at("off"));
  }
  assert.deepEqual(asked, ["off", "off"]);
});

test("a click is of what was asked for, and after the lock nothing is known of that", async () => {
  const { asked, searching, leaves } = made();
  await leaves(1, at("unit test"));
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
    const [draw, { asked, leaves }] = [drawn(seed), made()];
    const been = [at(QUERIES[draw(3)])];
    for (let step = 0; step < 30; step += 1) {
      const tab = draw(3);
      const from = draw(2) ? at(QUERIES[draw(3)]) : been[draw(been.length)]; // typed; back, reloaded
      const first = await leaves(tab, from);
      assert.equal(await leaves(tab, first), first, "it is led once");
      const back = await leaves(tab, from); // the page leads back to where it was led from
      assert.equal(await leaves(tab, from), back, "and then it rests");
      been.push(first, back);
    }
    const wanted = new Set(QUERIES.flatMap((each) => [at(each), led(each)]));
    assert.ok(been.every((each) => wanted.has(each)), been.join("\n"));
    assert.ok(asked.every((each) => QUERIES.includes(each)), "what was added is not asked about");
  }
});
