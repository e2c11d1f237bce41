/** What each tab's last search carried or its site offered, and the badge that says so. */

import { isOf, searchOf } from "./sites.js";

const WORDS = {
  lock: "Reticent is locked: searches carry nothing",
  off: "Reticent does not run: searches carry nothing",
  slow: "Reticent took too long: the search went on without it",
};
const NO_HOST = "This browser finds no Reticent: searches carry nothing";
const GREY = "#5b6670";

/**
 * @typedef {import("./additions.js").Additions} Additions
 * @typedef {import("./daemon.js").Decided & Address} Search
 * @typedef {{typed: string, url: string, additions: Additions, at: number, by: string}} Address
 *   `typed`: before something was added, `url`: with that; `at`: when, in milliseconds since the
 *   epoch; `by`: who asked
 * @typedef {{recipient: string, search: Search | null, there: boolean}} Note `search`: null where
 *   the site has offered; `there`: whether the tab has been at its site since
 */

export class Tabs {
  #action;
  #daemon;
  /** @type {Map<number, Note>} */ #notes = new Map();

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
    return this.#notes.get(tab)?.search ?? null;
  }

  /** Who has offered in a tab, and waits. @param {number} tab @returns {string | null} */
  offering(tab) {
    const note = this.#notes.get(tab);
    return note && !note.search ? note.recipient : null;
  }

  /** Note what a tab's search carried. @param {number} tab @param {Search} search */
  note(tab, search) {
    this.#notes.set(tab, { recipient: search.recipient, search, there: false });
    this.paint(tab);
  }

  /** Note who has offered, unless that is settled. @param {number} tab @param {string} host */
  offered(tab, host) {
    if (!this.#isSettled(host)) {
      this.#notes.set(tab, { recipient: host, search: null, there: false });
      this.paint(tab);
    }
  }

  /**
   * Follow a tab: what is noted of it is of no other site's page, nor of another search.
   *
   * It is noted before its page comes. Browsers hide the address of what is no page of the
   * web, and may tell of the page that a tab is about to leave: `moved` says that one has come.
   * @param {number} tab
   * @param {{moved?: string, now?: string}} page `now`: the address that the tab shows
   */
  follow(tab, { moved, now }) {
    const note = this.#notes.get(tab);
    if (!note) {
      return;
    }
    const web = /^https?:/.test(now ?? "");
    const gone = web ? moved !== undefined && this.#isOther(note, now) : note.there;
    if (gone) {
      this.#leave(tab);
    } else if (isOf(note.recipient, now)) {
      note.there = true;
    }
  }

  /** @param {number} tab */
  forget(tab) {
    this.#notes.delete(tab);
  }

  /** Write the badges again: the browser clears a tab's own whenever another page comes. */
  paintAll() {
    const { state } = this.#daemon;
    this.#forgetOld();
    this.#write({}, state, this.#wrong(state) ?? "Reticent");
    for (const tab of this.#notes.keys()) {
      this.paint(tab);
    }
  }

  /** Write a tab's badge. @param {number} tab */
  paint(tab) {
    const note = this.#notes.get(tab);
    if (note) {
      const { search, recipient } = note;
      const late = search?.fault?.code === "too slow" ? "slow" : "";
      const state = this.#daemon.state || late;
      const [text, title] = search ? [String(count(search)), told(search)] : ["?", asks(recipient)];
      this.#write({ tabId: tab }, state || text, this.#wrong(state) ?? title);
    }
  }

  /**
   * Forget what is not to be on the screen: what searches carried, as the vault is locked, and what
   * those did whose site is to get nothing; and who has offered, once that is settled.
   */
  #forgetOld() {
    const { state, refused } = this.#daemon;
    for (const [tab, { recipient, search }] of this.#notes) {
      const answer = search?.answer;
      const hidden = state === "lock" && answer && answer.code !== "locked";
      if (hidden || refused.has(recipient) || (!search && this.#isSettled(recipient))) {
        this.#leave(tab);
      }
    }
  }

  /** Forget what is noted of a tab, and have its badge say what all say. */
  #leave(tab) {
    this.forget(tab);
    this.#write({ tabId: tab }, null, "");
  }

  #isOther({ recipient, search }, address) {
    const { sites } = this.#daemon;
    const found = search && searchOf(sites, address);
    const queries = found && [search.query, searchOf(sites, search.url)?.query];
    const same = !found || (found.site.recipient === recipient && queries.includes(found.query));
    return !same || !isOf(recipient, address);
  }

  /** Say whether a host is listed, or is to get nothing: it may offer again all the same. */
  #isSettled(host) {
    const { sites, refused } = this.#daemon;
    const all = [...sites.map(({ recipient }) => recipient), ...refused];
    return all.some((each) => isOf(each, `https://${host}/`));
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

function asks(recipient) {
  return `${recipient} says which facts it could use: \`reticent requests list --waiting\``;
}

/** A tab may be closed while its badge is written: then there is nothing to write. */
function gone() {}
