"""A search log that is synthetic: nobody searched for any of it.

It has the size and the published shares of the log of Krause and Horvitz (2010, section 5):
`marginals` holds their numbers, `log` counts them in what was written. What they do not say is
invented, and this is all of it:

- People belong to one of seven walks of life, which lean to ages, genders, topics and hours
  (`invented.toml`). Beyond that each has tastes of their own. Who does not say what they are is
  drawn by lot, whatever they are. Nobody lives outside the three regions that the paper names.
  Marital status and children are not known of anybody.
- All queries are of the 914 that at least 30 people asked, and all led to a page: the tail of
  rarer ones, and searches without a result, are not in the paper's figures and not here. So who
  asks once a day or more does so over few days, and who does not over many, up to 14 months
  (December 2005 to January 2007).
- Which queries somebody asks depends on their tastes, and how often they repeat each on chance.
  Numbers of queries per person and of people per query are heavy-tailed.
- Each person mostly wants one site with each of their queries. Which one depends on the query, and
  on their walk of life, age, gender, region, tastes and whether they ask from several places; when
  they pick anew, on the network, the hour and the kind of day too. The weights are random, and the
  same for all people. Gender and region say least.
- Pages before the one that was meant are left within 30 seconds. Pages after it follow the
  person's tastes, not the query. Topics of a person are known from these pages alone, for no other
  pages are in the log. Every 25th site is in no directory.
- Employed people and students use the network of an employer or a school in working hours.
- How much it depends on them is set with the paper's results in view. By its estimator, with a
  prior of 0.1 rows, people's attributes bring about its 1.92 bits (Fig. 6), search statistics about
  0.8, and topics tell people apart about as well as its score for them says (Fig. 11). These three
  are fitted: to find them again is no evidence.
- Ten or a hundred times the size is as many independent blocks of people with the same queries and
  sites.
"""
