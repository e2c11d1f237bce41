/** What each tab's last search carried, and the badge that says so. */

import { isOf, searchOf } from "./sites.js";

const WORDS = {
  lock: "Reticent is locked: searches carry nothing",
  off: "Reticent does not run: searches carry nothing",
  slow: "Reticent took too long: the search went on without it",
};
const NO_HOST = "This browser finds no Reticent: searches carry nothing";
const GREY = "#5b6670";

/**
 * @typedef {import("./daemon.js").Decided & {url: string, there?: boolean}} Search `there`: whether
 *   the tab has been at its site since
 */

export class Tabs {
  #action;
  #daemon;
  /** @type {Map<number, Search>} */ #searches = new Map();

  /**
   * @param {object} action the browser's, which has badges
   * @param {import("./daemon.js").Daemon} daemon
   */
  constructor(action, daemon) {
    this.#action = action;
    this.#daemon = daemon;
    action.setBadgeBackgroundColor({ color: GREY }).catch(gone);
  }

  /** @param {number} tab @returns {Search | null} */
  last(tab) {
    return this.#searches.get(tab) ?? null;
  }

  /** Note what a tab's search carried. @param {number} tab @param {Search} search */
  note(tab, search) {
    this.#searches.set(tab, { ...search, there: false });
    this.paint(tab);
  }

  /**
   * Follow a tab: what its last search carried is of no other site's page, nor of another search.
   *
   * A search is noted before its page comes. Browsers hide the address of what is no page of the
   * web, and may tell of the page that a tab is about to leave: `moved` says that one has come.
   * @param {number} tab
   * @param {{moved?: string, now?: string}} page `now`: the address that the tab shows
   */
  follow(tab, { moved, now }) {
    const search = this.last(tab);
    if (!search) {
      return;
    }
    const web = /^https?:/.test(now ?? "");
    const gone = web ? moved !== undefined && this.#isOther(search, now) : search.there;
    if (gone) {
      this.#leave(tab);
    } else if (isOf(search.recipient, now)) {
      search.there = true;
    }
  }

  /** @param {number} tab */
  forget(tab) {
    this.#searches.delete(tab);
  }

  /** Write the badges again: the browser clears a tab's own whenever another page comes. */
  paintAll() {
    const { state } = this.#daemon;
    this.#forgetTold();
    this.#write({}, state, this.#wrong(state) ?? "Reticent");
    for (const tab of this.#searches.keys()) {
      this.paint(tab);
    }
  }

  /** Write a tab's badge. @param {number} tab */
  paint(tab) {
    const search = this.last(tab);
    if (search) {
      const state = this.#daemon.state || (search.fault?.code === "too slow" ? "slow" : "");
      this.#write({ tabId: tab }, state || String(count(search)), this.#wrong(state) ?? told(search));
    }
  }

  /**
   * Forget what is not to be on the screen: what searches carried, as the vault is locked, and what
   * those did whose site is to get nothing.
   */
  #forgetTold() {
    const { state, refused } = this.#daemon;
    for (const [tab, { answer, recipient }] of this.#searches) {
      const hidden = state === "lock" && answer && answer.code !== "locked";
      if (hidden || refused.has(recipient)) {
        this.#leave(tab);
      }
    }
  }

  /** Forget what a tab's search carried, and have its badge say what all say. */
  #leave(tab) {
    this.forget(tab);
    this.#write({ tabId: tab }, null, "");
  }

  #isOther({ recipient, query }, address) {
    const found = searchOf(this.#daemon.sites, address);
    const same = !found || (found.site.recipient === recipient && found.query === query);
    return !same || !isOf(recipient, address);
  }

  #wrong(state) {
    return state === "off" && this.#daemon.fault?.code === "no host" ? NO_HOST : WORDS[state];
  }

  #write(where, text, title) {
    this.#action.setBadgeText({ ...where, text }).catch(gone);
    this.#action.setTitle({ ...where, title }).catch(gone);
  }
}

/** How many attributes were attached. @param {Search} search @returns {number} */
export function count({ answer }) {
  return Object.keys(answer?.attributes ?? {}).length;
}

function told(search) {
  const number = count(search);
  const facts = number === 1 ? "1 fact" : `${number || "no"} facts`;
  return `Reticent: this search told ${search.recipient} ${facts}`;
}

/** A tab may be closed while its badge is written: then there is nothing to write. */
function gone() {}
