"""Bad addresses, keys, models and options: one clear line each, before anything is paid."""

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from cuescope_openai.endpoint import find_endpoint
from cuescope_openai.options import OpenAIOptions
from cuescope_sdk import Sample, Trial, UserError

Build = Callable[..., Any]


def options(**given: Any) -> OpenAIOptions:
    return OpenAIOptions(model="m", **given)


def test_no_key_for_openai() -> None:
    with pytest.raises(
        UserError, match=r"no key for https://api.openai.com/v1.*OPENAI_API_KEY"
    ):
        find_endpoint(options(), {})
    with pytest.raises(UserError, match="variable MY_KEY, got nothing"):
        find_endpoint(options(key_env="MY_KEY", base_url="http://localhost:1/v1"), {})


def test_servers_and_keys_come_from_options_or_environment() -> None:
    environment = {
        "OPENAI_API_KEY": " one\n",
        "OTHER": "two",
        "OPENAI_BASE_URL": "https://b/v1/",
    }
    found = find_endpoint(options(), environment)
    assert found.url == "https://b/v1"
    assert found.key is not None
    assert found.key.get_secret_value() == "one"
    found = find_endpoint(
        options(key_env="OTHER", base_url="https://a/v1"), environment
    )
    assert (found.url, found.key and found.key.get_secret_value()) == (
        "https://a/v1",
        "two",
    )
    assert find_endpoint(options(base_url="https://a/v1"), {}).key is None


@pytest.mark.parametrize(
    "url",
    [
        "localhost:8000",
        "ftp://a/v1",
        "http://",
        "http://[",
        "http://a:x",
        "https://a:0/v1",
        "https://a:65536/v1",
        "https://lo\tcal/v1",
        "http://127.0.0.1\\evil.com/v1",
        "http://localhost;evil.com/v1",
        "http://localhost%00.evil.com/v1",
        "https://\uff11\uff12\uff17.0.0.1/v1",
    ],
)
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(UserError, match=r"base_url.*expected an address such as"):
        find_endpoint(options(base_url=url), {})


@pytest.mark.parametrize(
    "host",
    [
        "a",
        "192.0.2.1:8000",
        "0.0.0.0",
        "localhost.evil.com",
        "127.0.0.1.evil.com",
        "[::2]",
        "[::ffff:192.0.2.1]",
    ],
)
def test_nothing_goes_to_another_machine_in_clear(host: str) -> None:
    with pytest.raises(
        UserError, match=r"another machine: expected https://.*insecure=true"
    ):
        find_endpoint(options(base_url=f"http://{host}/v1"), {})
    with pytest.raises(UserError, match="another machine"):
        find_endpoint(options(), {"OPENAI_BASE_URL": f"http://{host}/v1"})
    given = options(base_url=f"http://{host}/v1", insecure=True)
    assert not find_endpoint(given, {}).is_local


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8000", "127.0.0.1", "127.8.9.10:80", "[::1]:8000"]
)
def test_this_machine_needs_no_encryption(host: str) -> None:
    assert find_endpoint(options(base_url=f"http://{host}/v1"), {}).is_local


@pytest.mark.parametrize("url", ["http://127.0.0.1\\@a/v1", "http://a\\@127.0.0.1/v1"])
def test_no_two_hosts_are_read_in_an_address(url: str) -> None:
    with pytest.raises(UserError, match="an address alone"):
        find_endpoint(options(base_url=url), {})


@pytest.mark.parametrize(
    "url", ["https://u:sk-hid@a/v1", "https://a/v1?api-key=sk-hid"]
)
def test_secrets_do_not_belong_in_an_address(url: str) -> None:
    with pytest.raises(UserError, match="an address alone") as caught:
        find_endpoint(options(base_url=url), {})
    assert "sk-hid" not in str(caught.value)


def test_a_key_in_place_of_a_variable_is_not_shown() -> None:
    with pytest.raises(
        UserError, match="the name of an environment variable"
    ) as caught:
        find_endpoint(options(key_env="sk-hidden-key"), {})
    assert "hidden" not in str(caught.value)


def test_a_key_that_cannot_be_sent_is_not_shown() -> None:
    with pytest.raises(UserError, match="printable ASCII") as caught:
        find_endpoint(options(), {"OPENAI_API_KEY": "hid\nden"})
    assert "hid" not in str(caught.value)


def test_no_server(writer: Build, unused_port: int) -> None:
    with pytest.raises(
        UserError, match=r"no server at http://127.0.0.1:\d+/v1.*base_url"
    ):
        writer(base_url=f"http://127.0.0.1:{unused_port}/v1", retries=1).generate(["a"])


def test_a_wrong_path(server: Any, writer: Build) -> None:
    with pytest.raises(UserError, match=r"no answer at .*status 404.*/v1"):
        writer(base_url=server.url.removesuffix("/v1")).generate(["a"])
    assert len(server.asked) == 1


def test_an_unknown_model(server: Any, writer: Build) -> None:
    with pytest.raises(UserError, match=r"status 404: .*has the model"):
        writer(model="tiny-visoin").generate(["a"])
    assert len(server.asked) == 1


def test_a_refused_key(
    server: Any, writer: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-hidden")
    server.fail(401, {"error": {"message": "Incorrect API key provided: sk-hi***en"}})
    with pytest.raises(
        UserError, match="status 401 for the key in OPENAI_API_KEY"
    ) as caught:
        writer().generate(["a"])
    assert "sk-" not in str(caught.value)


def test_a_sample_without_question(server: Any, model: Build) -> None:
    trial = Trial(sample=Sample(key="s", frames=(), choices=("yes", "no")))
    with pytest.raises(
        UserError, match=r"sample 's' has no question.*-O model.question="
    ):
        model().respond([trial])
    assert not server.asked


def test_more_choices_than_letters(model: Build) -> None:
    choices = tuple(map(str, range(27)))
    trial = Trial(sample=Sample(key="s", frames=(), question="Which?", choices=choices))
    with pytest.raises(UserError, match=r"at most 26, got 27.*scoring=words"):
        model().respond([trial])


@pytest.mark.parametrize(
    "given",
    [
        {"extra": {"messages": []}},
        {"prompt": "say"},
        {"top_logprobs": 21},
        {"temperature": -1},
    ],
)
def test_options_that_cannot_be(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        options(**given)
