/** Firefox holds a request until it is decided how it leaves. */

import { HEADER, ORIGIN, REFERRER, STRICTER } from "../lib/header.js";

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
   * Where a request goes with what is added to its address; undefined to leave that as it is.
   * @param {object} request as the browser describes it
   * @returns {Promise<{redirectUrl: string} | undefined>}
   */
  async address(request) {
    const carry = await this.#carryOf(request);
    if (!carry || carry === "header") {
      return undefined;
    }
    const { address } = await this.#searching.leaves(request.tabId, request.url);
    return address === request.url ? undefined : { redirectUrl: address };
  }

  /**
   * The headers that a request leaves with; undefined to leave them as they are.
   * @param {object} request as the browser describes it
   * @returns {Promise<{requestHeaders: object[]} | undefined>}
   */
  async headers(request) {
    const { requestId, tabId, url, requestHeaders } = request;
    const search = (await this.#carryOf(request)) === "header";
    if (!search && !this.#given.delete(requestId)) {
      return undefined;
    }
    const rest = requestHeaders.filter(({ name }) => name.toLowerCase() !== LOWER);
    const value = search ? (await this.#searching.leaves(tabId, url)).header : "";
    if (!value) {
      return { requestHeaders: rest };
    }
    this.#given.add(requestId);
    return { requestHeaders: [...rest, { name: HEADER, value }] };
  }

  /**
   * The headers of a page, where something may be added to its address: the pages that it leads
   * to are told its origin only; undefined to leave them as they are.
   * @param {object} response as the browser describes it
   * @returns {Promise<{responseHeaders: object[]} | undefined>}
   */
  async response(response) {
    const carry = await this.#carryOf(response);
    const isPolicy = ({ name }) => name.toLowerCase() === REFERRER;
    const { responseHeaders } = response;
    const stricter = responseHeaders.some((each) => isPolicy(each) && STRICTER.includes(each.value));
    if (!carry || carry === "header" || stricter) {
      return undefined;
    }
    const rest = responseHeaders.filter((each) => !isPolicy(each));
    return { responseHeaders: [...rest, { name: REFERRER, value: ORIGIN }] };
  }

  /** Forget a request that is over. @param {{requestId: string}} request */
  over({ requestId }) {
    this.#given.delete(requestId);
  }

  /** How a search carries facts: a page that a tab goes to, and nothing that pages fetch. */
  async #carryOf({ url, method, type, tabId, frameId }) {
    const page = type === "main_frame" && method === "GET" && tabId >= 0 && frameId === 0;
    return page ? (await this.#searching.found(url))?.site.carry : undefined;
  }
}
