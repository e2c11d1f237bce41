/** The header that a search carries. */

export const HEADER = "Shared-Attributes";
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
