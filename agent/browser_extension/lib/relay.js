/**
 * The line to the daemon: a program that the browser starts, and that hands messages on.
 *
 * It answers each message once, and in their order (agent/wire/decide.py), so an answer belongs
 * to the oldest that waits. What comes too late has nowhere to go: the line is dropped with all
 * that waits on it, and the next call opens another.
 */

const HOST = "reticent.relay";
const NOT_THERE = /not found|forbidden|no such native/i;

const FAULTS = {
  absent: {
    code: "no host",
    what: "this browser does not know Reticent's relay",
    hint: "run `reticent connect browsers`, then start the browser again",
  },
  broken: {
    code: "no daemon",
    what: "Reticent's relay has ended",
    hint: "run `reticent doctor`",
  },
  slow: {
    code: "too slow",
    what: "the daemon did not answer in time",
    hint: "run `reticent status`",
  },
  odd: {
    code: "no daemon",
    what: "what answers is not Reticent's relay",
    hint: "run `reticent connect browsers`",
  },
};

/**
 * @typedef {{code: string, what: string, hint: string}} Fault
 * @typedef {{body: object, fault: null} | {body: null, fault: Fault}} Outcome
 */

export class Relay {
  #runtime;
  #port = null;
  #waiting = [];
  #next = 0;

  /** @param {{connectNative: Function, lastError?: {message: string}}} runtime the browser's */
  constructor(runtime) {
    this.#runtime = runtime;
  }

  /**
   * Ask the daemon.
   * @param {string} call one of decide, status, clicked, offer, refuse, draft, tell, topics, means,
   *   rerank
   * @param {object | null} body its message
   * @param {number} limit milliseconds
   * @param {object} more what else the envelope says
   * @returns {Promise<Outcome>} never rejected
   */
  call(call, body, limit, more = {}) {
    return new Promise((resolve) => {
      const id = this.#next++;
      const timer = setTimeout(() => this.#drop(FAULTS.slow), limit);
      this.#waiting.push({ id, resolve, timer });
      try {
        this.#opened().postMessage({ call, id, body, ...more });
      } catch {
        this.#drop(FAULTS.broken);
      }
    });
  }

  #opened() {
    if (this.#port) {
      return this.#port;
    }
    const port = this.#runtime.connectNative(HOST);
    port.onMessage.addListener((message) => port === this.#port && this.#take(message));
    port.onDisconnect.addListener(() => {
      const why = this.#runtime.lastError?.message ?? port.error?.message ?? "";
      if (port === this.#port) {
        this.#drop(NOT_THERE.test(why) ? FAULTS.absent : FAULTS.broken);
      }
    });
    this.#port = port;
    return port;
  }

  #take(message) {
    const oldest = this.#waiting[0];
    const outcome = outcomeOf(message);
    if (!oldest || !outcome || (message.id !== undefined && message.id !== oldest.id)) {
      this.#drop(FAULTS.odd);
      return;
    }
    this.#waiting.shift();
    clearTimeout(oldest.timer);
    oldest.resolve(outcome);
  }

  #drop(fault) {
    const [port, waiting] = [this.#port, this.#waiting];
    this.#port = null;
    this.#waiting = [];
    port?.disconnect();
    for (const { resolve, timer } of waiting) {
      clearTimeout(timer);
      resolve({ body: null, fault });
    }
  }
}

/** What an answer says; null where it is none. */
function outcomeOf(message) {
  const said = typeof message?.status === "number" ? message.body : message;
  if (typeof said !== "object" || said === null) {
    return null;
  }
  if (message.status === 200) {
    return { body: said, fault: null };
  }
  return typeof said.code === "string" ? { body: null, fault: said } : null;
}
