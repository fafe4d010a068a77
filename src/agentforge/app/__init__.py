"""The use cases: what AgentForge does, as functions that print nothing, exit nothing and read no terminal.

Surfaces (the command line, and whatever comes beside it) parse what a person says, call these functions and
show what they return. They are the Python API too: `from agentforge import start, drive, report`. What has to
be shown while a task runs goes to a `Watcher`, and what has to be asked goes to an `Ask`: `ports.py`.

Its rooms, in the order in which a task meets them:

- `setup` and `models`: what people configured, what this machine has, and which models answer.
- `intake`: a request becomes a task on record.
- `drivers`: who drives it, here or on a Temporal server.
- `people`: what is asked of them, and what they answer.
- `record`: what is on record of a task, read for whoever shows it.
- `evidence`: proof, audit, replay, comparison, figures and traces.
- `branches`: merged, thrown away, cleaned up.
- `checks` and `workflow`: what works without a task: the checks of a checkout, the ten phases of documents.

One word for each idea of beginning and going on:

- `start` puts a new task on record. Nothing runs yet.
- `drive` takes the task's lock and works until the task is over or waits for a person.
- `resume` is `drive` for a task that was stopped: one that failed, was aborted or can be tried again is put
  back to work first. The command is called `continue`, because that is what people type.
- `hand_over` gives a task to the workers of a Temporal server; `follow` watches what they do with it.
- `take_over` makes this machine the one that drives a task, once it is proved that nobody else does.
- `host` makes this process a worker.

This package is the only composition root: nothing below it constructs providers, sandboxes, stores and
engines together.
"""
