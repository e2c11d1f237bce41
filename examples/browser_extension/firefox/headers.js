/** Firefox holds a request until it is decided what it carries. */

import { HEADER } from "../lib/header.js";
import { isOf } from "../lib/sites.js";

const LOWER = HEADER.toLowerCase();

export class Held {
  #searching;
  /** Requests that were given a header: where they lead on to, it does not follow. */
  #given = new Set();

  /** @param {import("../lib/searching.js").Searching} searching */
  constructor(searching) {
    this.#searching = searching;
  }

  /**
   * The headers that a request leaves with; undefined to leave them as they are.
   * @param {object} request as the browser describes it
   * @returns {Promise<{requestHeaders: object[]} | undefined>}
   */
  async headers(request) {
    const { requestId, tabId, url, requestHeaders } = request;
    const search = await this.#search(request);
    if (!search && !this.#given.delete(requestId)) {
      return undefined;
    }
    const rest = requestHeaders.filter(({ name }) => name.toLowerCase() !== LOWER);
    const value = search ? await this.#searching.headerFor(tabId, url) : "";
    if (!value) {
      return { requestHeaders: rest };
    }
    this.#given.add(requestId);
    return { requestHeaders: [...rest, { name: HEADER, value }] };
  }

  /** Forget a request that is over. @param {{requestId: string}} request */
  over({ requestId }) {
    this.#given.delete(requestId);
  }

  /** The search that a request is: a page that is opened, or what a page of its site fetches. */
  async #search({ url, method, type, tabId, frameId, documentUrl }) {
    if (method !== "GET" || tabId < 0 || frameId !== 0) {
      return null;
    }
    const found = await this.#searching.found(url);
    const own = found && (type === "main_frame" || isOf(found.site.recipient, documentUrl));
    return own ? found : null;
  }
}
