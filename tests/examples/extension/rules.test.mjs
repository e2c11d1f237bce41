/** A search leaves with its own header or none: by a Chromium's rules, and as Firefox holds it. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { module, search, site } from "./at.mjs";

const { Rules, gateRule, passRules, searchAt } = await module("chromium/rules.js");
const { searchOf, siteOf } = await module("lib/sites.js");
const GATE = "chrome-extension://id/chromium/gate.html";
const ADDRESS = search("a.example", "x");

/** The rules of a browser, with all that was done to them; `refuses`: which it does not take. */
function browser({ there = [], refuses = () => false } = {}) {
  const [rules, updates] = [new Map(there.map((each) => [each.id, each])), []];
  const here = {
    rules,
    updates,
    getSessionRules: async () => [...rules.values()],
    isRegexSupported: async ({ regex }) => ({ isSupported: !regex.includes("too-much") }),
    updateSessionRules: async ({ removeRuleIds = [], addRules = [] }) => {
      updates.push({ removeRuleIds, addRules });
      if (addRules.some(refuses)) {
        throw new Error("refused");
      }
      removeRuleIds.forEach((id) => rules.delete(id));
      addRules.forEach((each) => {
        assert.ok(!rules.has(each.id), "each number is used once");
        rules.set(each.id, each);
      });
    },
  };
  return { here, rules: new Rules(here, GATE) };
}

const settle = () => new Promise((done) => setTimeout(done));
const settled = ({ rules }) => settle().then(() => rules.size);
const kinds = ({ rules }) => [...rules.values()].map(({ action }) => action.type);

test("searches of the sites go by the gate, as pages that are asked for with GET", async () => {
  const { here, rules } = browser();
  await rules.lead([site("a.example"), site("too-much.example"), site("b.example")]);
  assert.deepEqual(kinds(here), ["redirect", "redirect"]);
  for (const { condition, action } of here.rules.values()) {
    assert.deepEqual(condition.resourceTypes, ["main_frame"]);
    assert.deepEqual(condition.requestMethods, ["get"]);
    assert.equal(condition.isUrlFilterCaseSensitive, true);
    assert.equal(action.redirect.regexSubstitution, `${GATE}?\\0`);
  }
  const before = here.updates.length;
  await rules.lead([site("a.example"), site("too-much.example"), site("b.example")]);
  assert.equal(here.updates.length, before);
  await rules.lead([site("b.example")]);
  assert.equal(here.rules.size, 1);
  await rules.lead([]);
  assert.equal(here.rules.size, 0);
});

test("a path that a query would change is led behind #, where it stays as it is", () => {
  const odd = siteOf({ recipient: "a.example", search: "https://a.example/it's?q={query}" });
  assert.equal(gateRule(odd, 1, GATE).action.redirect.regexSubstitution, `${GATE}#\\0`);
});

const LED = { url: `${GATE}?${ADDRESS}#top`, mode: "navigate", destination: "document" };

test("the search that a page was led to the gate for, as the browser writes it", () => {
  assert.equal(searchAt(LED, GATE), `${ADDRESS}#top`);
});

for (const [name, more] of [
  ["what is behind #", { url: `${GATE}#${ADDRESS}` }],
  ["the gate alone", { url: GATE }],
  ["another page", { url: `chrome-extension://id/popup/popup.html?${ADDRESS}` }],
  ["a longer name", { url: `${GATE}x?${ADDRESS}` }],
  ["a frame", { destination: "iframe" }],
  ["what is fetched", { mode: "no-cors", destination: "" }],
]) {
  test(`no search: ${name}`, () => {
    assert.equal(searchAt({ ...LED, ...more }, GATE), null);
  });
}

test("what was ever led to the gate is known, and nothing else", async () => {
  const { rules } = browser();
  assert.ok(!(await rules.led(ADDRESS)));
  await rules.lead([site("a.example")]);
  await rules.lead([]);
  assert.ok(await rules.led(ADDRESS));
  assert.ok(!(await rules.led(search("b.example", "x"))));
});

test("what an earlier life of the background led to the gate is known too", async () => {
  const { rules } = browser({ there: [gateRule(site("a.example"), 1, GATE)] });
  rules.lead([]);
  assert.ok(await rules.led(ADDRESS));
  assert.ok(!(await rules.led(search("b.example", "x"))));
});

test("of lists that come at once the last holds", async () => {
  const { here, rules } = browser();
  await Promise.all(["a", "b", "c"].map((each) => rules.lead([site(`${each}.example`)])));
  const [{ condition }, ...more] = here.rules.values();
  assert.deepEqual(more, []);
  assert.ok(new RegExp(condition.regexFilter).test(search("c.example", "x")));
});

test("nothing that waits to pass outlives a refusal", async () => {
  const { here, rules } = browser();
  await rules.pass({ tab: 5, address: ADDRESS, header: "one" });
  await rules.pass({ tab: 6, address: ADDRESS, header: "two" });
  rules.dropAll();
  assert.equal(await settled(here), 0);
});

test("one address of one tab passes with its header, in one change", async () => {
  const { here, rules } = browser();
  assert.equal(await rules.pass({ tab: 5, address: ADDRESS, header: 'region="x"' }), true);
  const { addRules } = here.updates.at(-1);
  const [pass, carry] = addRules;
  assert.deepEqual([pass.action.type, carry.action.type], ["allow", "modifyHeaders"]);
  const set = { header: "Shared-Attributes", operation: "set", value: 'region="x"' };
  assert.deepEqual(carry.action.requestHeaders, [set]);
  for (const { condition } of addRules) {
    assert.deepEqual(condition.tabIds, [5]);
    assert.equal(condition.urlFilter, `|${ADDRESS}|`);
    assert.equal(condition.isUrlFilterCaseSensitive, true);
    assert.deepEqual(condition.resourceTypes, ["main_frame"]);
  }
  const gate = gateRule(site("a.example"), 1, GATE);
  assert.ok(gate.priority < pass.priority && pass.priority < carry.priority);
  assert.ok(rules.passes(5, ADDRESS) && !rules.passes(6, ADDRESS));
  assert.ok(!rules.passes(5, search("a.example", "y")));
  rules.drop(5);
  assert.equal(await settled(here), 0);
});

for (const sign of ["*", "^", "|"]) {
  test(`a filter that means more than the address sets no header: ${sign}`, () => {
    const address = `${ADDRESS}${sign}y`;
    const [, carry] = passRules({ tab: 5, address, header: "h" }, 1);
    assert.equal(carry.condition.urlFilter, undefined);
    const exact = new RegExp(carry.condition.regexFilter);
    assert.ok(exact.test(address));
    for (const other of [`${address}z`, `${ADDRESS}zzy`, `${ADDRESS}y`, `z${address}`]) {
      assert.ok(!exact.test(other));
    }
  });
}

test("the next of a tab takes the place of the last, and tabs have their own", async () => {
  const { here, rules } = browser();
  await rules.pass({ tab: 5, address: ADDRESS, header: "one" });
  await rules.pass({ tab: 6, address: ADDRESS, header: "two" });
  await rules.pass({ tab: 5, address: search("a.example", "y"), header: "three" });
  const headers = [...here.rules.values()].map(({ action }) => action.requestHeaders?.[0].value);
  assert.deepEqual(headers.filter(Boolean).sort(), ["three", "two"]);
  rules.drop(5, { address: ADDRESS });
  rules.drop(7);
  assert.equal(await settled(here), 4);
  rules.drop(5, { address: search("a.example", "y#top") });
  rules.drop(6);
  assert.equal(await settled(here), 0);
});

test("what left or failed before an address was let pass takes nothing of it away", async () => {
  const { here, rules } = browser();
  const before = Date.now() - 0.5;
  await rules.pass({ tab: 5, address: ADDRESS, header: "one" });
  rules.drop(5, { at: before });
  rules.drop(5, { at: before, address: ADDRESS });
  await settle();
  assert.deepEqual(kinds(here), ["allow", "modifyHeaders"]);
  assert.ok(rules.passes(5, ADDRESS));
  rules.drop(5, { at: Date.now() });
  assert.equal(await settled(here), 0);
});

test("an address whose rules are never met is let pass at last, without a header", async () => {
  const { here, rules } = browser();
  for (let times = 0; times < 4; times += 1) {
    const carries = await rules.pass({ tab: 5, address: ADDRESS, header: "h" });
    assert.equal(carries, times < 3);
  }
  assert.deepEqual(kinds(here), ["allow"]);
  const [{ condition }] = here.rules.values();
  assert.deepEqual([condition.urlFilter, condition.tabIds], ["|https://a.example/", [5]]);
  rules.drop(5);
});

test("rules that the browser does not take are written again, and a header is left out", async () => {
  let refused = () => true;
  const { here, rules } = browser({ refuses: (rule) => refused(rule) });
  await rules.lead([site("a.example")]);
  assert.equal(here.rules.size, 0);
  refused = ({ action }) => action.type === "modifyHeaders";
  await rules.lead([site("a.example")]);
  assert.equal(await rules.pass({ tab: 5, address: ADDRESS, header: "h" }), false);
  assert.deepEqual(kinds(here), ["redirect", "allow"]);
  rules.drop(5);
});

test("what the gate let pass by itself is taken away with the next search", async () => {
  const { here, rules } = browser();
  await rules.lead([]);
  here.rules.set(99_999, { id: 99_999, action: { type: "allow" } });
  await rules.pass({ tab: 5, address: ADDRESS, header: "" });
  assert.deepEqual([...here.rules.keys()], [100_000]);
  rules.drop(5);
});

test("what an earlier life of the background let pass is taken away first", async () => {
  const old = { id: 100_000, action: { type: "allow" } };
  const { here, rules } = browser({ there: [old, gateRule(site("a.example"), 1, GATE)] });
  await rules.pass({ tab: 5, address: ADDRESS, header: "h" });
  assert.deepEqual(kinds(here), ["redirect", "allow", "modifyHeaders"]);
  rules.drop(5);
});

const { Held } = await module("firefox/headers.js");
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
  await held.headers(request());
  held.over({ requestId: "1" });
  assert.equal(await held.headers(request(next)), undefined);
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
