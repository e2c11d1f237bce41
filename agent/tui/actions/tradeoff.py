"""What can be done on the trade-off screen."""

from agent.tui.actions.action import Action

_CURVE = "curve --query QUERY"

ACTIONS = (
    Action("query", "tradeoff", "e", "Query", "Type the query to look at.", _CURVE),
    Action("all", "tradeoff", "o", "All queries", "The mean of all queries.", "curve --all"),
    Action(
        "recipient",
        "tradeoff",
        "r",
        "Recipient",
        "Type whom it is asked of, whose rules and knowledge count then; nothing for anybody.",
        f"{_CURVE} --recipient HOST",
    ),
    Action(
        "apply",
        "tradeoff",
        "a",
        "Apply",
        "Write the lambda that is selected into the policy, for this recipient or for everyone.",
        "policy set lambda=L",
    ),
    Action(
        "less", "tradeoff", "left", "Less", "Select the set that tells less.", _CURVE, footer=False
    ),
    Action(
        "more", "tradeoff", "right", "More", "Select one that tells more.", _CURVE, footer=False
    ),
    Action("knee", "tradeoff", "k", "Knee", "Select the knee of the curve.", _CURVE, footer=False),
    Action("now", "tradeoff", "n", "Now", "Select the present lambda.", _CURVE, footer=False),
)
