"""Worlds that `confirm` has not seen: each draws its own pictures and trains its own networks."""

from importlib import import_module

from worlds.design import World

MODULES = {
    "1": "worlds.solids",
    "2": "worlds.sprites",
    "3": "worlds.stamps",
    "6": "worlds.cloths",
    "8": "worlds.tanks",
    "9": "worlds.signs",
    "12": "worlds.terrains",
    "13": "worlds.phantoms",
    "14": "worlds.shapes",
    "20": "worlds.echoes",
    "21": "worlds.crossings",
    "22": "worlds.boats",
}


def open_world(number: str) -> World:
    """One of the worlds, by its number."""
    # a world may be opened once only, so none is imported with another
    world: World = import_module(MODULES[number]).WORLD
    return world
