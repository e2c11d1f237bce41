/**
 * The rules that a Chromium follows: searches go by the gate, and what is decided goes on.
 *
 * Results of searches that something is added to are told their origin only. All rules end with
 * the session. A rule for a tab's next request lets the one address pass and
 * sets the header; it is taken away when the request leaves, or fails.
 */

import { HEADER, ORIGIN, REFERRER, STRICTER } from "../lib/header.js";
import { UNUSED } from "../lib/limits.js";
import { escaped, expression, isSame } from "../lib/sites.js";

const [TO_GATE, PASS, CARRY] = [1, 2, 3]; // priorities: a header needs a higher one than `allow`
const BY_GATE = 99_999; // what the gate lets pass where the background is silent: gate.js
const FIRST_PASS = 100_000; // smaller numbers are of rules that lead to the gate
const MOST_UNMET = 3; // times in a row that an address comes back to the gate, its rules not met
const ASKS = "?"; // between the gate's address and the search's
const PAGE = { resourceTypes: ["main_frame"], requestMethods: ["get"] };
const EXACTLY = { isUrlFilterCaseSensitive: true };

/**
 * The rule by which a site's searches go by the gate.
 * @param {import("../lib/sites.js").Site} site
 * @param {number} id
 * @param {string} gate its address
 */
export function gateRule(site, id, gate) {
  // In a query browsers write %27 for the ' that they leave in a path; behind # it stays.
  const sign = site.start.includes("'") ? "#" : ASKS;
  const redirect = { regexSubstitution: `${gate}${sign}\\0` };
  const condition = { ...PAGE, ...EXACTLY, regexFilter: expression(site) };
  return { id, priority: TO_GATE, action: { type: "redirect", redirect }, condition };
}

/**
 * The search that was led to the gate, as it asks for that; null for any other request. What stands
 * behind # is left to the gate's page: the browser would add it to where a redirect leads.
 * @param {Request} request
 * @param {string} gate where it lies
 */
export function searchAt({ url, mode, destination }, gate) {
  const led = mode === "navigate" && destination === "document" && url.startsWith(gate + ASKS);
  return led ? url.slice(gate.length + ASKS.length) : null;
}

/**
 * The rules by which one request of a tab goes on, with a header unless that is empty.
 *
 * A filter with * or ^ in it means more than the address: it may let pass, and sets no header.
 * @param {{tab: number, address: string, header: string, again?: boolean}} pass `again`: a filter
 *   of the address alone was not met, so all of its host may pass
 * @param {number} id of the first of at most two
 */
export function passRules({ tab, address, header, again }, id) {
  const here = { ...PAGE, ...EXACTLY, tabIds: [tab] };
  const urlFilter = again ? `|${new URL(address).origin}/` : `|${address}|`;
  const pass = { type: "allow" };
  const rules = [{ id, priority: PASS, action: pass, condition: { ...here, urlFilter } }];
  if (header && !again) {
    const exact = /[*^|]/.test(address) ? { regexFilter: `^${escaped(address)}$` } : { urlFilter };
    const requestHeaders = [{ header: HEADER, operation: "set", value: header }];
    const carry = { type: "modifyHeaders", requestHeaders };
    const condition = { ...here, ...exact };
    rules.push({ id: id + 1, priority: CARRY, action: carry, condition });
  }
  return rules;
}

/**
 * The rule by which the pages that a site's searches lead to are told nothing of what was added.
 * @param {import("../lib/sites.js").Site} site
 * @param {number} id
 */
export function referrerRule(site, id) {
  const responseHeaders = [{ header: REFERRER, operation: "set", value: ORIGIN }];
  const excludedResponseHeaders = [{ header: REFERRER, values: STRICTER }];
  const condition = { ...PAGE, ...EXACTLY, regexFilter: expression(site), excludedResponseHeaders };
  return { id, priority: CARRY, action: { type: "modifyHeaders", responseHeaders }, condition };
}

export class Rules {
  #rules;
  #gate;
  #next = FIRST_PASS;
  /** Of each tab, the last one that no request has met: {address, at, ids, timer, unmet}. */
  #passes = new Map();
  #cleared;
  #last;
  #led = "";
  #ever = new Set();

  /**
   * @param {object} rules the browser's declarativeNetRequest
   * @param {string} gate its address
   */
  constructor(rules, gate) {
    this.#rules = rules;
    this.#gate = gate;
    this.#last = this.#cleared = this.#clear();
  }

  /** Lead the searches of these sites to the gate, and no others; one list after the other. */
  lead(sites) {
    this.#last = this.#last.then(() => this.#lead(sites)).catch(() => {});
    return this.#last;
  }

  async #lead(sites) {
    const adding = sites.filter(({ carry }) => carry !== "header");
    const rules = [
      ...sites.map((each, index) => gateRule(each, index + 1, this.#gate)),
      ...adding.map((each, index) => referrerRule(each, sites.length + index + 1)),
    ];
    const written = JSON.stringify(rules);
    if (written === this.#led) {
      return;
    }
    rules.forEach(({ condition }) => this.#ever.add(condition.regexFilter));
    const taken = await Promise.all(rules.map((each) => this.#takes(each)));
    const there = await this.#rules.getSessionRules();
    const removeRuleIds = there.map(({ id }) => id).filter((id) => id < FIRST_PASS);
    const addRules = rules.filter((_, index) => taken[index]);
    await this.#rules.updateSessionRules({ removeRuleIds, addRules });
    this.#led = written;
  }

  /** Say whether an address was ever led to the gate. @param {string} address */
  async led(address) {
    await this.#cleared;
    return [...this.#ever].some((each) => new RegExp(each).test(address));
  }

  /** Say whether a tab's next request to an address passes. */
  passes(tab, address) {
    return isSame(this.#passes.get(tab)?.address, address);
  }

  /**
   * Let a tab's next request to an address pass, with a header unless that is empty.
   * @param {{tab: number, address: string, header: string}} pass
   * @returns {Promise<boolean>} whether it carries the header
   */
  async pass(pass) {
    await this.#cleared;
    const last = this.#passes.get(pass.tab);
    const unmet = last?.address === pass.address ? last.unmet + 1 : 0;
    const removeRuleIds = [BY_GATE, ...this.#forget(pass.tab)];
    const addRules = passRules({ ...pass, again: unmet >= MOST_UNMET }, this.#next);
    this.#next += addRules.length;
    const timer = setTimeout(() => this.drop(pass.tab), UNUSED);
    const ids = addRules.map(({ id }) => id);
    this.#passes.set(pass.tab, { address: pass.address, at: Date.now(), ids, timer, unmet });
    try {
      await this.#rules.updateSessionRules({ removeRuleIds, addRules });
      return addRules.length > 1;
    } catch {
      // An address too long for an expression: it goes on without a header.
      await this.#rules.updateSessionRules({ removeRuleIds, addRules: addRules.slice(0, 1) });
      return false;
    }
  }

  /**
   * Take a tab's rules away, once its request has left or failed.
   * @param {number} tab
   * @param {{at?: number, address?: string}} which `at`: when that was, in milliseconds since the
   *   epoch: the browser may tell of it when the next one is let pass already, whose rules stay;
   *   `address`: only the rules of that one
   */
  drop(tab, { at = Infinity, address } = {}) {
    const later = this.#passes.get(tab)?.at > at;
    if (!later && (address === undefined || this.passes(tab, address))) {
      const removeRuleIds = this.#forget(tab);
      if (removeRuleIds.length > 0) {
        this.#rules.updateSessionRules({ removeRuleIds });
      }
    }
  }

  /** Take the rules of all tabs away. */
  dropAll() {
    [...this.#passes.keys()].forEach((tab) => this.drop(tab));
  }

  #forget(tab) {
    const pass = this.#passes.get(tab);
    clearTimeout(pass?.timer);
    this.#passes.delete(tab);
    return pass?.ids ?? [];
  }

  /** Take away what an earlier life of the background left to pass, and know what it led. */
  async #clear() {
    const there = await this.#rules.getSessionRules();
    const led = there.filter(({ action }) => action.type === "redirect");
    led.forEach(({ condition }) => this.#ever.add(condition.regexFilter));
    const removeRuleIds = there.map(({ id }) => id).filter((id) => id >= FIRST_PASS);
    await this.#rules.updateSessionRules({ removeRuleIds });
  }

  async #takes({ condition }) {
    const { isSupported } = await this.#rules.isRegexSupported({
      regex: condition.regexFilter,
      isCaseSensitive: true,
      requireCapturing: true,
    });
    return isSupported;
  }
}
