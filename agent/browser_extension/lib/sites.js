/**
 * Which addresses are searches, and what they ask for.
 *
 * An address is compared as the browser writes it: scheme, host and path in their one form. Of
 * several parameters with the name, the first that is not empty counts, here and in `expression`.
 */

/** How an address begins that nobody reads on its way: https, or this machine (policy/settings.py). */
const SEALED =
  /^(?:https:\/\/|http:\/\/(?:(?:[a-z0-9-]+\.)*localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])[:/?])/;
const HOLE = "{query}";
const NAMED = /^[^?#]*\?(?:[^#]*&)?([^?&=#]+)=$/;
const CARRIES = ["header", "words", "parameters"];
const SPECIAL = /[\\^$.*+?()[\]{}|]/g;

/**
 * @typedef {object} Site
 * @property {string} recipient who is asked about
 * @property {string} search the address with {query} in it
 * @property {string} origin
 * @property {string} start all of the address until its parameters
 * @property {string[]} names of the parameter, as addresses and as forms write it
 * @property {"header" | "words" | "parameters"} carry how facts reach it
 * @property {boolean} rerank whether its results are ordered here
 */

/**
 * Take a search apart; null where a browser can do nothing with it.
 * @param {{recipient: string, search: string, carry?: string, rerank?: boolean}} listed
 * @returns {Site | null}
 */
export function siteOf({ recipient, search, carry = "header", rerank = false }) {
  const [before, after, ...more] = String(search).split(HOLE);
  const named = NAMED.exec(before);
  if (!named || more.length > 0 || !/^(?:[&#]|$)/.test(after) || !CARRIES.includes(carry)) {
    return null;
  }
  const url = parsed(`${before}x${after}`);
  if (!url || !isSealed(url) || url.username || url.password) {
    return null;
  }
  const site = Object.freeze({
    recipient: String(recipient),
    search: String(search),
    origin: url.origin,
    start: `${url.origin}${url.pathname}?`,
    names: spellings(named[1], url),
    carry,
    rerank: rerank === true,
  });
  return queryOf(site, addressOf(site, "x")) === "x" ? site : null; // another q may stand before
}

/**
 * What a search asks for; null where the address is not one of this site's searches.
 * @param {Site} site
 * @param {string} address as the browser writes it
 * @returns {string | null}
 */
export function queryOf(site, address) {
  const place = placeOf(site, address);
  return place && new URLSearchParams(`q=${address.slice(...place)}`).get("q");
}

/**
 * Where in an address the query stands; null where the address is not one of this site's searches.
 * @param {Site} site
 * @param {string} address as the browser writes it
 * @returns {[number, number] | null} its first character, and the one behind it
 */
export function placeOf(site, address) {
  if (!address.startsWith(site.start)) {
    return null;
  }
  let from = site.start.length;
  const [parameters] = address.slice(from).split("#");
  for (const each of parameters.split("&")) {
    const end = each.indexOf("=");
    if (end > 0 && end + 1 < each.length && site.names.includes(each.slice(0, end))) {
      return [from + end + 1, from + each.length];
    }
    from += each.length + 1;
  }
  return null;
}

/**
 * The site whose search an address is, and what it asks for.
 * @param {Iterable<Site>} sites
 * @param {unknown} address
 * @returns {{site: Site, query: string} | null}
 */
export function searchOf(sites, address) {
  if (typeof address !== "string") {
    return null;
  }
  for (const site of sites) {
    const query = queryOf(site, address);
    if (query !== null) {
      return { site, query };
    }
  }
  return null;
}

/**
 * An expression that matches the site's searches, and nothing else; the same to RE2.
 * @param {Site} site
 * @returns {string}
 */
export function expression(site) {
  return `^${escaped(site.start)}(?:[^#&]*&)*(?:${site.names.map(escaped).join("|")})=[^#&].*$`;
}

/** @param {string} text @returns {string} an expression that matches the text alone */
export function escaped(text) {
  return text.replace(SPECIAL, "\\$&");
}

/**
 * The address of a search.
 * @param {Site} site
 * @param {string} query
 * @returns {string} as the browser writes it
 */
export function addressOf(site, query) {
  return new URL(site.search.replace(HOLE, () => written(query))).href;
}

/** A text as forms write it in an address. @param {string} text @returns {string} */
export function written(text) {
  return new URLSearchParams([["q", text]]).toString().slice("q=".length);
}

/**
 * Say whether an address is of a recipient: of its host, or of one below it.
 * @param {string} recipient
 * @param {string | undefined} address
 */
export function isOf(recipient, address) {
  const host = parsed(address ?? "")?.hostname ?? "";
  return host === recipient || host.endsWith(`.${recipient}`);
}

/** Say whether two addresses are of one request: what is behind # does not leave. */
export function isSame(one, other) {
  return one?.split("#")[0] === other.split("#")[0];
}

/** Say whether nobody reads what goes to an address on its way. @param {URL} url */
export function isSealed(url) {
  return SEALED.test(url.href);
}

/** @param {string} text @returns {URL | null} */
export function parsed(text) {
  return URL.canParse(text) ? new URL(text) : null;
}

/** The name of a parameter as an address has it, and as a form would write it. */
function spellings(name, url) {
  const written = new URL(`?${name}=`, url).search.slice(1, -1);
  const [[meant]] = new URLSearchParams(`${written}=`);
  const form = new URLSearchParams([[meant, ""]]).toString().slice(0, -1);
  return Object.freeze([...new Set([written, form])]);
}

/**
 * A result that was visited, where the user wants that to be known; null where it is none.
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
