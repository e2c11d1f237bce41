"""The form in which texts are compared, by models and by policies alike."""

import unicodedata


def normalise(text: str) -> str:
    """The form in which texts are compared: NFKC, case folded, white space collapsed.

    Control characters count as white space; invisible format characters (category Cf: zero
    width space and joiners, soft hyphen, direction marks) are dropped. Idempotent.
    Source: UAX 15; Unicode 3.13, caseless matching.
    """
    if text.isascii():
        folded = text.lower()
    else:
        visible = "".join(each for each in text if unicodedata.category(each) != "Cf")
        # Folding can leave what NFKC would compose, and NFKC what folding would change.
        for _ in range(2):
            visible = unicodedata.normalize("NFKC", visible).casefold()
        folded = unicodedata.normalize("NFKC", visible)
    if not folded.isprintable():
        controls = (" " if unicodedata.category(each) == "Cc" else each for each in folded)
        folded = "".join(controls)
    return " ".join(folded.split())
