"""What the figures of the attack are, and what is assumed: said on its page."""

DEFINITIONS = """\
- **Halves.** The model is made from one half of the users. Streams of requests, and the
  adversary's list, are of the other half; the person who is looked for is on the list. Every
  strategy is shown the same people and the same requests. Exact search, which is slow, is shown
  only the first of them, as is the local search beside it; intervals there are of those people.
- **Success of a single guess.** The mean over people of 1 / (people of the list who agree with
  everything that the recipient holds): the chance of a guess, not a draw of one.
- **People left.** How many of the list agree; of the people at most 1, 5, 50 % have fewer.
- **Bits realised.** The mean over people of the mean over their requests of log2 P(x|.) - log2
  p0(x), x what the person chose, P by one service that sees the request alone and remembers
  nobody. "The service" says how it was chosen.
- **Guarded.** gender and race, where there are such: bits towards the true value, and bits of
  entropy that went, among those of the list who state it. Where it was told, that counts too.
- **Intervals.** 95 % of resamples of the people, the same for every strategy: differences and
  ratios are paired. Success is judged by the upper end, utility by the lower.
- **At equal utility.** Along each line the logarithm of success is linear between points; two
  lines are compared where both reach, at every point of either, and the worst counts.
- **Lines.** In the families limits are off, everything may leave, and lambda alone differs.
  Planned is one of several ways to look ahead that were tried; those that lost are not in the
  program, and not here. How much it counts what was not asked yet was settled on the half that the
  model is of, halved again, and looked at on 600 people of the other; how far it draws a query
  towards the mean of all, by how much queries differ beyond chance (a model's own rows: the two
  weigh the same at 50 to 150 rows, here and in the synthetic log), times two to three, as the best
  of many sets is looked for.
- **Presets.** As shipped. Their numbers were settled with this study on people of the developer
  survey's other half: there the bars of balanced are no test of them. Nobody answers what they ask
  about, so that it is not told; or, as `yes to all`, everybody says yes.
- **Assumed.** Values do not change; the recipient links all requests of a person and remembers
  every value; the requests themselves, addresses and cookies tell nothing here, though in life
  they do; a person's requests are drawn from what that person answered or chose.
- **Not charged.** Attributes of the request, such as the hour, are told like others, and the
  service uses them; but nobody is recognised by them, though values that repeat may reveal much."""

SETTLED = """\
The choice of the service is not from the training half alone. The sets of attributes that services
practise on, and are judged by, are a mixture: 60 % beginnings of what greedy search adds, 30 % any
attributes, 10 % whole groups or everything. This mixture, and the grid of β of the counts, were
settled after looking at what the strategies told of 200 people of the developer survey's other
half. So which service is best here was partly known; all strategies have the same."""
