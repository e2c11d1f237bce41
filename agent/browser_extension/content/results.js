/**
 * On the pages of listed sites: shows results in the user's own order, where the policy says so.
 *
 * The order tells facts, so the page must not read it: it stands in a closed shadow root, into which
 * no script of the page sees and none of its styles reach. The page's own results are only hidden.
 */
(() => {
  const LINK = ":is(h2, h3, h4) a[href]";
  const ITEMS = `:is(ol.results > li, #urls > .result):has(${LINK})`;
  const [MOST, LONGEST] = [30, 120]; // results, and characters of each text
  const STYLE = "ol { padding: 0; list-style: none } a { font-size: 1.2em } p { margin: 0 0 1em }";

  const make = (name, more) => Object.assign(document.createElement(name), more);
  const textOf = (node) => (node?.textContent ?? "").replace(/\s+/g, " ").trim().slice(0, LONGEST);

  async function show() {
    const items = [...document.querySelectorAll(ITEMS)].slice(0, MOST);
    const links = items.map((each) => each.querySelector(LINK));
    const results = items.map((each, at) => [textOf(links[at]), textOf(each.querySelector("p"))]);
    const order = await chrome.runtime.sendMessage({ kind: "results", results });
    if (order?.some((from, to) => from !== to)) {
      const [host, list] = [make("div"), make("ol")];
      for (const at of order) {
        const [textContent, snippet] = results[at];
        const line = make("li");
        line.append(make("a", { textContent, href: links[at].href }), make("p", { textContent: snippet }));
        list.append(line);
        items[at].style.display = "none";
      }
      const said = make("p", { textContent: "Ordered on your own machine by Reticent" });
      host.attachShadow({ mode: "closed" }).append(make("style", { textContent: STYLE }), said, list);
      items[0].before(host);
    }
  }

  addEventListener("DOMContentLoaded", () => show().catch(() => null));
})();
