"""What the figures of the attack are, and what is assumed: said on its page."""

DEFINITIONS = """\
- **Halves.** The model is made from one half of the users. Streams of requests, and the
  adversary's list, are of the other half; the person who is looked for is on the list. Every
  strategy is shown the same people and the same requests.
- **Success of a single guess.** The mean over people of 1 / (people of the list who agree with
  everything that the recipient holds): the chance of a guess, not a draw of one.
- **People left.** How many of the list agree; of the people at most 1, 5, 50 % have fewer.
- **Bits realised.** The mean over people of the mean over their requests of log2 P(x|.) - log2
  p0(x), x what the person chose, P by one service that sees the request alone. It was chosen
  among those below by users of the training half whom it had not seen.
- **Guarded.** gender and race, where there are such: bits towards the true value, and bits of
  entropy that went, among those of the list who state it. Where it was told, that counts too.
- **Intervals.** 95 % of resamples of the people, the same for every strategy: differences and
  ratios are paired. Success is judged by the upper end, utility by the lower.
- **At equal utility.** Along each line the logarithm of success is linear between points; two
  lines are compared where both reach, at every point of either, and the worst counts.
- **Lines.** In the families limits are off, everything may leave, and lambda alone differs.
  Presets are as shipped; nobody answers what they ask about, so that it is not told; or, as
  `yes to all`, everybody says yes.
- **Assumed.** Values do not change; the recipient links all requests of a person and remembers
  every value; the requests themselves, addresses and cookies tell nothing here, though in life
  they do; a person's requests are drawn from what that person answered."""
