/** What the popup shows: plain values, each of which the page shows as text. */

import { REASONS, TITLES, VALUES, VALUES_OF, WHY_NOTHING as OF_DAEMON } from "./words.js";

// What is wrong, and what to run.
const STATES = {
  lock: { text: "Reticent is locked. Searches carry nothing.", hint: "reticent unlock" },
  off: { text: "Reticent is not running. Searches carry nothing.", hint: "reticent daemon" },
  "no host": {
    text: "This browser cannot find Reticent. Searches carry nothing.",
    hint: "reticent connect browsers",
  },
  stale: {
    text: "Your policy has mistakes. The last good rules stay in use.",
    hint: "reticent policy check",
  },
  slow: {
    text: "Reticent took too long. A search went on without it.",
    hint: "reticent status",
  },
};
const FURTHER = { 2: "second", 3: "third" }; // facts of a kind, as `agent.build.kinds` titles them
/** Why a request carried nothing, by code: the daemon's, and what only a browser can meet. */
export const WHY_NOTHING = {
  ...OF_DAEMON,
  "no daemon": "Reticent was not running",
  "no host": "this browser could not find Reticent",
  "too slow": "Reticent timed out; the facts may be recorded as shared",
  "too large": "the search is too long",
  repeated: "repeated in this tab, so sent as you typed it",
  unseen: "a page searched where you could not see it",
  withheld: "the browser dropped it, but Reticent recorded it as shared",
};

/**
 * @typedef {{name: string, value: string, why: string}} Row by titles, not by codes
 * @typedef {object} Page
 * @property {{text: string, hint: string} | null} state what is wrong, and what to run
 * @property {{text: string, command: string, rest: string} | null} word of the tab's site
 * @property {{recipient: string, query: string, readAs: string, headline: string} | null} search
 * @property {Row[]} sent those that help most first, as in `unspecified`
 * @property {Row[]} unspecified chosen, and you prefer not to say: leaving them out says so
 * @property {{text: string, undo: boolean} | null} added to the address, and whether it can go
 * @property {string[]} facts
 * @property {string[]} figures in bits, on demand
 */

/**
 * What stands in the popup.
 * @param {object} told by the background
 * @param {object | null} told.search
 * @param {string} told.state
 * @param {object | null} told.fault
 * @param {boolean} told.stale whether older rules are in use than the file's
 * @param {string | null} told.offered the site that waits for the user's word
 * @param {string | null} told.refused the site that is to get nothing
 * @returns {Page}
 */
export function page({ search, state, fault, stale, offered, refused }) {
  const answer = search?.answer;
  const because = new Map((answer?.summary?.because ?? []).map((each) => [each.name, each]));
  const gain = ([name]) => because.get(name)?.gain_bits ?? -Infinity;
  const row = ([name, value]) => ({
    name: titleOf(name),
    value: valueOf(name, value),
    why: whyOf(because.get(name)),
  });
  const rows = (pairs) => pairs.sort((one, other) => compared(gain(other), gain(one))).map(row);
  return {
    state: stateOf(state || (stale ? "stale" : ""), fault),
    word: search ? null : wordOf(offered, refused),
    search: search && { ...search, readAs: readAs(answer?.summary), headline: headline(search) },
    sent: rows(Object.entries(answer?.attributes ?? {})),
    unspecified: rows((answer?.unspecified ?? []).map((name) => [name, "unspecified"])),
    added: addedOf(search),
    facts: factsOf(answer?.summary),
    figures: [...because.values()].flatMap(figuresOf),
  };
}

/** @param {number} bits @returns {string} with three digits that count */
export function bits(number) {
  const short = Number(number.toPrecision(3));
  return `${short} ${short === 1 ? "bit" : "bits"}`;
}

/** @param {number} number @param {string} what in the singular @returns {string} */
export function counted(number, what) {
  const shown = Math.round(number).toLocaleString("en");
  return `${shown} ${shown === "1" ? what : `${what}s`}`;
}

/** How many people, of large numbers two digits, as `agent.words.figures.people` says it. */
function people(number) {
  const shown = number < 999.5 ? Math.round(number) : Number(number.toPrecision(2));
  const millions = shown >= 1e6;
  return (millions ? shown / 1e6 : shown).toLocaleString("en") + (millions ? " million" : "");
}

/** The title of an attribute; that of a second or third fact of its kind follows from the first. */
function titleOf(name) {
  const [, first, number] = /^(.+)_([23])$/.exec(name) ?? [];
  if (!Object.hasOwn(TITLES, name) && Object.hasOwn(TITLES, first)) {
    return `${TITLES[first]} (${FURTHER[number]})`;
  }
  return Object.hasOwn(TITLES, name) ? TITLES[name] : name;
}

function valueOf(name, value) {
  const own = Object.hasOwn(VALUES_OF, name) ? VALUES_OF[name] : {};
  const titles = Object.hasOwn(own, value) ? own : VALUES;
  return Object.hasOwn(titles, value) ? titles[value] : value.replaceAll("_", " ");
}

function stateOf(state, fault) {
  const key = state === "off" && fault?.code === "no host" ? fault.code : state;
  return Object.hasOwn(STATES, key) ? STATES[key] : null;
}

function wordOf(offered, refused) {
  if (offered) {
    return { text: `${offered} asks for facts about you:`, command: "reticent requests list --waiting", rest: "" };
  }
  if (!refused) {
    return null;
  }
  const command = `reticent policy block --undo ${refused}`;
  return { text: `${refused} gets nothing, because you said so.`, command, rest: "lifts that." };
}

function headline({ recipient, answer, fault }) {
  const count = Object.keys(answer?.attributes ?? {}).length;
  if (count > 0) {
    return `Sent ${counted(count, "fact")} to ${recipient}:`;
  }
  if (answer?.unspecified?.length > 0) {
    return "Sent nothing: you prefer not to say what was chosen.";
  }
  if (answer?.summary?.why) {
    return `Sent nothing: ${answer.summary.why}.`;
  }
  const code = answer?.code ?? fault?.code ?? "";
  return `Sent nothing: ${Object.hasOwn(WHY_NOTHING, code) ? WHY_NOTHING[code] : "internal error"}.`;
}

/** What stands in the search beside what was typed; null where its site gets a header, or nothing. */
function addedOf(search) {
  const { words = "", parameters = {} } = search?.answer ?? {};
  const { additions, recipient } = search ?? {};
  if (!additions || !(words || Object.keys(parameters).length > 0)) {
    return null;
  }
  if (additions.words) {
    return { text: `Added to your search on ${recipient}: ${additions.words}`, undo: true };
  }
  const pairs = additions.parameters.map((each) => each.join("=")).join(", ");
  return pairs
    ? { text: `Added to the address on ${recipient}: ${pairs}`, undo: true }
    : { text: "Nothing was added: your search has it already.", undo: false };
}

/**
 * What the query was read as, how surely where there is a doubt; nothing if none was decided.
 * @param {object | undefined} summary @returns {string}
 */
export function readAs(summary) {
  if (!summary) {
    return "";
  }
  if (summary.read_as === null) {
    return "Not recognised.";
  }
  const { title, probability, taught } = summary.read_as;
  const doubt = probability < 1 ? ` (${Math.floor(100 * probability)} % sure)` : "";
  const said = taught ? `, as you said${doubt && " of a similar text"}` : "";
  return `Read as “${title}”${doubt}${said}.`;
}

/** Which of two numbers is smaller, as `sort` asks it. */
function compared(one, other) {
  return one === other ? 0 : one - other;
}

function whyOf(because) {
  const reason = because?.reason ?? "";
  return Object.hasOwn(REASONS, reason) ? REASONS[reason] : reason;
}

function figuresOf({ name, gain_bits: gain, cost_bits: cost }) {
  const helps = `${titleOf(name)}: helps by ${bits(gain ?? 0)}, costs ${bits(cost ?? 0)}`;
  return gain === null || cost === null ? [] : [helps];
}

function factsOf(summary) {
  if (!summary) {
    return [];
  }
  const one = Math.round(summary.people_left) === 1;
  const who = one ? "1 person" : `about ${people(summary.people_left)} people`;
  const known = `To ${summary.pool}, ${who} still look${one ? "s" : ""} like you.`;
  const wait = summary.waiting === 1 ? "waits" : "wait";
  const waiting = `${counted(summary.waiting, "more fact")} ${wait} for your approval.`;
  return summary.waiting > 0 ? [known, waiting] : [known];
}
