/** A tab's search: the daemon is told what it asks for, and says what it may carry. */

import { headerOf } from "./header.js";
import { searchOf } from "./sites.js";

export class Searching {
  #daemon;
  #tabs;

  /**
   * @param {import("./daemon.js").Daemon} daemon
   * @param {import("./tabs.js").Tabs} tabs
   */
  constructor(daemon, tabs) {
    this.#daemon = daemon;
    this.#tabs = tabs;
  }

  /**
   * Decide what a search carries, and note it for the tab.
   * @param {number} tab
   * @param {string} address as the browser writes it
   * @returns {Promise<string>} the header, empty where there is none, also for what is no search
   */
  async headerFor(tab, address) {
    const found = await this.found(address);
    if (!found) {
      return "";
    }
    const decided = await this.#daemon.decide(found.site, found.query);
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
}
