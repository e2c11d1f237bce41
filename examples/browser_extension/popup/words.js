/** What the popup says, in words: plain values, which the page shows as text. */

const STATES = {
  lock: { text: "Reticent is locked. Searches carry nothing.", hint: "reticent unlock" },
  off: { text: "Reticent does not run. Searches carry nothing.", hint: "reticent daemon" },
  "no host": {
    text: "This browser finds no Reticent. Searches carry nothing.",
    hint: "reticent browser install",
  },
  stale: {
    text: "Your policy has mistakes. The rules before it are in use.",
    hint: "reticent policy check",
  },
  slow: { text: "Reticent took too long. A search goes on without it.", hint: "reticent status" },
};
const CODES = {
  answered: "nothing helps more than it would tell",
  "unknown query": "nobody knows what would help with it",
  blocked: "a rule of yours gives this site nothing",
  recognised: "whatever it carried would confirm who you are",
  "outside the model": "nobody is known to look like you",
  "past a limit already": "this site knows more than your limits allow",
  locked: "your profile was locked",
  "no policy": "there were no rules to go by",
  "no model": "there was no model to weigh it with",
  unfit: "the model does not fit your rules, or what this site knows",
  "no daemon": "Reticent did not run",
  "no host": "this browser found no Reticent",
  "too slow": "Reticent took too long, and may count it as told",
  "too large": "it is too long",
  "not https": "the network would read it",
  "too many": "more was asked within a minute than is recorded",
  "too many from pages": "pages led here more often within a minute than your rules allow",
  unseen: "a page searched where you could not see it",
  withheld: "the browser did not take it, though Reticent counts it as told",
};
const REASONS = {
  "worth it": "helps more than it tells",
  always: "a rule of yours always sends it",
  "known to the recipient": "this site knows it already",
  "in the standing set": "one of those it always gets",
  "in the plan": "helps more than it tells, with later searches too",
};

/**
 * @typedef {{name: string, value: string, why: string}} Row
 * @typedef {object} Page
 * @property {{text: string, hint: string} | null} state what is wrong, and what to run
 * @property {{text: string, command: string, rest: string} | null} word of the tab's site
 * @property {{recipient: string, query: string, readAs: string, headline: string} | null} search
 * @property {Row[]} sent those that help most first, as in `unspecified`
 * @property {Row[]} unspecified chosen, and you prefer not to say: leaving them out says so
 * @property {string[]} facts
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
  const row = ([name, value]) => ({ name, value, why: whyOf(because.get(name)) });
  const rows = (pairs) => pairs.sort((one, other) => compared(gain(other), gain(one))).map(row);
  return {
    state: stateOf(state || (stale ? "stale" : ""), fault),
    word: search ? null : wordOf(offered, refused),
    search: search && { ...search, readAs: readAs(answer?.summary), headline: headline(search) },
    sent: rows(Object.entries(answer?.attributes ?? {})),
    unspecified: rows((answer?.unspecified ?? []).map((name) => [name, "unspecified"])),
    facts: factsOf(answer?.summary),
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
  const many = what === "person" ? "people" : `${what}s`;
  return `${shown} ${shown === "1" ? what : many}`;
}

function stateOf(state, fault) {
  const key = state === "off" && fault?.code === "no host" ? fault.code : state;
  return Object.hasOwn(STATES, key) ? STATES[key] : null;
}

function wordOf(offered, refused) {
  if (offered) {
    const text = `${offered} says which facts it could use:`;
    return { text, command: "reticent pending", rest: "" };
  }
  if (!refused) {
    return null;
  }
  const command = `reticent unblock ${refused}`;
  return { text: `${refused} gets nothing: you said so.`, command, rest: "takes it back." };
}

function headline({ recipient, answer, fault }) {
  if (Object.keys(answer?.attributes ?? {}).length > 0) {
    return `Told ${recipient}:`;
  }
  if (answer?.unspecified?.length > 0) {
    return "It carried nothing: you prefer not to say what was chosen.";
  }
  const code = answer?.code ?? fault?.code ?? "";
  const why = Object.hasOwn(CODES, code) ? CODES[code] : "something went wrong";
  return `It carried nothing: ${why}.`;
}

/** What the query was read as; nothing where nothing was decided. */
function readAs(summary) {
  if (!summary) {
    return "";
  }
  const known = summary.read_as;
  return known === null ? "Not recognised as a known query." : `Read as “${known}”.`;
}

/** Which of two numbers is smaller, as `sort` asks it. */
function compared(one, other) {
  return one === other ? 0 : one - other;
}

function whyOf(because) {
  if (!because) {
    return "";
  }
  const { reason, gain_bits: gain, cost_bits: cost } = because;
  const words = Object.hasOwn(REASONS, reason) ? REASONS[reason] : reason;
  const figures = gain === null || cost === null ? "" : `: ${bits(gain)} for ${bits(cost)}`;
  return `${words}${figures}`;
}

function factsOf(summary) {
  if (!summary) {
    return [];
  }
  const left = `${counted(summary.people_left, "person")} would fit what ${summary.pool} knows`;
  const wait = summary.waiting === 1 ? "waits" : "wait";
  const waiting = `${counted(summary.waiting, "more fact")} ${wait} for your word`;
  return summary.waiting > 0 ? [left, waiting] : [left];
}
