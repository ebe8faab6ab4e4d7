"""A request from Python: an audit in which some plugins are objects of the caller."""

from collections.abc import Mapping

from cuescope_core.request import Request, Settings


class PythonRequest(Request):
    """`objects` maps the name of each object to its fingerprint, so that the folder is its own."""

    objects: Mapping[str, str]

    @property
    def command(self) -> str:
        """The call, with <names> where objects stood: nothing that could be pasted and run."""

        def word_of(spec: str) -> str:
            return f"<{spec}>" if spec in self.objects else repr(spec)

        words = [
            word_of(self.method),
            f"model={word_of(self.model)}",
            f"data={word_of(self.data)}",
        ]
        given = {
            "options": self.method_options,
            "model_options": self.model_options,
            "data_options": self.data_options,
        }
        words += [f"{name}={dict(of)!r}" for name, of in given.items() if of]
        for name, field in Settings.model_fields.items():
            if (value := getattr(self, name)) != field.default:
                words.append(f"{name}={value!r}")
        return f"cuescope.audit({', '.join(words)})  # Python, <...>: objects of the caller"
