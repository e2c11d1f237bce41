/** Who sends a message, and who goes to a page: as the browser says, and not the message. */

/**
 * Say whether a page of the extension sends it.
 * @param {object} sender
 * @param {{id: string, getURL: (path: string) => string}} runtime
 * @param {string} path of the page
 */
export function isPage(sender, runtime, path) {
  const [page] = String(sender.url ?? "").split(/[?#]/);
  const own = runtime.getURL("") + path; // `getURL(path)` may be the one that pages go to it by
  return sender.id === runtime.id && page === own && !sender.frameId;
}

/**
 * The page of a listed site in which our script sends it: its tab, address and origin.
 * @param {object} sender
 * @param {{id: string}} runtime
 * @param {Iterable<import("./sites.js").Site>} sites
 * @returns {{tab: number, address: string, origin: string} | null}
 */
export function listedPage(sender, runtime, sites) {
  const { id, tab, frameId, url } = sender;
  if (id !== runtime.id || !Number.isInteger(tab?.id) || frameId !== 0 || !URL.canParse(url)) {
    return null;
  }
  const { origin } = new URL(url);
  const own = [...sites].some((each) => each.origin === origin);
  return own ? { tab: tab.id, address: url, origin } : null;
}

/**
 * Say whether a request is of a page that a tab goes to, and not of one that is fetched ahead: that
 * is of the document that asks for it, while a page that comes has no document yet.
 * @param {{tabId: number, documentId?: string, documentLifecycle?: string}} request
 */
export function isVisit({ tabId, documentId, documentLifecycle }) {
  return tabId >= 0 && documentId === undefined && documentLifecycle !== "prerender";
}
