/**
 * What runs all the time: it listens to the browser, and asks the daemon.
 *
 * Listeners are registered at once, so that the browser can start this for any of them. The line
 * to the daemon is open from the start, which also keeps a Chromium from ending this.
 */

import { Rules, searchAt } from "./chromium/rules.js";
import { Held } from "./firefox/headers.js";
import { Chats } from "./lib/chats.js";
import { Daemon } from "./lib/daemon.js";
import { EVERY, SEEN, SOON, SOON_FOR } from "./lib/limits.js";
import { Offers } from "./lib/offers.js";
import { Relay } from "./lib/relay.js";
import { resultsOf } from "./lib/results.js";
import { Scripts } from "./lib/scripts.js";
import { Searching } from "./lib/searching.js";
import { isPage, isVisit, listedPage } from "./lib/senders.js";
import { addressOf, clickOf, expression, isOf, parsed, searchOf } from "./lib/sites.js";
import { Tabs } from "./lib/tabs.js";

const FIREFOX = chrome.runtime.getURL("").startsWith("moz-extension:");
const [GATE, POPUP] = ["chromium/gate.html", "popup/popup.html"];
const PAGES = { urls: ["http://*/*", "https://*/*"], types: ["main_frame"] };

const daemon = new Daemon(new Relay(chrome.runtime), () => changed());
const tabs = new Tabs(chrome.action, daemon);
const searching = new Searching(daemon, tabs, isSeen);
const offers = new Offers(daemon);
const chats = new Chats(daemon, chrome.scripting);
const scripts = new Scripts(chrome.scripting, !FIREFOX);
const rules = FIREFOX ? null : new Rules(chrome.declarativeNetRequest, chrome.runtime.getURL(GATE));
const held = FIREFOX ? new Held(searching) : null;
const WITHHELD = { code: "withheld", what: "the browser did not take the header", hint: "" };
let soonUntil = 0;

/** Follow what the daemon said. */
function changed() {
  rules?.lead(daemon.sites);
  if (daemon.state === "lock") {
    searching.forgetLed(); // as the tabs forget what is of the vault
  }
  scripts.on(daemon.sites.map(({ origin }) => origin));
  tabs.paintAll();
}

/** Decide how a tab's next request leaves, let it pass, and return where it goes. */
async function prepare(tab, address) {
  const { address: where, header } = await searching.leaves(tab, address);
  const carried = await rules?.pass({ tab, address: where, header });
  if (header && carried === false) {
    tabs.note(tab, { ...tabs.last(tab), answer: null, fault: WITHHELD });
  }
  return where;
}

/**
 * Let a search of a tab be the user's own, and return where it goes: a Chromium decides it now,
 * Firefox as it leaves.
 */
async function own(tab, address) {
  searching.own(tab, address);
  return rules ? prepare(tab, address) : address;
}

/** Say whether a tab is in front, in the window that was in front last. */
async function isSeen(tab) {
  const late = new Promise((_, refuse) => setTimeout(refuse, SEEN));
  const asked = chrome.windows.getLastFocused({ populate: true });
  const window = await Promise.race([asked, late]).catch(() => null); // or there is none
  const front = window?.tabs.some(({ id, active }) => active && id === tab) ?? false;
  return front && window.state !== "minimized";
}

/** Have a search go on from the gate in the navigation that it came in: no page of ours opens. */
async function goOn(tab, address) {
  // Without rules it is led back, and the gate opens.
  return Response.redirect(await prepare(tab, address).catch(() => address));
}

/** Look often for a while: the user may be about to approve an offer, or to take a refusal back. */
function lookSoon() {
  const running = soonUntil > Date.now();
  soonUntil = Date.now() + SOON_FOR;
  if (!running) {
    const timer = setInterval(() => {
      if (Date.now() > soonUntil) {
        clearInterval(timer);
      }
      daemon.look();
    }, SOON);
  }
}

/** Answers to messages, by their kind; null is for who may not ask. */
const ANSWERS = {
  async gate({ address }, sender) {
    const own = isPage(sender, chrome.runtime, GATE);
    // A site may leave the list while a search of it is on its way here.
    const known = own && ((await searching.found(address)) || (await rules?.led(address)));
    return known && sender.tab ? prepare(sender.tab.id, address) : null;
  },

  async page(_, sender) {
    const page = listedPage(sender, chrome.runtime, daemon.sites);
    const here = daemon.sites.filter(({ origin }) => origin === page?.origin);
    return page && { searches: here.map(expression), clicks: daemon.clicks };
  },

  async form({ address }, sender) {
    const page = listedPage(sender, chrome.runtime, daemon.sites);
    const same = page && parsed(address)?.origin === page.origin;
    return same && (await searching.found(address)) ? own(page.tab, address) : null;
  },

  async clicked({ link }, sender) {
    const page = listedPage(sender, chrome.runtime, daemon.sites);
    const click = page && daemon.clicks ? clickOf(daemon.sites, page.address, link) : null;
    if (click) {
      const query = searching.asked(searchOf(daemon.sites, page.address), page.address);
      await daemon.clicked({ ...click, query });
    }
    return true;
  },

  async popup({ tab, address }, sender) {
    if (!isPage(sender, chrome.runtime, POPUP)) {
      return null;
    }
    await daemon.look();
    const { state, fault, stale } = daemon;
    const refused = [...daemon.refused].find((each) => isOf(each, address)) ?? null;
    const told = { search: tabs.last(tab), offered: tabs.offering(tab), state, fault, stale, refused };
    return { ...told, chat: await chats.drafted(tab, address) };
  },

  async results({ tab, address }, sender) {
    const found = isPage(sender, chrome.runtime, POPUP) ? searchOf(daemon.sites, address) : null;
    const { by = "page" } = tabs.last(tab) ?? {}; // what is not known to be the user's is not
    const may = found?.site.rerank && (by === "user" || (await isSeen(tab)));
    const results = may ? await resultsOf(chrome.scripting, tab, address) : [];
    return may ? daemon.ordered(found.site, searching.asked(found, address), results, by) : [];
  },

  async put({ tab, put }, sender) {
    return isPage(sender, chrome.runtime, POPUP) ? chats.put(tab, put) : null;
  },

  async use({ assistant }, sender) {
    if (!isPage(sender, chrome.runtime, POPUP)) {
      return null;
    }
    const waits = await daemon.offer(assistant);
    lookSoon();
    return waits;
  },

  async topics({ recipient, query }, sender) {
    return isPage(sender, chrome.runtime, POPUP) ? daemon.topics(recipient, query) : null;
  },

  async means({ meaning }, sender) {
    return isPage(sender, chrome.runtime, POPUP) ? { fault: await daemon.means(meaning) } : null;
  },

  async without({ tab }, sender) {
    const search = isPage(sender, chrome.runtime, POPUP) ? tabs.last(tab) : null;
    if (search && search.typed !== search.url) {
      await chrome.tabs.update(tab, { url: search.typed }); // the same again, so nothing is added
    }
    return null;
  },

  async refuse({ recipient }, sender) {
    if (!isPage(sender, chrome.runtime, POPUP) || typeof recipient !== "string") {
      return null;
    }
    const fault = await daemon.refuse(recipient);
    rules?.dropAll();
    lookSoon();
    return { fault };
  },
};

chrome.runtime.onMessage.addListener((message, sender, reply) => {
  const answer = Object.hasOwn(ANSWERS, message?.kind) ? ANSWERS[message.kind] : null;
  if (answer) {
    daemon.heard.then(() => answer(message, sender)).then(reply, () => reply(null));
  }
  return answer !== null;
});

chrome.webRequest.onResponseStarted.addListener(
  async (response) => {
    const offer = isVisit(response) && (await offers.heard(response));
    if (offer) {
      tabs.offered(response.tabId, offer.recipient);
      lookSoon();
    }
  },
  PAGES,
  ["responseHeaders"],
);

if (FIREFOX) {
  const on = chrome.webRequest;
  on.onBeforeRequest.addListener((each) => held.address(each), PAGES, ["blocking"]);
  const [how, back] = [["blocking", "requestHeaders"], ["blocking", "responseHeaders"]];
  on.onBeforeSendHeaders.addListener((each) => held.headers(each), PAGES, how);
  on.onHeadersReceived.addListener((each) => held.response(each), PAGES, back);
  on.onCompleted.addListener((each) => held.over(each), PAGES);
  on.onErrorOccurred.addListener((each) => held.over(each), PAGES);
} else {
  chrome.webRequest.onBeforeRequest.addListener((request) => {
    const { tabId, url, method } = request;
    if (isVisit(request) && method === "GET" && !rules.passes(tabId, url)) {
      searching.begin(tabId, url);
    }
  }, PAGES);
  self.addEventListener("fetch", (event) => {
    const address = searchAt(event.request, chrome.runtime.getURL("") + GATE);
    const tab = searching.tabOf(address);
    if (tab !== null) {
      event.respondWith(goOn(tab, address));
    }
  });
  chrome.webRequest.onSendHeaders.addListener(({ tabId, timeStamp: at }) => {
    rules.drop(tabId, { at });
  }, PAGES);
  chrome.webRequest.onErrorOccurred.addListener(({ tabId, url: address, timeStamp: at }) => {
    rules.drop(tabId, { at, address });
  }, PAGES);
}

chrome.omnibox.onInputStarted.addListener(() => {
  const where = daemon.sites[0]?.recipient ?? "no site yet: none is listed";
  chrome.omnibox.setDefaultSuggestion({ description: `Search ${where} with Reticent` });
});
chrome.omnibox.onInputEntered.addListener(async (text) => {
  await daemon.heard;
  const [site] = daemon.sites;
  const [tab] = await chrome.tabs.query({ active: true, currentWindow: true });
  if (site && tab && text.trim()) {
    const address = addressOf(site, text.trim());
    await chrome.tabs.update(tab.id, { url: await own(tab.id, address) });
  }
});

chrome.tabs.onUpdated.addListener((tab, { url }, { url: now }) => {
  tabs.follow(tab, { moved: url, now });
  tabs.paint(tab);
  if ([...daemon.refused].some((each) => isOf(each, url ?? ""))) {
    daemon.look(); // it may be unblocked, and a search from here is the user's next
  }
});
chrome.tabs.onRemoved.addListener((tab) => {
  tabs.forget(tab);
  searching.forget(tab);
  rules?.drop(tab);
});
chrome.alarms.onAlarm.addListener(() => daemon.look());
chrome.alarms.create("look", { periodInMinutes: EVERY / 60_000 });
chrome.runtime.onStartup.addListener(() => {}); // for its being started with the browser
