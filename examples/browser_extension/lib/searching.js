/** A tab's search: the daemon is told what it asks for, and says what it may carry. */

import { headerOf } from "./header.js";
import { searchOf } from "./sites.js";

const FRESH = 2000; // milliseconds that an answer is kept for a search on its way to the gate

export class Searching {
  #daemon;
  #tabs;
  /** Of each tab, the search that is on its way to the gate: {recipient, query, at, decided}. */
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
   * Ask what a search carries while the gate is still loading; nothing, while one is asked about
   * that has given way to it: what is asked about is recorded as told.
   * @param {number} tab
   * @param {string} address as the browser writes it
   */
  begin(tab, address) {
    const found = searchOf(this.#daemon.sites, address);
    if (found && Date.now() - (this.#ahead.get(tab)?.at ?? 0) >= FRESH) {
      const decided = this.#daemon.decide(found.site, found.query);
      const { recipient } = found.site;
      this.#ahead.set(tab, { recipient, query: found.query, at: Date.now(), decided });
    }
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

  #begun(tab) {
    const begun = this.#ahead.get(tab);
    this.#ahead.delete(tab);
    return begun && Date.now() - begun.at < FRESH ? begun : null;
  }
}
