/** What each tab's last search carried, and the badge that says so. */

const WORDS = {
  lock: "Reticent is locked: searches carry nothing",
  off: "Reticent does not run: searches carry nothing",
  slow: "Reticent took too long: the search went on without it",
};
const NO_HOST = "This browser finds no Reticent: searches carry nothing";
const GREY = "#5b6670";

/**
 * @typedef {import("./daemon.js").Decided & {url: string}} Search
 */

export class Tabs {
  #action;
  #daemon;
  /** @type {Map<number, Search>} */ #searches = new Map();

  /**
   * @param {object} action the browser's, which has badges
   * @param {{state: string, fault: {code: string} | null}} daemon
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
    this.#searches.set(tab, search);
    this.paint(tab);
  }

  /** @param {number} tab */
  forget(tab) {
    this.#searches.delete(tab);
  }

  /** Write the badges again: the browser clears a tab's own whenever another page comes. */
  paintAll() {
    const { state } = this.#daemon;
    if (state === "lock") {
      this.#forgetTold();
    }
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

  /** Forget what searches carried: who locks the vault wants nothing of it on the screen. */
  #forgetTold() {
    for (const [tab, { answer }] of this.#searches) {
      if (answer && answer.code !== "locked") {
        this.forget(tab);
        this.#write({ tabId: tab }, null, "");
      }
    }
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
