"""A person's own prices, by a few questions: `page` is the screen, the rest its parts."""
