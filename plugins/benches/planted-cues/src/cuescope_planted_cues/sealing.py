"""A sealed part of the zoo: the plan of the public one, drawn anew from a secret; opaque names."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuescope_sdk import UserError, derive, digest, generator

if TYPE_CHECKING:
    from cuescope_planted_cues.worlds import Configuration, World

ZOO_VERSION = 2  # raise it when the public zoo has other configurations
LEAST_SECRET = 16  # characters
LENGTH = 10  # of an opaque name
SEED = "seed"  # the option of a data set that says which draw it is


def read_secret(file: Path) -> str:
    """What a sealed part is drawn from; raises UserError where it could be guessed."""
    try:
        secret = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read {file}", got=str(error)) from error
    if len(secret) < LEAST_SECRET:
        raise UserError(
            f"the secret in {file}",
            expected=f"{LEAST_SECRET} characters or more",
            got=str(len(secret)),
            remedy="`openssl rand -hex 32` writes one",
        )
    return secret


def opaque_name(configuration: "Configuration", secret: str | None) -> str:
    """Names a configuration and tells nothing of it. Without the secret nobody can work it out."""
    # seeds keep the bench's first name: another one would draw other trials
    return digest("cuebench", secret, asdict(configuration))[:LENGTH]


def hash_of(configurations: Sequence["Configuration"]) -> str:
    """Of all configurations: equal hashes are equal zoos."""
    return digest("zoo", ZOO_VERSION, list(map(asdict, configurations)))


def dealt_anew(worlds: Mapping[str, "World"], secret: str) -> dict[str, "World"]:
    """The same worlds, whose cues go with other labels of those that have one."""
    dealt = {}
    for key, world in worlds.items():
        labels = list(world.cues.values())
        generator(0, "cuebench", secret, key).shuffle(labels)
        cues = dict(zip(world.cues, labels, strict=True))
        dealt[key] = replace(world, cues=cues)
    return dealt


def redrawn(
    configurations: Sequence["Configuration"], secret: str
) -> list["Configuration"]:
    """Other samples and other toys, in an order that is drawn."""
    drawn = []
    for configuration in configurations:
        model, model_options = configuration.model
        data, data_options = configuration.data
        clean = configuration.clean
        drawn.append(
            replace(
                configuration,
                model=(model, _reseed(model_options, secret)),
                data=(data, _reseed(data_options, secret)),
                clean=clean and (clean[0], _reseed(clean[1], secret)),
            )
        )
    generator(0, "cuebench", secret, "order").shuffle(drawn)
    return drawn


def _reseed(options: Mapping[str, Any], secret: str) -> dict[str, Any]:
    """The same options, and wherever data are drawn another draw."""
    changed: dict[str, Any] = {}
    for name, value in options.items():
        if name == SEED:
            changed[name] = _other(value, secret)
        elif isinstance(value, Mapping):
            changed[name] = _reseed(value, secret)
        elif _is_spec(value):
            changed[name] = (value[0], _reseed(value[1], secret))
        else:
            changed[name] = value
    return changed


def _is_spec(value: Any) -> bool:
    """A SPEC and its options, as a dialled model has them."""
    return isinstance(value, tuple) and isinstance(value[-1], Mapping)


def _other(seed: int, secret: str) -> int:
    return derive(seed, "cuebench", secret) % 2**31
