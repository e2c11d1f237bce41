/** The chat boxes of listed assistants: a message is read, and a line put in it, as the popup asks. */

import { LONGEST_QUERY } from "./limits.js";
import { parsed } from "./sites.js";

const FILE = "/content/composer.js";
const EMPTY = { fault: { code: "empty" } };
const LONG = { fault: { code: "too large" } };

/**
 * @typedef {import("./relay.js").Fault} Fault
 * @typedef {object} Chat
 * @property {string} origin of its page
 * @property {string} [text] of the message as it was read
 * @property {object | null} [draft] what the daemon says of it
 * @property {{code: string, what?: string} | null} fault why there is none
 */

export class Chats {
  #daemon;
  #scripting;

  /**
   * @param {import("./daemon.js").Daemon} daemon
   * @param {object} scripting the browser's
   */
  constructor(daemon, scripting) {
    this.#daemon = daemon;
    this.#scripting = scripting;
  }

  /**
   * What a line in the message of a tab may say; null where its site is not listed, or nothing can
   * be decided: then the page is not looked at.
   * @param {number} tab
   * @param {string} address that it shows
   * @returns {Promise<Chat | null>}
   */
  async drafted(tab, address) {
    const origin = this.#listed(address);
    if (!origin || this.#daemon.state) {
      return null;
    }
    const { text, fault } = await this.#composed(tab, origin);
    if (fault || !text.trim() || text.length > LONGEST_QUERY) {
      return { origin, ...(fault ? { fault: { code: fault } } : text.trim() ? LONG : EMPTY) };
    }
    const { body, fault: unsaid } = await this.#daemon.draft(origin, text);
    return { origin, text, draft: body, fault: unsaid };
  }

  /**
   * Put a line into the message of a tab. It counts as told before it is there: what could not be
   * put in is seen before that, as far as it can be.
   * @param {number} tab
   * @param {{origin: string, text: string, id: string, names: string[], line: string}} put `text`:
   *   the message as the user was shown it; `id`: of the draft; `line`: as the user was shown it
   * @returns {Promise<{told: string | null, fault: Fault | {code: string} | null}>} the line that
   *   counts as told, null for none, and why it is not in the message
   */
  async put(tab, { origin, text, id, names, line }) {
    const before = await this.#composed(tab, origin, text, line, false);
    if (before.fault || !this.#listed(origin)) {
      return { told: null, fault: { code: before.fault ?? "elsewhere" } };
    }
    const { body, fault } = await this.#daemon.tell(id, names);
    if (typeof body?.line !== "string") {
      return { told: null, fault };
    }
    const after = await this.#composed(tab, origin, text, body.line, true);
    return { told: body.line, fault: after.fault ? { code: after.fault } : null };
  }

  #listed(address) {
    const origin = parsed(address)?.origin;
    return this.#daemon.assistants.includes(origin) ? origin : null;
  }

  /** What `composed` of content/composer.js finds in a tab, in a world that its page cannot see. */
  async #composed(tab, origin, before = null, line = "", put = false) {
    const target = { tabId: tab };
    const func = (...given) => globalThis.composed(...given);
    try {
      await this.#scripting.executeScript({ target, files: [FILE] });
      const args = [origin, before, line, put];
      const [{ result }] = await this.#scripting.executeScript({ target, func, args });
      return result ?? { fault: "not put in" };
    } catch {
      return { fault: put ? "not put in" : "elsewhere" }; // the tab has gone, or shows no page
    }
  }
}
