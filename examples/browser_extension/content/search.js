/**
 * On the pages of listed sites: holds the form of a search until it is decided what it carries,
 * and tells which result is visited, where the user wants that to be known.
 *
 * A script of the old kind, as browsers inject it. All it knows is told by the background: the
 * expressions of this site's searches, whether forms are to be held, and whether clicks count.
 */
(() => {
  const PATIENCE = 1500; // longer than the background takes: then the gate is next
  const known = { searches: [], forms: false, clicks: false };

  /** An attribute of an element, also where a form has a field of a method's name. */
  const attribute = (element, name) => Element.prototype.getAttribute.call(element, name);

  /** What the button says, else what the form says. */
  function said(form, button, name) {
    return (button && attribute(button, `form${name}`)) ?? attribute(form, name) ?? "";
  }

  /** The address that a form leads to; null where the browser had better make it. */
  function addressOf(form, button) {
    const target = said(form, button, "target") || document.querySelector("base")?.target;
    const method = said(form, button, "method").toLowerCase() || "get";
    const url = new URL(said(form, button, "action") || document.URL, document.baseURI);
    const plain = document.characterSet === "UTF-8" && attribute(form, "accept-charset") === null;
    if (method !== "get" || (target && target !== "_self") || !plain || url.hash) {
      return null;
    }
    const pairs = [...new FormData(form, button)].map(([name, value]) => [
      lines(name),
      lines(value.name ?? value),
    ]);
    url.search = new URLSearchParams(pairs);
    return url.origin === location.origin ? url.href : null;
  }

  const lines = (text) => text.replace(/\r?\n|\r/g, "\r\n");

  async function submitted(event) {
    if (!event.isTrusted || event.defaultPrevented || !known.forms) {
      return;
    }
    const address = addressOf(event.target, event.submitter);
    if (!address || !known.searches.some((each) => each.test(address))) {
      return;
    }
    event.preventDefault();
    const late = new Promise((done) => setTimeout(done, PATIENCE));
    await Promise.race([tell({ kind: "form", address }), late]);
    location.assign(address);
  }

  function clicked(event) {
    const link = event.composedPath().find((each) => each instanceof HTMLAnchorElement);
    if (known.clicks && event.isTrusted && event.button < 2 && link?.href) {
      tell({ kind: "clicked", link: link.href });
    }
  }

  /** Tell the background; what it does not take is no matter of the page. */
  const tell = (message) => chrome.runtime.sendMessage(message).catch(() => null);

  tell({ kind: "page" }).then((told) => {
    known.searches = (told?.searches ?? []).map((each) => new RegExp(each));
    known.forms = told?.forms === true;
    known.clicks = told?.clicks === true;
  });
  addEventListener("submit", submitted);
  addEventListener("click", clicked);
  addEventListener("auxclick", clicked);
})();
