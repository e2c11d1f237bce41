"""What the clock says of a request (paper, 5.2: AWHR, AWDY); holidays are not known."""

from datetime import datetime

FROM, TO = 7, 18  # hours of the day
SATURDAY = 5


def working_hours(at: datetime) -> bool:
    """Say whether it is between 7 am and 6 pm, in the zone of the time."""
    return FROM <= at.hour < TO


def workday(at: datetime) -> bool:
    """Say whether it is Monday to Friday, in the zone of the time."""
    return at.weekday() < SATURDAY
