/** The line to the daemon: each answer goes to the call that it answers, and a late one nowhere. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { module } from "./at.mjs";

const { Relay } = await module("lib/relay.js");
const LONG = 60_000;
const ABSENT = { code: "no daemon", what: "the daemon is not running", hint: "start it" };

/** A browser whose lines can be spoken for; `refuses`: it cannot start the program. */
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
  return runtime;
}

const answer = (id, body, status = 200) => ({ id, status, body });

test("answers come in the order of the calls", async () => {
  const runtime = browser();
  const relay = new Relay(runtime);
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
  const runtime = browser();
  const relay = new Relay(runtime);
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
    const runtime = browser();
    const call = new Relay(runtime).call("decide", {}, LONG);
    runtime.ports[0].says(message);
    assert.equal((await call).body, null);
    assert.equal(runtime.ports[0].open, false);
  });
}

test("an answer that nobody waits for drops the line", () => {
  const runtime = browser();
  const relay = new Relay(runtime);
  relay.call("status", null, LONG);
  runtime.ports[0].says(answer(0, {}));
  runtime.ports[0].says(answer(1, {}));
  assert.equal(runtime.ports[0].open, false);
});

for (const [why, code] of [
  ["Specified native messaging host not found.", "no host"],
  ["Access to the specified native messaging host is forbidden.", "no host"],
  ["No such native application reticent.relay", "no host"],
  ["Native host has exited.", "no daemon"],
  [undefined, "no daemon"],
]) {
  test(`the line ends: ${why}`, async () => {
    const runtime = browser();
    const relay = new Relay(runtime);
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
  const { body, fault } = await new Relay(browser(true)).call("status", null, LONG);
  assert.equal(body, null);
  assert.equal(fault.code, "no daemon");
});
