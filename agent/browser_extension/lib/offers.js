/** A site that says which attributes it can use: the daemon is told, and the user decides there. */

import { tokens } from "./header.js";
import { LONGEST_NAME, LONGEST_SEARCH, MOST_NAMES, MOST_OFFERS } from "./limits.js";
import { isSealed, parsed } from "./sites.js";

const ACCEPT = "accept-shared-attributes";
const USUAL = ["q", "query", "search", "s", "p", "text", "term", "keywords", "k", "wd"];

/** @typedef {{recipient: string, names: string[], search: string}} Offer */

/**
 * What a response offers; null where it offers nothing.
 * @param {{url: string, method: string, responseHeaders?: object[]}} response
 * @returns {Offer | null}
 */
export function offerOf({ url, method, responseHeaders = [] }) {
  const lines = responseHeaders.filter((each) => each.name.toLowerCase() === ACCEPT);
  const search = method === "GET" && lines.length > 0 ? searchAt(url) : null;
  if (!search) {
    return null;
  }
  const found = tokens(lines.map((each) => each.value ?? "").join(", ")) ?? [];
  const names = [...new Set(found)];
  if (names.length === 0 || names.length > MOST_NAMES || names.some(isTooLong)) {
    return null;
  }
  return { recipient: parsed(url).hostname, names, search };
}

/** Makes each offer once, as far as it remembers: no site takes the room of all others. */
export class Offers {
  #daemon;
  #made = new Set();

  /** @param {{offer: (offer: Offer) => Promise<boolean | null>}} daemon */
  constructor(daemon) {
    this.#daemon = daemon;
  }

  /**
   * Tell the daemon what a response offers, unless it was told.
   * @param {Parameters<typeof offerOf>[0]} response
   * @returns {Promise<Offer | null>} what the user is asked about now
   */
  async heard(response) {
    const offer = offerOf(response);
    const key = JSON.stringify(offer);
    if (!offer || this.#made.has(key)) {
      return null;
    }
    this.#made.add(key);
    if (this.#made.size > MOST_OFFERS) {
      const [oldest] = this.#made;
      this.#made.delete(oldest);
    }
    const asked = await this.#daemon.offer(offer);
    if (asked === null) {
      this.#made.delete(key);
    }
    return asked ? offer : null;
  }
}

/** The search that an address looks like: nothing of it but the usual parameter is kept. */
function searchAt(address) {
  const url = parsed(address);
  if (!url || !isSealed(url) || url.username || url.password) {
    return null;
  }
  const name = USUAL.find((each) => url.searchParams.getAll(each).some(Boolean));
  const search = `${url.origin}${url.pathname}?${name}={query}`;
  return name && search.length <= LONGEST_SEARCH ? search : null;
}

function isTooLong(name) {
  return name.length > LONGEST_NAME;
}
