"""The page of image towers says what the libraries that are installed allow."""

import every_tower
import pytest


@pytest.mark.long
def test_the_page_of_towers_is_up_to_date() -> None:
    assert every_tower.DOCS.read_text() == every_tower.page()
