/** Firefox: a held request leaves with the header of its own search, or with none. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { module, search, site } from "./at.mjs";

const { Held } = await module("firefox/headers.js");
const { searchOf } = await module("lib/sites.js");
const SITES = [site("a.example")];
const PAGE = { requestId: "1", tabId: 3, frameId: 0, method: "GET", type: "main_frame" };
const OTHERS = [{ name: "Accept", value: "*/*" }];
const FORGED = [...OTHERS, { name: "shared-attributes", value: "forged" }];

/** What decides, and notes what it was asked; `header`: its answer. */
function searching(header = "own") {
  const asked = [];
  return {
    asked,
    found: async (address) => searchOf(SITES, address),
    headerFor: async (tab, address) => {
      asked.push([tab, address]);
      return header;
    },
  };
}

const request = (more) => ({ ...PAGE, url: search("a.example", "x"), requestHeaders: OTHERS, ...more });
const shared = ({ requestHeaders }) => {
  return requestHeaders.filter(({ name }) => name.toLowerCase() === "shared-attributes");
};

test("a search leaves with its header, in place of one of the page's own", async () => {
  for (const requestHeaders of [OTHERS, FORGED]) {
    const decides = searching();
    const headers = await new Held(decides).headers(request({ requestHeaders }));
    assert.deepEqual(headers.requestHeaders, [...OTHERS, { name: "Shared-Attributes", value: "own" }]);
    assert.deepEqual(decides.asked, [[3, search("a.example", "x")]]);
  }
});

test("where nothing is attached, the page's own header goes as well", async () => {
  const headers = await new Held(searching("")).headers(request({ requestHeaders: FORGED }));
  assert.deepEqual(headers.requestHeaders, OTHERS);
});

for (const [name, more] of Object.entries({
  "another address": { url: "https://a.example/other?q=x" },
  "another site": { url: search("b.example", "x") },
  "a form that is posted": { method: "POST" },
  "a frame": { frameId: 4 },
  "no tab": { tabId: -1 },
  "what a page of the site fetches": { type: "xmlhttprequest", documentUrl: "https://a.example/" },
})) {
  test(`${name} is left as it is`, async () => {
    const decides = searching();
    assert.equal(await new Held(decides).headers(request({ requestHeaders: FORGED, ...more })), undefined);
    assert.deepEqual(decides.asked, []);
  });
}

test("the header does not follow where the search leads on", async () => {
  const held = new Held(searching());
  const first = await held.headers(request());
  const next = { url: "https://b.example/", requestHeaders: first.requestHeaders };
  assert.deepEqual(shared(await held.headers(request(next))), []);
  assert.equal(await held.headers(request(next)), undefined);
});

test("a request that is over is forgotten", async () => {
  const held = new Held(searching());
  await held.headers(request());
  held.over({ requestId: "1" });
  assert.equal(await held.headers(request({ url: "https://b.example/" })), undefined);
});
