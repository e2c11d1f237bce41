/** The daemon as the extension knows it: how it is, for which sites, and what it decides. */

import { DECISION, LONGEST_QUERY, MOST_SITES, PAUSE, STATUS, TALK } from "./limits.js";
import { siteOf } from "./sites.js";

const FULL = "too many from pages";
const OFF = ["no daemon", "no host"];
const LARGE = {
  code: "too large",
  what: "the query is longer than the daemon reads",
  hint: "search for less",
};

/**
 * @typedef {import("./sites.js").Site} Site
 * @typedef {import("./relay.js").Fault} Fault
 * @typedef {"" | "lock" | "off" | "slow"} State
 * @typedef {"user" | "page"} Asker who asks: the user where a key or a click of theirs is seen
 * @typedef {{recipient: string, query: string, answer: object | null, fault: Fault | null}} Decided
 */

export class Daemon {
  /** @type {State} */ state = "";
  /** @type {Fault | null} what is wrong where the state says so */ fault = null;
  /** @type {readonly Site[]} */ sites = [];
  /** @type {readonly string[]} origins where a line is offered for a chat box */ assistants = [];
  /** Whether the policy has mistakes, so that the rules before it decide. */ stale = false;
  /** Whether it wants to know which results are visited. */ clicks = false;
  /** @type {Set<string>} recipients that are to get nothing, until they are listed again */
  refused = new Set();
  /** Settled once it has answered, or could not. */ heard;

  #relay;
  #changed;
  /** Until when pages are not asked about, by recipient; they have the answer of then. */
  #paused = new Map();

  /**
   * @param {import("./relay.js").Relay} relay
   * @param {() => void} changed called after each answer that changed what is known
   */
  constructor(relay, changed) {
    this.#relay = relay;
    this.#changed = changed;
    this.heard = this.look();
  }

  /** Ask how it is. @returns {Promise<void>} */
  async look() {
    const { body, fault } = await this.#relay.call("status", null, STATUS);
    if (body) {
      this.clicks = body.clicks === true;
      this.stale = body.stale_rules === true;
      this.#list(Array.isArray(body.sites) ? body.sites : [], body.locked === true);
      this.assistants = Array.isArray(body.assistants) ? body.assistants : [];
    }
    this.#note(body?.locked === true ? "locked" : (fault?.code ?? ""), fault);
    this.#changed();
  }

  /**
   * Ask what a search may carry.
   * @param {Site} site
   * @param {string} query
   * @param {Asker} by
   * @returns {Promise<Decided>}
   */
  async decide({ recipient }, query, by) {
    if (query.length > LONGEST_QUERY) {
      return { recipient, query, answer: null, fault: LARGE };
    }
    if (by === "page" && this.#paused.get(recipient) > Date.now()) {
      return { recipient, query, answer: { code: FULL }, fault: null };
    }
    const asked = { query, recipient, asked: null };
    const { body, fault } = await this.#relay.call("decide", asked, DECISION, { by });
    if (body?.code === FULL) {
      this.#paused.set(recipient, Date.now() + PAUSE);
    }
    if (this.#note(body?.code ?? fault?.code, fault)) {
      this.#changed(); // costs a few calls of the browser's, for which a search would wait
    }
    return { recipient, query, answer: body, fault };
  }

  /** Ask what a line in a chat box may say. @param {string} recipient @param {string} query */
  draft(recipient, query) {
    return this.#relay.call("draft", { query, recipient, asked: null }, TALK);
  }

  /** Tell facts of a draft: they count from now on. @param {string} id @param {string[]} names */
  tell(id, names) {
    return this.#relay.call("tell", { id, names }, TALK);
  }

  /**
   * Offer what a recipient can use, or the chat box that the user wants help in.
   * @param {import("./offers.js").Offer | {recipient: string, address: string}} offer
   * @returns {Promise<boolean | null>} whether the user is asked now; null where it was not told
   */
  async offer(offer) {
    const { body } = await this.#relay.call("offer", offer, STATUS);
    return body && body.done === true;
  }

  /**
   * List what a text may mean, the likeliest first.
   * @param {string} recipient @param {string} query
   * @returns {Promise<string[]>} titles of topics
   */
  async topics(recipient, query) {
    const { body } = await this.#relay.call("topics", { query, recipient, asked: null }, STATUS);
    return Array.isArray(body) ? body.map(({ title }) => title) : [];
  }

  /**
   * Propose what a text means; the user's word on it is given elsewhere.
   * @param {{query: string, recipient: string, topic: string}} meaning
   * @returns {Promise<Fault | null>} why it does not wait for that
   */
  async means(meaning) {
    return (await this.#relay.call("means", meaning, STATUS)).fault;
  }

  /**
   * Put results into the user's order.
   * @param {Site} site
   * @param {string} query
   * @param {import("./results.js").Result[]} results
   * @param {Asker} by
   * @returns {Promise<Result[]>} none where they had better stay as they are
   */
  async ordered({ recipient }, query, results, by) {
    const asked = { recipient, query, results: results.map((each) => [each.title, each.snippet]) };
    const { body: order } = await this.#relay.call("rerank", asked, TALK, { by });
    return order?.some((from, to) => from !== to) ? order.map((from) => results[from]) : [];
  }

  /** Tell that a result was visited. @param {{query: string, host: string}} clicked */
  async clicked(clicked) {
    await this.#relay.call("clicked", clicked, STATUS);
  }

  /**
   * Have a recipient get nothing any more.
   * @param {string} recipient
   * @returns {Promise<Fault | null>} why not
   */
  async refuse(recipient) {
    const { fault } = await this.#relay.call("refuse", { recipient }, STATUS);
    if (fault === null) {
      this.refused.add(recipient);
      this.sites = this.sites.filter((each) => each.recipient !== recipient);
      await this.look();
    }
    return fault;
  }

  /** Take the sites it lists; a locked one knows the policy's alone, so what was known stays. */
  #list(listed, locked) {
    const kept = locked ? this.sites : [];
    const taken = listed.filter((each) => each && typeof each === "object").map(siteOf);
    const all = new Map([...kept, ...taken.filter(Boolean)].map((each) => [keyOf(each), each]));
    this.sites = [...all.values()].slice(0, MOST_SITES);
    this.sites.forEach(({ recipient }) => this.refused.delete(recipient));
  }

  /** Note how it is, and say whether that is another state. */
  #note(code, fault) {
    const before = this.state;
    this.state = stateOf(code);
    this.fault = fault;
    return this.state !== before;
  }
}

function keyOf({ recipient, search }) {
  return `${recipient} ${search}`;
}

/** @param {string} code of an answer or of a fault @returns {State} */
function stateOf(code) {
  if (OFF.includes(code)) {
    return "off";
  }
  return code === "locked" ? "lock" : code === "too slow" ? "slow" : "";
}
