"""The commands that other packages of this project bring."""

# Help lines of this project's commands, by dist: an entry point has no room for words, and to
# import a command for them would cost `--help` a second. Others show their package's summary.
HELP = {
    "cuescope-blind": {
        "blind": "Find out what of a benchmark is answered without looking; no model is needed."
    },
    "cuescope-commands": {
        "check": "Check a log, folder or questions: does its number follow from its rows?",
        "compare": "Show what differs between runs, beyond chance.",
        "example": "Fetch an open CLIP and free photos, and say how to audit the one on the other.",
        "gate": "Judge a run by a policy: pass, fail or undecided, for pipelines.",
        "label": "Write a sheet of pictures for people to judge a run by, and read it back.",
        "methods": "Show the methods: what each finds and needs, and which fit a model and data.",
        "new": "Write a plugin package of your own, whose tests pass as they are.",
        "plugins check": "Check that a plugin holds what its kind promises.",
    },
    "cuescope-confirm": {
        "confirm": "Test whether a run's cues cause the answers, by interventions beside controls.",
        "investigate": "Run every method that fits, test which cues are causes, in one report.",
    },
    "cuescope-covar-build": {
        "covar": "Build a COVAR of your own photos: objects put on many backgrounds."
    },
    "cuescope-cue": {
        "cue": "Make a cue of your own, show it, refine it, recognise it in any data."
    },
    "cuescope-mitigation": {
        "mitigate": "Learn to do without a run's cues, and measure whether it helps."
    },
    "cuescope-view": {
        "view": "Show the runs on a page in the browser, and work with them there."
    },
}
