"""Worlds that `confirm` has not seen: each draws its own pictures and trains its own networks."""

from importlib import import_module

from worlds.design import World

MODULES = {
    "1": "worlds.solids",
    "2": "worlds.sprites",
    "3": "worlds.stamps",
    "4": "worlds.papers",
    "5": "worlds.stalls",
    "6": "worlds.cloths",
    "7": "worlds.gardens",
    "8": "worlds.tanks",
    "9": "worlds.signs",
    "10": "worlds.skies",
    "11": "worlds.slides",
    "12": "worlds.terrains",
    "13": "worlds.phantoms",
    "14": "worlds.shapes",
    "15": "worlds.kitchens",
    "16": "worlds.leaves",
    "17": "worlds.jars",
    "18": "worlds.dials",
    "19": "worlds.bags",
    "20": "worlds.echoes",
    "21": "worlds.crossings",
    "22": "worlds.boats",
    "23": "worlds.chessmen",
    "24": "worlds.trees",
}


def open_world(number: str) -> World:
    """One of the worlds, by its number."""
    # a world may be opened once only, so none is imported with another
    world: World = import_module(MODULES[number]).WORLD
    return world
