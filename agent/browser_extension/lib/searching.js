/** A tab's search: the daemon is told what it asks for, and says what it may carry. */

import { additionsOf, keyOf, withAdditions } from "./additions.js";
import { headerOf } from "./header.js";
import { MOST_LED } from "./limits.js";
import { isSame, searchOf } from "./sites.js";

const FRESH = 2000; // milliseconds that an answer is kept for a search on its way to the gate
const TWICE = 1000; // milliseconds in which a form is sent off twice by one who meant it once
const UNSEEN = {
  code: "unseen",
  what: "a page searched where you could not see it",
  hint: "search in front",
};
const REPEATED = {
  code: "repeated",
  what: "the tab came back to a search that something was added to",
  hint: "search for something else in between",
};

export class Searching {
  #daemon;
  #tabs;
  #isSeen;
  /**
   * Of each tab, the search that is on its way to the gate: {address, recipient, query, at,
   * decided}; all but the address are of the one before, where that has given way to it.
   */
  #ahead = new Map();
  /** Of each tab, the search that the user has begun there, until it leaves: {address, at}. */
  #own = new Map();
  /** The searches that something was added to, by what tells those with it apart: `keyOf`. */
  #led = new Map();

  /**
   * @param {import("./daemon.js").Daemon} daemon
   * @param {import("./tabs.js").Tabs} tabs
   * @param {(tab: number) => Promise<boolean>} isSeen whether a tab is in front
   */
  constructor(daemon, tabs, isSeen) {
    this.#daemon = daemon;
    this.#tabs = tabs;
    this.#isSeen = isSeen;
  }

  /**
   * Know that the next search of a tab is the user's own.
   * @param {number} tab
   * @param {string} address as the browser writes it
   */
  own(tab, address) {
    this.#own.set(tab, { address, at: Date.now() });
  }

  /**
   * Ask what a search carries while it is on its way to the gate; nothing, while one is asked about
   * that has given way to it: what is asked about is recorded as told.
   * @param {number} tab
   * @param {string} address as the browser writes it
   */
  begin(tab, address) {
    const found = searchOf(this.#daemon.sites, address);
    if (found) {
      const asked = fresh(this.#ahead.get(tab)) ?? this.#asked(tab, address, found);
      this.#ahead.set(tab, { ...asked, address });
    }
  }

  /**
   * The tab whose search is on its way to the gate; null where that is none, or one of several.
   * @param {string} address as the browser writes it
   * @returns {number | null}
   */
  tabOf(address) {
    const all = [...this.#ahead].filter(([, each]) => each.address === address && fresh(each));
    return all.length === 1 ? all[0][0] : null;
  }

  /**
   * Decide how a search leaves, and note it for the tab; what was begun for it is taken, once.
   * One that a page leads to, where the user cannot see it, carries nothing.
   * @param {number} tab
   * @param {string} address as the browser writes it
   * @returns {Promise<{address: string, header: string}>} its address with what is added to that,
   *   and the header; as it was, and none, where it carries nothing, or is no search
   */
  async leaves(tab, address) {
    const begun = this.#begun(tab);
    const found = await this.found(address);
    if (!found) {
      return { address, header: "" };
    }
    const { site, query } = found;
    const same = begun?.recipient === site.recipient && begun.query === query;
    const by = this.#by(tab, address);
    const taken = same && by === "page";
    const decided = await (taken ? begun.decided : this.#decide(tab, address, found, by));
    const additions = additionsOf(site, address, decided.answer);
    const url = withAdditions(site, address, additions);
    const search = { typed: address, additions, ...decided, url, at: Date.now(), by };
    if (url !== address) {
      this.#remember(keyOf(site, url), search);
    }
    this.#tabs.note(tab, search);
    return { address: url, header: site.carry === "header" ? headerOf(decided.answer) : "" };
  }

  /** What was asked for before something was added to a search, else what it asks for. */
  asked({ site, query }, address) {
    return this.#led.get(keyOf(site, address))?.query ?? query;
  }

  /** Forget which searches something was added to. */
  forgetLed() {
    this.#led.clear();
  }

  /** The search that an address is, once the sites are known. @param {string} address */
  async found(address) {
    if (this.#daemon.sites.length === 0) {
      await this.#daemon.heard;
    }
    return searchOf(this.#daemon.sites, address);
  }

  /** Forget what was begun for a tab. @param {number} tab */
  forget(tab) {
    this.#ahead.delete(tab);
    this.#own.delete(tab);
  }

  #asked(tab, address, { site, query }) {
    const decided = this.#decide(tab, address, { site, query }, "page");
    return { recipient: site.recipient, query, at: Date.now(), decided };
  }

  /** Ask the daemon, but for a search that we led to, or that a tab comes back to from there. */
  async #decide(tab, address, { site, query }, by) {
    const led = this.#led.get(keyOf(site, address));
    if (led) {
      return led;
    }
    if (this.#isRepeated(tab, keyOf(site, address), site, by)) {
      return { recipient: site.recipient, query, answer: null, fault: REPEATED };
    }
    if (by === "page" && !(await this.#isSeen(tab))) {
      return { recipient: site.recipient, query, answer: null, fault: UNSEEN };
    }
    return this.#daemon.decide(site, query, by);
  }

  /** Who asks: the user, once, where they have begun this search. */
  #by(tab, address) {
    const own = fresh(this.#own.get(tab));
    if (!own || !isSame(own.address, address)) {
      return "page";
    }
    this.#own.delete(tab);
    return "user";
  }

  /**
   * Say whether a tab's last search is the same one, with something added, or without since it was
   * repeated: nothing is added again, or a page that leads back would go in circles, and the user
   * could not delete a word. One that is sent off twice at once is the same one still.
   */
  #isRepeated(tab, key, site, by) {
    const last = this.#tabs.last(tab);
    if (!last || last.recipient !== site.recipient || key !== keyOf(site, last.typed)) {
      return false;
    }
    const twice = by === "user" && Date.now() - last.at < TWICE && last.fault !== REPEATED;
    return !twice && (last.fault === REPEATED || last.typed !== last.url);
  }

  #remember(key, search) {
    this.#led.set(key, search);
    if (this.#led.size > MOST_LED) {
      const [oldest] = this.#led.keys();
      this.#led.delete(oldest);
    }
  }

  #begun(tab) {
    const begun = this.#ahead.get(tab);
    this.#ahead.delete(tab);
    return fresh(begun);
  }
}

/** What was begun, unless that is too long ago. */
function fresh(begun) {
  return begun && Date.now() - begun.at < FRESH ? begun : null;
}
