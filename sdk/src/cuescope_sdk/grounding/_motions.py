"""Turns in the words of `scenes.MOTIONS`, for data that knows which way a camera looked."""

TURN = 15.0  # degrees; less is no turn
AROUND = 135.0  # degrees; more is a turn around


def turn_name(degrees: float) -> str | None:
    """A turn to the right by `degrees`, taken the shorter way: "turn left"; None for hardly any."""
    net = (degrees + 180) % 360 - 180
    if abs(net) < TURN:
        return None
    if abs(net) > AROUND:
        return "turn around"
    return "turn right" if net > 0 else "turn left"
