/**
 * On the pages of listed sites: holds the form of a search until it is decided what it carries,
 * and tells which result is visited, where the user wants that to be known.
 *
 * A script of the old kind, as browsers inject it. All it knows is told by the background: the
 * expressions of this site's searches, and whether clicks count.
 */
(() => {
  const PATIENCE = 1500; // longer than the background takes: then the gate is next
  const MEANT = 1000; // milliseconds in which a key or a click sends a form off
  const known = { searches: null, clicks: false }; // null: not told yet

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

  /** The form that a key or a click of the user's may send off next, and that event. */
  let meant = { form: null, by: null };

  /** Note a key or a click: of the browser's own making, while a form's `submit` may be a script's. */
  function pressed(event) {
    const sends = event.type === "click" ? event.button === 0 : event.key === "Enter";
    if (event.isTrusted && sends) {
      const form = event.composedPath().find((each) => sendsOff(each, event.type))?.form;
      meant = { form: form ?? null, by: event };
    }
  }

  /** Whether a key in an element, or a click on it, sends its form off. */
  function sendsOff(element, type) {
    if (element instanceof HTMLInputElement) {
      return type !== "click" || /^(?:submit|image)$/.test(element.type);
    }
    return element instanceof HTMLButtonElement && element.type === "submit";
  }

  const lines = (text) => text.replace(/\r?\n|\r/g, "\r\n");

  async function submitted(event) {
    const { form, by } = meant;
    meant = { form: null, by: null };
    // What a page prevents sends nothing off: a submit after it is a script's.
    const own = form === event.target && !by.defaultPrevented && event.timeStamp - by.timeStamp < MEANT;
    if (!own || !event.isTrusted || event.defaultPrevented) {
      return;
    }
    const address = addressOf(event.target, event.submitter);
    if (!address || (known.searches && !isSearch(address))) {
      return;
    }
    event.preventDefault();
    const late = new Promise((done) => setTimeout(done, PATIENCE));
    const href = (await Promise.race([decided(address), late])) ?? address;
    // A link of the page's own: Firefox takes a location that is assigned here for ours.
    Object.assign(document.createElement("a"), { href }).click();
  }

  const isSearch = (address) => known.searches.some((each) => each.test(address));

  /** Have the background decide a search, once it is known to be one, and say where it goes. */
  async function decided(address) {
    await told;
    return isSearch(address) ? tell({ kind: "form", address }) : null;
  }

  function clicked(event) {
    const link = event.composedPath().find((each) => each instanceof HTMLAnchorElement);
    if (known.clicks && event.isTrusted && event.button < 2 && link?.href) {
      tell({ kind: "clicked", link: link.href });
    }
  }

  /** Tell the background; what it does not take is no matter of the page. */
  const tell = (message) => chrome.runtime.sendMessage(message).catch(() => null);

  const told = tell({ kind: "page" }).then((page) => {
    known.searches = (page?.searches ?? []).map((each) => new RegExp(each));
    known.clicks = page?.clicks === true;
  });
  addEventListener("keydown", pressed, true);
  addEventListener("keypress", pressed, true);
  addEventListener("click", pressed, true);
  addEventListener("submit", submitted);
  addEventListener("click", clicked);
  addEventListener("auxclick", clicked);
})();
