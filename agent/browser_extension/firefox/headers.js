/** Firefox holds a request until it is decided what it carries. */

import { HEADER } from "../lib/header.js";

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
    const search = await this.#isSearch(request);
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

  /** Say whether a request is a search: a page that a tab goes to, and nothing that pages fetch. */
  async #isSearch({ url, method, type, tabId, frameId }) {
    const page = type === "main_frame" && method === "GET" && tabId >= 0 && frameId === 0;
    return page && (await this.#searching.found(url)) !== null;
  }
}
