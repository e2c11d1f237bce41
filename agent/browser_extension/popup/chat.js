/** What the popup shows of a message in a chat box: plain values, shown as text. */

import { ASSISTANTS, CHAT, CHATTING, WHY_NOTHING } from "./words.js";

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
 * The line of these facts, each phrase once, as agent/words/about.py makes it.
 * @param {string[]} phrases
 */
export function lineOf(phrases) {
  return phrases.length > 0 ? `${CHATTING.about}: ${[...new Set(phrases)].join(", ")}` : "";
}

/**
 * What to say where a line could not be put in.
 * @param {{told: string | null, fault: object}} outcome
 * @returns {{text: string, line: string}} `line`: what counts as told, empty for nothing
 */
export function failed({ told, fault }) {
  const late = fault?.code === "too slow"; // nobody knows whether it is told
  const after = told ? CHATTING.told : late ? "" : CHATTING["nothing told"];
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
  if (Object.hasOwn(CHAT, code)) {
    return CHAT[code];
  }
  const text = Object.hasOwn(WHY_NOTHING, code) ? WHY_NOTHING[code] : what;
  return sentence(text);
}

function sentence(text) {
  return text && `${text[0].toUpperCase()}${text.slice(1)}.`;
}
