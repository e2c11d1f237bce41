/** A tab's search: the daemon is told what it asks for, and says what it may carry. */

import { headerOf } from "./header.js";
import { isSame, searchOf } from "./sites.js";

const FRESH = 2000; // milliseconds that an answer is kept for a search on its way to the gate
const UNSEEN = {
  code: "unseen",
  what: "a page searched where you could not see it",
  hint: "search in front",
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
      this.#ahead.set(tab, { ...(fresh(this.#ahead.get(tab)) ?? this.#asked(tab, found)), address });
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
   * Decide what a search carries, and note it for the tab; what was begun for it is taken, once.
   * One that a page leads to, where the user cannot see it, carries nothing.
   * @param {number} tab
   * @param {string} address as the browser writes it
   * @returns {Promise<string>} the header, empty where there is none, also for what is no search
   */
  async headerFor(tab, address) {
    const begun = this.#begun(tab);
    const found = await this.found(address);
    if (!found) {
      return "";
    }
    const { site, query } = found;
    const same = begun?.recipient === site.recipient && begun.query === query;
    const by = this.#by(tab, address);
    const decided = await (same && by === "page" ? begun.decided : this.#decide(tab, found, by));
    this.#tabs.note(tab, { ...decided, url: address });
    return headerOf(decided.answer);
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

  #asked(tab, { site, query }) {
    const decided = this.#decide(tab, { site, query }, "page");
    return { recipient: site.recipient, query, at: Date.now(), decided };
  }

  async #decide(tab, { site, query }, by) {
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
