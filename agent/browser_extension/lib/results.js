/**
 * The results of a search, as its page shows them, for the popup to show in the user's order.
 *
 * The order tells facts, so the page must not learn it: it is read, which leaves no trace there, and
 * never written to.
 */

/** @typedef {{title: string, snippet: string, link: string}} Result */

/**
 * Read the results in a tab; none where it shows another page by now.
 * @param {object} scripting the browser's
 * @param {number} tab
 * @param {string} address of the search
 * @returns {Promise<Result[]>} as text, with links into the web alone
 */
export async function resultsOf(scripting, tab, address) {
  const call = { target: { tabId: tab }, func: read, args: [address] };
  const [{ result }] = await scripting.executeScript(call);
  return result.filter(({ link }) => URL.canParse(link) && /^https?:.{1,2000}$/.test(link));
}

/** This runs in the page, in a world that no script of the page sees, and knows nothing from here. */
export function read(address) {
  const [most, longest, link] = [30, 120, ":is(h2, h3, h4) a[href]"]; // results, characters of each
  const text = (node) => (node?.textContent ?? "").replace(/\s+/g, " ").trim().slice(0, longest).toWellFormed();
  const items = document.querySelectorAll(`:is(ol.results > li, #urls > .result):has(${link})`);
  const results = location.href === address ? [...items].slice(0, most) : [];
  return results.map((each) => {
    const to = each.querySelector(link);
    return { title: text(to), snippet: text(each.querySelector("p")), link: String(to.href) };
  });
}
