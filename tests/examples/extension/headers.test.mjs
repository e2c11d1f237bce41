/** Firefox: a held request leaves with the header of its own search, or with none. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { module, search, site } from "./at.mjs";

const { Held } = await module("firefox/headers.js");
const { searchOf } = await module("lib/sites.js");
const SITES = [site("a.example"), site("w.example", "words")];
const PAGE = { requestId: "1", tabId: 3, frameId: 0, method: "GET", type: "main_frame" };
const OTHERS = [{ name: "Accept", value: "*/*" }];
const FORGED = [...OTHERS, { name: "shared-attributes", value: "forged" }];

/** What decides, and notes what it was asked; `header`: its answer. */
function searching(header = "own") {
  const asked = [];
  return {
    asked,
    found: async (address) => searchOf(SITES, address),
    leaves: async (tab, address) => {
      asked.push([tab, address]);
      return { address: header && `${address}+${header}`, header };
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

const ADDING = search("w.example", "x");

test("a search is led to its address with what is added, and carries no header", async () => {
  const decides = searching();
  const held = new Held(decides);
  assert.deepEqual(await held.address(request({ url: ADDING })), { redirectUrl: `${ADDING}+own` });
  assert.deepEqual(decides.asked, [[3, ADDING]]);
  assert.equal(await held.headers(request({ url: ADDING, requestHeaders: FORGED })), undefined);
  assert.equal(await held.address(request()), undefined);
  assert.equal(decides.asked.length, 1);
});

test("a search that nothing is added to stays where it is", async () => {
  const leaves = async (_, address) => ({ address, header: "" });
  const held = new Held({ ...searching(), leaves });
  assert.equal(await held.address(request({ url: ADDING })), undefined);
});

const policies = (...values) => values.map((value) => ({ name: "Referrer-Policy", value }));

for (const [name, url, given, wanted] of [
  ["a laxer policy", ADDING, policies("unsafe-url"), ["origin"]],
  ["none", ADDING, [], ["origin"]],
  ["a stricter one", ADDING, policies("no-referrer"), null],
  ["a site that gets a header", search("a.example", "x"), policies("unsafe-url"), null],
]) {
  test(`a page of results leads on with its origin alone: ${name}`, async () => {
    const responseHeaders = [...OTHERS, ...given];
    const said = await new Held(searching()).response({ ...request({ url }), responseHeaders });
    const policy = said?.responseHeaders.filter((each) => !OTHERS.includes(each));
    assert.deepEqual(policy?.map(({ value }) => value) ?? null, wanted);
  });
}
