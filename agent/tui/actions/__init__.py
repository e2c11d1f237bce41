"""All that a person can do in the screens: it feeds the keys, the footer, the help, the palette."""
