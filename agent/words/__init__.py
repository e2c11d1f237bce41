"""What people read, in one place: figures and lists, outcomes, decisions, notices and titles.

The command line, the screens, the popup and assistants take their sentences from here. An error's
sentence stays where it is raised.
"""
