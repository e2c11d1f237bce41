/**
 * The headers of a search: what it carries, what its page tells those that it leads to, and what a
 * site accepts: a list of tokens (RFC 9651, section 4.2). The whole list must be a valid one, and so
 * must parameters, which say nothing to us.
 */

export const HEADER = "Shared-Attributes";
export const REFERRER = "referrer-policy";
export const ORIGIN = "origin"; // and not the address, which may have something added
export const STRICTER = ["no-referrer", "same-origin"]; // of a page, which stay
const SENDABLE = /^[\x20-\x7e]{1,1024}$/; // a Structured Field is ASCII; RFC 9651

const KEY = /[a-z*][a-z0-9_\-.*]*/y;
const TOKEN = /[A-Za-z*][!#$%&'*+\-.^_`|~0-9A-Za-z:/]*/y;
const ITEMS = [
  TOKEN,
  /-?(?:\d{1,12}\.\d{1,3}|\d{1,15})(?![\d.])/y, // Decimal, Integer
  /"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*"/y, // String
  /\?[01]/y, // Boolean
  /@-?\d{1,15}(?![\d.])/y, // Date
  /:(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2,3}={0,2})?:/y, // Byte Sequence, padded or not
];
const DISPLAY = /%"((?:[\x20\x21\x23\x24\x26-\x7e]|%[0-9a-f]{2})*)"/y;

/**
 * The header's value, empty where nothing is to be attached.
 * @param {{header?: string} | null} answer of the daemon
 * @returns {string}
 */
export function headerOf(answer) {
  const value = answer?.header;
  return typeof value === "string" && SENDABLE.test(value) ? value : "";
}

/** Where a text has been read to. */
class Reader {
  at = 0;

  constructor(text) {
    this.text = text;
  }

  /** What an expression matches here, null where it does not; the place moves behind it. */
  match(expression) {
    expression.lastIndex = this.at;
    const found = expression.exec(this.text);
    this.at = found ? expression.lastIndex : this.at;
    return found;
  }
}

/**
 * The tokens of a list; null where it is no list, or one of something else as well.
 * @param {string} text the values of all the header's lines, with commas between them
 * @returns {string[] | null}
 */
export function tokens(text) {
  const reader = new Reader(text);
  const found = [];
  reader.match(/ */y);
  while (reader.at < text.length) {
    const token = reader.match(TOKEN);
    if (!token || !parameters(reader)) {
      return null;
    }
    found.push(token[0]);
    reader.match(/[ \t]*/y);
    if (reader.at === text.length) {
      return found;
    }
    if (!reader.match(/,[ \t]*/y) || reader.at === text.length) {
      return null;
    }
  }
  return found;
}

/** Pass over the parameters of a member. @returns {boolean} whether they are valid */
function parameters(reader) {
  while (reader.match(/; */y)) {
    if (!reader.match(KEY) || (reader.match(/=/y) && !bareItem(reader))) {
      return false;
    }
  }
  return true;
}

function bareItem(reader) {
  const display = reader.match(DISPLAY);
  return display ? isUtf8(display[1]) : ITEMS.some((each) => reader.match(each));
}

function isUtf8(escapedText) {
  try {
    decodeURIComponent(escapedText);
    return true;
  } catch {
    return false;
  }
}
