"""The words of the bundled studies: the names of mistakes and their consequences."""

from __future__ import annotations

from elicit_app.study import Mistake, Wording

# (true, predicted) -> name, in a sentence: one, many; consequence (at most 45 characters)
BREAST_CANCER = Wording(
    case="patient",
    cases="patients",
    class_one=("cancer", "harmless"),
    class_many=("cancers", "harmless lumps"),
    mistakes={
        (0, 1): Mistake("Missed cancer", "missed cancer", "missed cancers", "Treated months later, with worse odds."),
        (1, 0): Mistake(
            "Needless biopsy", "needless biopsy", "needless biopsies", "Surgery, a scar, two weeks of fear."
        ),
    },
    any_mistake=(
        Mistake("Missed cancer", "missed cancer", "missed cancers", "Treated months later, with worse odds."),
        Mistake("Needless biopsy", "needless biopsy", "needless biopsies", "Surgery, a scar, two weeks of fear."),
    ),
    class_action=("biopsy", ""),
)

WINES = ("Barolo", "Grignolino", "Barbera")
_WINE_CONSEQUENCES = {
    (0, 1): "A fine wine sold for half its price.",
    (0, 2): "A fine wine sold at a table wine's price.",
    (1, 0): "The buyer pays double for it.",
    (1, 2): "Too light for the meal. A complaint or two.",
    (2, 0): "The buyer is cheated. Refund, lost trust.",
    (2, 1): "Too dark and sour. Bottles come back.",
}
_WINE_ANY = (
    "A fine wine sold for less.",
    "The buyer gets another style of wine.",
    "The buyer gets less than was promised.",
)
WINE = Wording(
    case="bottle",
    cases="bottles",
    class_one=WINES,
    class_many=tuple(f"bottles of {wine}" for wine in WINES),
    mistakes={
        (true, predicted): Mistake(
            f"{WINES[true]} sold as {WINES[predicted]}",
            f"{WINES[true]} sold as {WINES[predicted]}",
            f"{WINES[true]}s sold as {WINES[predicted]}",
            consequence,
        )
        for (true, predicted), consequence in _WINE_CONSEQUENCES.items()
    },
    any_mistake=tuple(
        Mistake(f"{wine} under a wrong name", f"misnamed {wine}", f"misnamed {wine}s", consequence)
        for wine, consequence in zip(WINES, _WINE_ANY, strict=True)
    ),
)

LIGHTS = ("red", "yellow", "green")
_LIGHT_CONSEQUENCES = {
    (0, 1): "Brakes late. May stop past the line.",
    (0, 2): "Drives into crossing traffic.",
    (1, 0): "Brakes hard. May be hit from behind.",
    (1, 2): "Keeps its speed. May cross on red.",
    (2, 0): "Stops for nothing. Cars queue behind.",
    (2, 1): "Slows down for nothing.",
}
_LIGHT_ANY = (
    "Too fast towards crossing traffic.",
    "Too hard or too late on the brakes.",
    "Slows or stops for nothing.",
)
TRAFFIC_LIGHT = Wording(
    case="traffic light",
    cases="traffic lights",
    class_one=LIGHTS,
    class_many=tuple(f"{light} lights" for light in LIGHTS),
    mistakes={
        (true, predicted): Mistake(
            f"{LIGHTS[true].capitalize()} taken for {LIGHTS[predicted]}",
            f"{LIGHTS[true]} light taken for {LIGHTS[predicted]}",
            f"{LIGHTS[true]} lights taken for {LIGHTS[predicted]}",
            consequence,
        )
        for (true, predicted), consequence in _LIGHT_CONSEQUENCES.items()
    },
    any_mistake=tuple(
        Mistake(
            f"{light.capitalize()} not recognised", f"unrecognised {light} light", f"unrecognised {light} lights", said
        )
        for light, said in zip(LIGHTS, _LIGHT_ANY, strict=True)
    ),
)

DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_MANY = ("zeros", "ones", "twos", "threes", "fours", "fives", "sixes", "sevens", "eights", "nines")


def _digits() -> Wording:
    def read_as(true: int, predicted: int) -> Mistake:
        size, way = abs(predicted - true), "high" if predicted > true else "low"
        end = f"read as {DIGITS[predicted]}"
        said = f"The amount is {size} too {way} in this place."
        return Mistake(f"{DIGITS[true].capitalize()} {end}", f"{DIGITS[true]} {end}", f"{_MANY[true]} {end}", said)

    pairs = [(true, predicted) for true in range(10) for predicted in range(10) if true != predicted]
    return Wording(
        case="handwritten digit",
        cases="handwritten digits",
        class_one=DIGITS,
        class_many=_MANY,
        mistakes={pair: read_as(*pair) for pair in pairs},
        any_mistake=tuple(
            Mistake(
                f"{one.capitalize()} misread", f"misread {one}", f"misread {many}", "The amount is wrong in this place."
            )
            for one, many in zip(DIGITS, _MANY, strict=True)
        ),
    )


HANDWRITTEN_DIGITS = _digits()
