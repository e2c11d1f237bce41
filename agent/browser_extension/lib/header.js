/** The headers of a search: what it carries, and what its page tells those that it leads to. */

export const HEADER = "Shared-Attributes";
export const REFERRER = "referrer-policy";
export const ORIGIN = "origin"; // and not the address, which may have something added
export const STRICTER = ["no-referrer", "same-origin"]; // of a page, which stay
const SENDABLE = /^[\x20-\x7e]{1,1024}$/; // a Structured Field is ASCII; RFC 9651

/**
 * The header's value, empty where nothing is to be attached.
 * @param {{header?: string} | null} answer of the daemon
 * @returns {string}
 */
export function headerOf(answer) {
  const value = answer?.header;
  return typeof value === "string" && SENDABLE.test(value) ? value : "";
}
