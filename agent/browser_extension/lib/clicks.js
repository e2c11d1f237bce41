/** A result that was visited, where the user wants that to be known. */

import { parsed, searchOf } from "./sites.js";

/**
 * What is told of a click; null where nothing is.
 * @param {Iterable<import("./sites.js").Site>} sites
 * @param {string} page the address of the page that was clicked on: not of its own saying
 * @param {unknown} link where to, as the page says
 * @returns {{query: string, host: string} | null}
 */
export function clickOf(sites, page, link) {
  const found = searchOf(sites, page);
  const url = typeof link === "string" ? parsed(link) : null;
  if (!found || !url || !/^https?:$/.test(url.protocol) || searchOf(sites, url.href)) {
    return null;
  }
  return { query: found.query, host: url.hostname };
}
