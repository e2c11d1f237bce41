/** The script on the pages of listed sites: on no others, and gone with the session. */

const FILE = "content/search.js";

/**
 * What the script of one origin is registered as.
 * @param {string} origin
 * @param {boolean} ports whether this browser's patterns can have one
 */
export function scriptOf(origin, ports) {
  const { protocol, host, hostname } = new URL(origin);
  return {
    id: `search ${origin}`,
    matches: [`${protocol}//${ports ? host : hostname}/*`],
    js: [FILE],
    runAt: "document_start",
    allFrames: false,
    persistAcrossSessions: false,
  };
}

export class Scripts {
  #scripting;
  #ports;
  #last = Promise.resolve();

  /**
   * @param {object} scripting the browser's
   * @param {boolean} ports whether its patterns can have one
   */
  constructor(scripting, ports) {
    this.#scripting = scripting;
    this.#ports = ports;
  }

  /**
   * Have the script on these origins' pages, and on no others.
   * @param {Iterable<string>} origins
   */
  on(origins) {
    const wanted = new Set(origins);
    this.#last = this.#last.then(() => this.#registered(wanted)).catch(() => {});
    return this.#last;
  }

  async #registered(wanted) {
    const there = await this.#scripting.getRegisteredContentScripts();
    const scripts = [...wanted].map((each) => scriptOf(each, this.#ports));
    const ids = there.map(({ id }) => id).filter((id) => !scripts.some((each) => each.id === id));
    if (ids.length > 0) {
      await this.#scripting.unregisterContentScripts({ ids });
    }
    for (const script of scripts.filter((each) => !there.some(({ id }) => id === each.id))) {
      // One that the browser does not take leaves the others.
      await this.#scripting.registerContentScripts([script]).catch(() => {});
    }
  }
}
