/** Tells the service which result was chosen; without this script its page does. */

/** @param {MouseEvent} event a click anywhere on the page */
function tell(event) {
  const link = event.target instanceof Element ? event.target.closest("a[data-result]") : null;
  if (link instanceof HTMLAnchorElement) {
    const { page, result } = link.dataset;
    navigator.sendBeacon("/chosen", new URLSearchParams({ page, result }));
  }
}

document.addEventListener("click", tell);
