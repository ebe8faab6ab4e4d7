"""What is asked for from Python: an audit in which some plugins are objects of the caller."""

from collections.abc import Mapping

from cuescope.request import Request, Settings

# words of `cuescope.audit` itself: an option of a method that has such a name is in a mapping
TAKEN = frozenset(Request.model_fields) | {
    *("model_name", "data_name", "out", "runs", "cache", "progress"),
}


class PythonRequest(Request):
    """`objects` maps the name of each object to its fingerprint, so that the folder is its own."""

    objects: Mapping[str, str]

    @property
    def command(self) -> str:
        """The call, with <names> where objects stood: nothing that could be pasted and run."""

        def word_of(spec: str) -> str:
            return f"<{spec}>" if spec in self.objects else repr(spec)

        words = [
            repr(self.method),
            f"model={word_of(self.model)}",
            f"data={word_of(self.data)}",
        ]
        own = {k: v for k, v in self.method_options.items() if k not in TAKEN}
        words += [f"{name}={value!r}" for name, value in own.items()]
        others = {k: v for k, v in self.method_options.items() if k not in own}
        of_plugins = {
            "method": others,
            "model": self.model_options,
            "data": self.data_options,
        }
        words += [
            f"{kind}_options={dict(of)!r}" for kind, of in of_plugins.items() if of
        ]
        for name, field in Settings.model_fields.items():
            if (value := getattr(self, name)) != field.default:
                words.append(f"{name}={value!r}")
        return f"cuescope.audit({', '.join(words)})  # Python, <...>: objects of the caller"
