/** An offer is made once, and again only where nobody heard it. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { module, search } from "./at.mjs";

const { Offers } = await module("lib/offers.js");
const { MOST_OFFERS } = await module("lib/limits.js");
const offering = (query, value = "region", host = "a.example") => ({
  url: search(host, query),
  method: "GET",
  responseHeaders: [{ name: "accept-shared-attributes", value }],
});

/** Offers to a daemon that says these, and then that the user is asked. */
function made(...answers) {
  const told = [];
  const offer = async ({ names }) => {
    told.push(names[0]);
    return answers.length > 0 ? answers.shift() : true;
  };
  return { told, offers: new Offers({ offer }) };
}

test("what the user is asked about is told once", async () => {
  const { told, offers } = made();
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
    const { told, offers } = made(answer);
    assert.equal(await offers.heard(offering("x")), null);
    await offers.heard(offering("x"));
    assert.equal(told.length, times);
  });
}

test("a site that makes up offers leaves room for those of others", async () => {
  const { told, offers } = made();
  for (let number = 0; number <= MOST_OFFERS; number += 1) {
    await offers.heard(offering("x", `n${number}`, "evil.example"));
  }
  assert.notEqual(await offers.heard(offering("x")), null);
  assert.equal(await offers.heard(offering("x")), null);
  assert.equal(told.length, MOST_OFFERS + 2);
});
