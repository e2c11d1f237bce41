/**
 * What is added to a search's address where its site takes no header: words after the query, or
 * parameters, as the policy's `carry` has it. All else in the address stays, byte for byte.
 */

import { LONGEST_ADDED } from "./limits.js";
import { placeOf, queryOf, written } from "./sites.js";

const PLAIN = /^[^\p{C}\p{Z}](?:[^\p{C}]*[^\p{C}\p{Z}])?$/u; // no sign that nobody sees
const BETWEEN = /[^\p{L}\p{M}\p{N}+#]+/u; // words, as in "c++" and "c#"

/** @typedef {{words: string, parameters: [string, string][]}} Additions empty for none */

/**
 * What an answer adds to a search: nothing that is there already, and nothing if any of it is odd.
 * @param {import("./sites.js").Site} site
 * @param {string} address one of its searches, as the browser writes it
 * @param {{words?: unknown, parameters?: unknown} | null} answer of the daemon
 * @returns {Additions}
 */
export function additionsOf(site, address, answer) {
  const words = site.carry === "words" ? answer?.words : "";
  const named = (site.carry === "parameters" && answer?.parameters) || {};
  const pairs = Object.entries(named);
  const texts = [...(words ? [words] : []), ...pairs.flat()];
  const isOdd = (each) => typeof each !== "string" || !PLAIN.test(each);
  const isTable = Object.getPrototypeOf(named) === Object.prototype;
  if (!isTable || texts.some(isOdd) || texts.join("").length > LONGEST_ADDED) {
    return { words: "", parameters: [] };
  }
  const there = new URL(address).searchParams;
  return {
    words: words && !has(queryOf(site, address), words) ? words : "",
    parameters: pairs.filter(([name]) => !there.has(name)),
  };
}

/**
 * The address of a search with what is added.
 * @param {import("./sites.js").Site} site
 * @param {string} address as the browser writes it
 * @param {Additions} additions
 * @returns {string}
 */
export function withAdditions(site, address, { words, parameters }) {
  const [, end] = placeOf(site, address);
  const rest = address.slice(end);
  const hash = rest.includes("#") ? rest.indexOf("#") : rest.length;
  const more = parameters.map(([name, value]) => `&${written(name)}=${written(value)}`);
  const query = words && `+${written(words)}`;
  return [address.slice(0, end), query, rest.slice(0, hash), ...more, rest.slice(hash)].join("");
}

/**
 * What of an address tells searches of a site apart: for words the query, for parameters all that
 * leaves.
 * @param {import("./sites.js").Site} site
 * @param {string} address
 */
export function keyOf(site, address) {
  const what = site.carry === "words" ? (queryOf(site, address) ?? "") : address.split("#")[0];
  return `${site.recipient} ${what}`;
}

/** Say whether words stand in a query, one after the other; signs alone are no words to add. */
function has(query, words) {
  const spaced = (text) => text.toLowerCase().split(BETWEEN).filter(Boolean).join(" ");
  return ` ${spaced(query)} `.includes(` ${spaced(words)} `) || !spaced(words);
}
