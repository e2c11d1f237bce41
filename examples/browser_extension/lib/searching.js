/** A tab's search: the daemon is told what it asks for, and says what it may carry. */

import { headerOf } from "./header.js";
import { searchOf } from "./sites.js";

const FRESH = 2000; // milliseconds that an answer is kept for a search on its way to the gate

export class Searching {
  #daemon;
  #tabs;
  /**
   * Of each tab, the search that is on its way to the gate: {address, recipient, query, at,
   * decided}; all but the address are of the one before, where that has given way to it.
   */
  #ahead = new Map();

  /**
   * @param {import("./daemon.js").Daemon} daemon
   * @param {import("./tabs.js").Tabs} tabs
   */
  constructor(daemon, tabs) {
    this.#daemon = daemon;
    this.#tabs = tabs;
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
      this.#ahead.set(tab, { ...(fresh(this.#ahead.get(tab)) ?? this.#asked(found)), address });
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
    const decided = await (same ? begun.decided : this.#daemon.decide(site, query));
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
  }

  #asked({ site, query }) {
    const decided = this.#daemon.decide(site, query);
    return { recipient: site.recipient, query, at: Date.now(), decided };
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
