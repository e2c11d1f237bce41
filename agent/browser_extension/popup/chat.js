/** What the popup shows of a message in a chat box: plain values, shown as text. */

import { WHY_NOTHING } from "./page.js";
import { ASSISTANTS } from "./words.js";

// Why there is no line for the message in a chat box.
const NO_LINE = {
  empty: "Write your message first, then open this again.",
  "no message": "Click into your message first, then open this again.",
  elsewhere: "The page has changed. Open this again on the page with your message.",
  "other frame": "The message box belongs to another site, so it is not read.",
  closed: "This box cannot be written in.",
  "in part": "Your message is too long for its box to hand out whole.",
  "too large": "Your message is too long.",
  changed: "The message is not the one above any more.",
  "too long": "The box has no room for the line.",
  "not put in": "The page did not take the line.",
};
const SHARED = "It is recorded as shared all the same. To put it in by hand:";

/**
 * @typedef {{name: string, title: string, phrase: string}} Fact
 * @typedef {object} Talk
 * @property {string} recipient
 * @property {string} question the message as it was read: a page can alter it
 * @property {string} readAs
 * @property {Fact[]} facts that may leave without asking, in the order chosen
 * @property {string} headline why there are none, where there are none
 * @property {string} people how many look like the user still, once all of it is told
 * @property {string} waiting what waits for the user's word
 * @property {string} fault why there is nothing to put in
 */

/**
 * @param {import("../lib/chats.js").Chat} chat as the background says it
 * @param {(summary: object) => string} readAs
 * @returns {Talk}
 */
export function talk({ origin, text, draft, fault }, readAs) {
  const facts = (draft?.facts ?? []).map(({ name, title, value, phrase }) => ({
    name,
    title: `${title}: ${value}`,
    phrase,
  }));
  return {
    recipient: new URL(origin).hostname,
    question: text ?? "",
    readAs: draft?.read_as ? readAs(draft) : "",
    facts,
    headline: draft && facts.length === 0 ? draft.headline : "",
    people: facts.length > 0 ? sentence(draft.people) : "",
    waiting: draft?.waiting?.length > 0 ? draft.waiting.join(", ") : "",
    fault: fault ? faultOf(fault) : "",
  };
}

/**
 * The line of these facts, each phrase once, as agent/words/titles.py makes it.
 * @param {string[]} phrases
 */
export function lineOf(phrases) {
  const separator = phrases.some((each) => each.includes(", ")) ? "; " : ", ";
  return phrases.length > 0 ? `About me: ${[...new Set(phrases)].join(separator)}` : "";
}

/**
 * What to say where a line could not be put in.
 * @param {{told: string | null, fault: object}} outcome
 * @returns {{text: string, line: string}} `line`: what counts as told, empty for nothing
 */
export function failed({ told, fault }) {
  const late = fault?.code === "too slow"; // nobody knows whether it is told
  const after = told ? SHARED : late ? "" : "Nothing was shared.";
  return { text: `${faultOf(fault)} ${after}`.trim(), line: told ?? "" };
}

/**
 * The well-known assistant of an address; null where it is none.
 * @param {string | undefined} address
 * @returns {{name: string, recipient: string, address: string} | null}
 */
export function wellKnown(address) {
  const home = URL.canParse(address) ? `${new URL(address).origin}/` : "";
  return Object.hasOwn(ASSISTANTS, home) ? { ...ASSISTANTS[home], address: home } : null;
}

/** One sentence for what went wrong, of the page or of the daemon. */
function faultOf(fault) {
  const { code = "", what = "Reticent did not answer" } = fault ?? {};
  if (Object.hasOwn(NO_LINE, code)) {
    return NO_LINE[code];
  }
  return sentence(Object.hasOwn(WHY_NOTHING, code) ? WHY_NOTHING[code] : what);
}

function sentence(text) {
  return text && `${text[0].toUpperCase()}${text.slice(1)}.`;
}
