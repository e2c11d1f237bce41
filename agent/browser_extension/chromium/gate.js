/**
 * Where a search waits until it is decided what it carries; it leaves to that search alone.
 *
 * It opens as a page only where the background cannot tell which tab waits, or was not there to be
 * asked: else a search goes on from here without (`goOn` in background.js).
 */

const NO_SEARCH = "This is no search that Reticent knows.";
const LET_PASS = 99_999; // the number of the rule by which a search goes on without the background
const PATIENCE = 2500; // longer than the background takes

const { href } = location;
const address = href.slice(href.search(/[?#]/) + 1);

/** Have the background decide: where the search may go on, null where it is none. */
async function decided() {
  const late = new Promise((_, refuse) => setTimeout(refuse, PATIENCE));
  return Promise.race([chrome.runtime.sendMessage({ kind: "gate", address }), late]);
}

/** Let the search pass without a header, where the background does not answer. */
async function letPass() {
  const { id } = await chrome.tabs.getCurrent();
  const there = await chrome.declarativeNetRequest.getSessionRules();
  const known = there.some(({ action, condition }) => {
    return action.type === "redirect" && new RegExp(condition.regexFilter).test(address);
  });
  const condition = { urlFilter: `|${address}|`, isUrlFilterCaseSensitive: true };
  Object.assign(condition, { resourceTypes: ["main_frame"], tabIds: [id] });
  const rule = { id: LET_PASS, priority: 2, action: { type: "allow" }, condition };
  await chrome.declarativeNetRequest.updateSessionRules({
    removeRuleIds: [LET_PASS],
    addRules: known ? [rule] : [],
  });
  return known;
}

async function open() {
  const where = await decided().catch(() => null);
  if (where || (await letPass())) {
    location.replace(where || address);
  } else {
    document.title = "Reticent";
    document.documentElement.append(NO_SEARCH);
  }
}

if (window.top === window) {
  open();
}
