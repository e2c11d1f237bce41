"""Policy files to run commands on: one that is right, one that is wrong, one half idle."""

WRONG = """\
preset = "balnaced"
lamda = 5

[[rule]]
recipient = "books.example"
attribute = "gender"
disclose = "nevr"
k = 5
"""
RIGHT = """\
preset = "strict"
lambda = 25

[groups]
adverts = ["ads.example"]

[queries]
block = ["debt"]

[attributes]
region = "auto"
hobby = { disclose = "ask", sensitivity = 0.25 }
shoe_size = { guard = 1 }

[[rule]]
name = "books"
recipient = "books.example"
lambda = 3
disclose = "auto"

[[rule]]
query = "novel*"
lambda = 30

[[rule]]
recipient = "adverts"
nothing = true
"""
DEAD = """\
[attributes]
regoin = "ask"

[[rule]]
lambda = 3
expires = 2020-01-01

[[rule]]
recipient = "books.example"
k = 4

[[rule]]
recipient = "books.example"
k = 5
"""
