"""Table 1 of the paper, in percent; "all cues" is Table 3, where the static bias stands alone."""

from collections.abc import Mapping

TABLE_1: Mapping[str, Mapping[str, tuple[float, float, float, float]]] = {
    "background": {
        "Random": (20.7, 19.6, 18.8, 18.3),
        "Domino": (48.6, 47.0, 32.4, 19.7),
        "George": (45.5, 44.7, 42.0, 35.6),
        "Distilling failures": (62.9, 62.0, 59.9, 49.0),
        "Confidence": (61.0, 60.6, 64.6, 59.5),
        "TRoVe": (100.0, 100.0, 100.0, 95.0),
    },
    "object": {
        "Random": (14.3, 15.0, 16.3, 16.2),
        "Domino": (52.2, 47.1, 34.8, 23.1),
        "George": (45.0, 41.1, 44.8, 35.7),
        "Distilling failures": (60.4, 58.3, 55.9, 49.9),
        "Confidence": (97.8, 97.0, 95.6, 78.0),
        "TRoVe": (97.8, 97.8, 97.8, 92.8),
    },
    "attribute": {
        "Random": (16.2, 19.1, 19.4, 18.8),
        "Domino": (63.1, 57.8, 35.1, 19.1),
        "George": (46.2, 46.8, 44.4, 38.9),
        "Distilling failures": (69.2, 68.0, 66.4, 62.3),
        "Confidence": (58.5, 59.4, 57.9, 52.5),
        "TRoVe": (100.0, 100.0, 99.3, 89.3),
    },
    "all cues": {"Static bias alone": (76.2, 76.2, 75.9, 78.2), "TRoVe": (99.1, 99.1, 98.9, 93.2)},
}
