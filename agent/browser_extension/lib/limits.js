/** How long is waited, and how much is taken; milliseconds unless said. */

export const DECISION = 1000; // that a request is held: then it goes on without a header
export const SEEN = 500; // for the browser to say which tab is in front: else none is
export const STATUS = 1000; // for any other answer
export const TALK = 3000; // where the user looks on in the popup: longer than the relay waits
export const EVERY = 30_000; // between two looks at how the daemon is; an alarm's least
export const SOON = 2000; // the same, while the user may be about to approve an offer
export const SOON_FOR = 600_000;
export const PAUSE = 1000; // that pages are not asked about, once they have led there too often
export const UNUSED = 30_000; // until a rule that no request has met is taken away

export const LONGEST_QUERY = 4096; // characters, as agent/wire/base.py has it
export const LONGEST_SEARCH = 2000;
export const LONGEST_NAME = 200;
export const LONGEST_ADDED = 1024; // all that is added to an address
export const MOST_NAMES = 1024;
export const MOST_SITES = 400; // at two rules each: a Chromium takes 1000 with expressions
export const MOST_LED = 1000; // addresses with something added that are remembered, until the lock
export const MOST_OFFERS = 1000; // that are remembered, in one life of the background
