"""Every command, under the heading that `agentforge --help` shows it: what a newcomer needs comes first."""

from collections.abc import Mapping

from agentforge.surfaces.cli.lazy import LazyCommand

_HERE = "agentforge.surfaces.cli.commands"


def _command(target: str, line: str = "") -> LazyCommand:
    return LazyCommand(f"{_HERE}.{target}", line)


SECTIONS: Mapping[str, Mapping[str, LazyCommand]] = {
    "Start here": {
        "demo": _command("demo:demo", "Watch one request become a verified branch; needs no key"),
        "setup": _command("setup:setup", "Choose a model, try it and write it into your settings"),
        "start": _command("start:start", "Turn a request into a verified branch, or one question"),
        "status": _command("status:status", "List the tasks of this repository or of all, or show one"),
        "merge": _command("merge:merge", "Merge a delivered branch into yours, if its tests pass there"),
    },
    "Ask for work": {
        "implement": _command("start:implement", "Like start, but always for a change, however it is worded"),
        "design": _command("start:design", "Turn a request into a specification; change nothing"),
        "test": _command("start:test", "Write the tests of a specification; change nothing else"),
        "review": _command("start:review", "Review a path: what it contains and what is wrong with it"),
        "document": _command("start:document", "Write documentation of a path; change no code"),
        "fix": _command("start:fix", "Fix one violation that a check has found"),
        "debate": _command("start:debate", "Debate a question from three sides, and decide it"),
        "research": _command("start:research", "Answer a question in a document that cites its sources"),
        "write": _command("start:write", "Write a text within its limits; change no code"),
        "analyse": _command("start:analyse", "Describe what data shows, with numbers that are checked"),
        "curate": _command("start:curate", "Clean or convert data, and check the result"),
        "phase": _command("phase:phase", "Take an objective through ten phases, kept as files here"),
    },
    "Watch": {
        "logs": _command("logs:logs", "Print what happened in a task, or follow it"),
        "inspect": _command("inspect:inspect", "Show the steps of a task: context, reply and state"),
        "context": _command("context:context", "Show what the model sees in a step, and why"),
        "diff": _command("diff:diff", "Show what a task has changed"),
        "artifacts": _command("artifacts:artifacts", "List, show and export the documents of a task"),
        "trace": _command("trace:trace", "Show where the time of a task went"),
        "cost": _command("cost:cost", "Show what tasks have used and cost, by stage, model or day"),
        "metrics": _command("metrics:metrics", "Show how well your tasks go, over all repositories"),
        "dashboard": _command("dashboard:dashboard", "Serve a page to watch and answer all tasks (also: ui)"),
        "ui": _command("dashboard:dashboard"),
    },
    "Decide": {
        "inbox": _command("inbox:inbox", "Show and answer the open questions of all repositories"),
        "escalations": _command("escalations:escalations", "List and show the open questions"),
        "resolve": _command("resolve:resolve", "Answer a question and continue its task"),
        "approve": _command("decide:approve", "Approve what a task presents, and let it go on"),
        "feedback": _command("decide:feedback", "Ask for changes in what a task presents"),
        "reject": _command("decide:reject", "Reject what a task presents: it goes back one stage"),
        "continue": _command("resume:resume", "Continue a task that was stopped (also: resume)"),
        "resume": _command("resume:resume"),
        "abort": _command("abort:abort", "End a task and keep its work"),
        "discard": _command("discard:discard", "Remove a task with its branch, worktree and record"),
    },
    "Proof": {
        "verify": _command("verify:verify", "Check the proof of a task, offline"),
        "report": _command("report:report", "Print what a task proved, as Markdown for a pull request"),
        "audit": _command("audit:audit", "Write down who decided what in a task, and why"),
        "replay": _command("replay:replay", "Run a task again with its recorded replies"),
        "fork": _command("fork:fork", "Continue a copy of a task from one step, with a change"),
        "compare": _command("compare:compare", "Compare two tasks side by side"),
        "defect": _command("defect:defect", "Record a defect in what a task delivered"),
        "check": _command("check:check", "Check the code here: style, architecture, security, quality"),
        "violations": _command("violations:violations", "List what checks found, and decide what may stay"),
        "sources": _command("sources:sources", "Record pages that documents may cite, with their hash"),
    },
    "Settings": {
        "init": _command("init:init", "Detect how this project is built and tested; write it down"),
        "config": _command("config:config", "Show, find and edit your own settings"),
        "models": _command("models:models", "List and test models; explain which one would be used"),
        "auth": _command("auth:auth", "Store, remove and list your keys for model providers"),
        "permissions": _command(
            "permissions:permissions", "List, add and revoke what tasks may do; explain why"
        ),
        "keys": _command("keys:keys", "Create the key that signs your deliveries; trust others"),
        "repo": _command("repo:repo", "Name repositories, to use them from anywhere"),
        "pipelines": _command("pipelines:pipelines", "List, draw and check pipelines and their files"),
        "plugin": _command("plugin:plugin", "Use the ten-phase workflow in Claude Code"),
        "completion": _command(
            "completion:completion", "Print the script that completes commands in your shell"
        ),
    },
    "This machine": {
        "doctor": _command("doctor:doctor", "Check this machine and test the sandbox"),
        "clean": _command("clean:clean", "Remove old environments and checkouts that nobody needs"),
        "trees": _command("trees:trees", "List the directories that tasks work in, and remove old ones"),
        "sandbox": _command("sandbox:sandbox", "Run a command in the sandbox of agents' commands"),
        "redact": _command("redact:redact", "Copy text without its secrets"),
        "worker": _command("worker:worker", "Run tasks from a Temporal server"),
        "server": _command("server:server", "Run a Temporal server for this machine"),
    },
}
"""By heading, then by name. An entry without a line is another name of a command, and is not listed."""

COMMANDS = {name: entry for section in SECTIONS.values() for name, entry in section.items()}
