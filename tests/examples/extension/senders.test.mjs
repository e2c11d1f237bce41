/** Who sends a message: what the browser says of the sender counts. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { module, search, site } from "./at.mjs";

const { isPage, isVisit, listedPage } = await module("lib/senders.js");
const { scriptOf } = await module("lib/scripts.js");
const ID = "abc";
const [GATE, POPUP] = ["chromium/gate.html", "popup/popup.html"];
const DRAWN = "0f535c20-c025-4aa4-abf8-b073d82bf0a3"; // the browser draws one for each session
const getURL = (path) => `chrome-extension://${path === GATE ? DRAWN : ID}/${path}`;
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
  const url = `chrome-extension://${ID}/${GATE}`;
  assert.ok(isPage({ id: ID, url: `${url}#x` }, runtime, GATE));
  assert.ok(!isPage({ id: ID, url: getURL(GATE) }, runtime, GATE));
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
