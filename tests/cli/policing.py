"""What a daemon says of a policy and of attributes, for commands to show."""

from datetime import date

from agent.wire.policy import AttributeStatus, RuleRemark, RulesStatus, RuleStatus, SettingStatus
from tests.cli.daemon import AT, changed

PATH = "/home/u/policy.toml"
SHADOWED = RuleRemark(line=9, key="rule[1].k", what="never decides: 'books' wins", hint="delete it")
BOOKS = RuleStatus(
    name="books",
    source=PATH,
    line=5,
    conditions={"recipient": "books.example", "query": "novel*"},
    settings={"lambda": "3.0", "disclose": '"auto"'},
    fired_at=AT,
)
OLD = RuleStatus(
    name="rule 2",
    source=PATH,
    line=9,
    conditions={"expires": "2020-01-01"},
    settings={"k": "4"},
    expires=date(2020, 1, 1),
    expired=True,
    remarks=[SHADOWED],
)
STRICT = RuleStatus(
    name="preset strict",
    source="preset strict",
    line=None,
    conditions={},
    settings={"risk": "0.02"},
)
RULES = RulesStatus(
    path=PATH,
    in_use=True,
    since=AT,
    problems=[],
    effective=[SettingStatus(key="risk", value="0.02", rule="preset strict", line=None)],
    rules=[STRICT, BOOKS, OLD],
)
WRONG = RuleRemark(line=2, key="lamda", what="unknown key 'lamda'", hint="did you mean 'lambda'?")
BROKEN = changed(RULES, problems=[WRONG])
NONE = changed(RULES, in_use=False, rules=[], effective=[])
REGION = AttributeStatus(
    name="region",
    kind="region",
    title="Region",
    scope="person",
    values=["unspecified", "coast"],
    refines="country",
    model="village",
    disclose="guarded",
    sensitivity_bits=0.25,
    guard=2.0,
    rule="attributes.region",
    line=4,
)
HOURS = changed(
    REGION,
    name="hours",
    title="Within hours",
    scope="request",
    refines=None,
    disclose="auto",
    sensitivity_bits=0.0,
    guard=0.0,
    rule="preset strict, attributes.hours",
    line=None,
)
