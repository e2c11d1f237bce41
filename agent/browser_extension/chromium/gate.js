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

/** Have the background decide: true once the search may go on, false where it is none. */
async function decided() {
  const late = new Promise((_, refuse) => setTimeout(refuse, PATIENCE));
  const told = chrome.runtime.sendMessage({ kind: "gate", address });
  return (await Promise.race([told, late])) === true;
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
  if ((await decided().catch(() => false)) || (await letPass())) {
    location.replace(address);
  } else {
    document.title = "Reticent";
    document.documentElement.append(NO_SEARCH);
  }
}

if (window.top === window) {
  open();
}
