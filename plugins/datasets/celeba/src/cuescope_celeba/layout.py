"""The annotation files of CelebA, checked line by line."""

from itertools import compress

from cuescope_sdk import UserError
from cuescope_sdk.data import TextFile
from cuescope_sdk.report import count_of


def read_attributes(
    table: TextFile,
) -> tuple[tuple[str, ...], dict[str, frozenset[str]]]:
    """The names of the attributes, and those that each face has.

    A line with the number of faces, one with the names, then "000001.jpg -1 1 ..." a face.
    """
    lines = table.lines()
    location, line = next(lines)  # raises for an empty file
    if not line.isdecimal():
        raise UserError(location, expected="the number of faces", got=f"'{line[:60]}'")
    names = tuple(next(lines, ("", ""))[1].split())  # none: every face then misfits
    faces = {}
    for location, line in lines:
        file, *flags = line.split()
        if len(flags) != len(names) or not set(flags) <= {"1", "-1"}:
            expected = f"a file and {count_of(len(names), 'times')} 1 or -1"
            raise UserError(location, expected=expected, got=f"'{line[:60]}'")
        faces[file] = frozenset(compress(names, map("1".__eq__, flags)))
    return names, faces


def read_partition(table: TextFile) -> dict[str, int]:
    """The split of each face: "000001.jpg 0" is in train, 1 is val, 2 is test."""
    splits = {}
    for location, line in table.lines():
        file, *number = line.split()
        if number not in (["0"], ["1"], ["2"]):
            raise UserError(
                location,
                expected="'000001.jpg 0', 1 or 2",
                got=f"'{line[:60]}'",
            )
        splits[file] = int(number[0])
    return splits


def read_persons(table: TextFile) -> dict[str, str]:
    """Who is on each image: "000001.jpg 2880" is the person 2880."""
    persons = {}
    for location, line in table.lines():
        file, *number = line.split()
        if len(number) != 1 or not number[0].isdecimal():
            raise UserError(
                location,
                expected="'000001.jpg 2880'",
                got=f"'{line[:60]}'",
            )
        persons[file] = number[0]
    return persons
