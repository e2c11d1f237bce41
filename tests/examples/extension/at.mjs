/** Where the extension lies, and what its tests share. */

export const EXTENSION = new URL("../../../agent/browser_extension/", import.meta.url);

const { siteOf } = await import(new URL("lib/sites.js", EXTENSION));

/** A module of the extension. @param {string} path */
export function module(path) {
  return import(new URL(path, EXTENSION));
}

/** The site of a host, whose searches are at /search with q. @param {string} recipient */
export function site(recipient, carry = "header") {
  return siteOf({ recipient, search: `https://${recipient}/search?q={query}`, carry });
}

/** The address of a search. @param {string} recipient @param {string} query */
export function search(recipient, query) {
  return `https://${recipient}/search?q=${query}`;
}
