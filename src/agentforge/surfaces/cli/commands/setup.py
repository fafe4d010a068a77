"""`setup`: finds keys, model servers and agents, asks for what is missing, tries one call and writes the
choice into the user's settings.
"""

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

from agentforge.surfaces.cli.flags import at_terminal
from agentforge.surfaces.cli.printing import json_option, say

if TYPE_CHECKING:
    from agentforge.app.models.trial import ModelTrial
    from agentforge.app.setup.setting_up import FoundProvider, Inventory

_SHOWN = 12
_KEY_TRIES = 3


@click.command(
    epilog="""\b
Examples:
  agentforge setup
  agentforge setup --yes
  agentforge setup --provider anthropic
  agentforge setup --model ollama:qwen2.5-coder:7b
  agentforge setup --model openai:NAME --no-test --json

It looks at keys in the environment, at those that `agentforge auth login PROVIDER` has stored, at model
servers on this machine and at other agents. A key that you type goes to the keychain if there is one, never
to the settings. Your other settings and comments stay; run it as often as you like.

A key in the environment is enough without this command. The order is ANTHROPIC_API_KEY, OPENAI_API_KEY,
MISTRAL_API_KEY, GOOGLE_API_KEY, then stored keys, each with the usual model of its provider."""
)
@click.option("--provider", metavar="NAME", help="The provider, such as anthropic, openai or ollama.")
@click.option("--model", metavar="SPEC", help="The model: PROVIDER:NAME, or NAME with --provider.")
@click.option("--yes", is_flag=True, help="Take the first provider found, and its usual model; ask nothing.")
@click.option("--no-test", is_flag=True, help="Do not send the one small call that tries the model.")
@json_option
def setup(*, provider: str | None, model: str | None, yes: bool, no_test: bool, as_data: bool) -> int:
    """Choose a model, try it and write it into your settings."""
    from agentforge.app.setup import setting_up
    from agentforge.core.errors import UsageError
    from agentforge.surfaces.cli.printing import print_json

    asks = at_terminal() and not yes and not as_data
    if not (asks or yes or provider or model):
        raise UsageError(
            "There is no terminal to ask on.",
            "Run `agentforge setup --yes` to take what is found, or name it with `--model PROVIDER:NAME`.",
        )
    visit = _Visit(asks=asks, quiet=as_data)
    around = setting_up.look_around()
    visit.tell(_found_lines(around))
    found = visit.provider(around, setting_up.spec_of(provider, model) if model else "", provider)
    spec = visit.model(found, model, around.usual_of(found))
    trial = None if no_test else visit.try_out(spec)
    if trial is not None and not trial.ok and not visit.writes_all_the_same():
        say(f"{around.path} was not changed.", err=True)
        return 2 if trial.trouble in ("auth", "no_model") else 1
    place = visit.keep_key(found)
    written = setting_up.keep_model(spec)
    costs = setting_up.lane_costs(spec, visit.environ)
    if as_data:
        print_json(
            {
                "path": str(around.path),
                "model": spec,
                "written": written,
                "key_source": found.key,
                "providers": [_fields(each) for each in around.providers],
                "agents": list(around.agents),
                "test": _trial_fields(trial),
                "typical_cost": {
                    lane: {
                        "calls": each.middle.calls,
                        "tokens": each.middle.tokens,
                        "micro_usd": each.middle.micro_usd,
                        "most_micro_usd": each.most.micro_usd,
                    }
                    for lane, each in costs.items()
                },
            }
        )
        return 0
    from agentforge.surfaces.cli.pages.models import lane_table

    visit.tell(["", f"A typical task with {spec}:", lane_table(costs), ""])
    if place:
        say(f"The key for {found.name} is in {place}.")
    say(f"Written: {around.path}." if written else f"{around.path} names it already; nothing was changed.")
    if (named := os.environ.get("AGENTFORGE_MODEL")) and named != spec:
        say(f"AGENTFORGE_MODEL is set to {named}, and takes precedence.")
    say('Next: agentforge start "what you want"')
    return 0


@dataclass(slots=True)
class _Visit:
    """One run of the command: whether somebody can be asked, and the key that they typed."""

    asks: bool
    quiet: bool
    environ: dict[str, str] = field(default_factory=lambda: dict(os.environ))
    typed: str = field(default="", repr=False)

    def tell(self, lines: list[str]) -> None:
        """Lines for a person; none where JSON was asked for."""
        for line in () if self.quiet else lines:
            say(line)

    def provider(self, around: "Inventory", spec: str, name: str | None) -> "FoundProvider":
        """The provider that was named, else the one that is chosen, with a key that it takes."""
        from agentforge.app.setup.setting_up import look_at
        from agentforge.core.errors import UsageError

        chosen = name or spec.partition(":")[0]
        known = {found.name: found for found in around.providers}
        if not chosen and self.asks:
            default = around.likeliest or "anthropic"
            chosen = str(click.prompt("Provider", default=default, err=True)).strip()
        if not chosen and not around.likeliest:
            raise UsageError(
                "There is no key in the environment, no stored one, and no model server on this machine.",
                "Set ANTHROPIC_API_KEY or another provider's, or run `agentforge setup` at a terminal.",
            )
        chosen = chosen or around.likeliest
        return self._with_key(known.get(chosen) or look_at(chosen))

    def _with_key(self, found: "FoundProvider") -> "FoundProvider":
        from agentforge.app.setup.setting_up import look_at
        from agentforge.core.errors import UsageError

        for attempt in range(_KEY_TRIES + 1):
            probe = found.probe
            if probe.state == "not_installed":
                raise UsageError(f"{found.name}: {probe.detail}.", probe.next_step)
            refused = probe.state == "wrong_key"
            detail = probe.detail if found.key else f"{found.provider.host} asks for a key"
            if probe.state != "no_key" and not refused:
                if not probe.ok:
                    self.tell(
                        [f"{found.name} could not be checked: {probe.detail}. {probe.next_step}".rstrip()]
                    )
                return found
            variable = found.provider.key_env
            fixed = found.key == "environment" and not self.typed
            if not self.asks or fixed or attempt == _KEY_TRIES:
                where = f" It is from {variable}." if refused and fixed else ""
                raise UsageError(f"{found.name}: {detail}.{where}", probe.next_step)
            if refused:
                say(f"{detail}.", err=True)
            self.typed = str(
                click.prompt(f"Key for {found.name} (not shown)", hide_input=True, err=True)
            ).strip()
            self.environ[str(variable)] = self.typed
            found = look_at(found.name, self.environ)
        raise AssertionError("the last turn returns or raises")

    def model(self, found: "FoundProvider", given: str | None, usual: str) -> str:
        """`PROVIDER:NAME`, a name that the provider has as far as it says."""
        from agentforge.app.setup.setting_up import check_name, spec_of
        from agentforge.core.errors import UsageError

        models = found.models
        if given or not self.asks:
            name = spec_of(found.name, given or usual).partition(":")[2]
            if not name:
                raise UsageError(f"{found.name} lists no model.", f"Name one: `--model {found.name}:NAME`.")
            check_name(found, name, self.environ)
            return f"{found.name}:{name}"
        self.tell(_model_lines(found, models))
        while True:
            said = str(click.prompt("Model, by number or name", default=usual or None, err=True)).strip()
            name = models[int(said) - 1] if said.isdecimal() and 0 < int(said) <= len(models) else said
            try:
                check_name(found, name.removeprefix(f"{found.name}:"), self.environ)
            except UsageError as error:
                say(f"{error.sentence} {error.next_step}", err=True)
                continue
            return spec_of(found.name, name)

    def try_out(self, spec: str) -> "ModelTrial":
        """The one call, and its line on the screen."""
        from agentforge.app.setup.setting_up import try_one_call
        from agentforge.surfaces.cli.pages.models import trial_line

        self.tell([f"Trying {spec} with one small call …"])
        trial = try_one_call(spec, self.environ, lambda sentence: say(sentence, err=True))
        say(trial_line(trial), err=self.quiet)
        return trial

    def writes_all_the_same(self) -> bool:
        """Whether a person wants a model written that did not answer."""
        return self.asks and click.confirm("Write it into your settings anyway?", default=False, err=True)

    def keep_key(self, found: "FoundProvider") -> str:
        """Stores the key that was typed, and says where."""
        from agentforge.app.models.keys import keep_key

        return keep_key(found.provider, self.typed) if self.typed else ""


def _found_lines(around: "Inventory") -> list[str]:
    lines = [f"  {each.name:<12}{_key_words(each)}{each.probe.detail}" for each in around.providers]
    lines = ["Found:", *lines] if lines else ["No key and no model server was found."]
    if around.agents:
        lines.append(
            f"Also installed: {', '.join(around.agents)}. Their logins are their own; AgentForge needs a key "
            "or a model server."
        )
    if around.model:
        lines.append(f"Your settings name {around.model}.")
    return lines


def _key_words(found: "FoundProvider") -> str:
    if found.key is None:
        return ""
    return f"key from {found.provider.key_env if found.key == 'environment' else f'your {found.key}'}; "


def _model_lines(found: "FoundProvider", models: tuple[str, ...]) -> list[str]:
    if not models:
        return [f"{found.name} lists no models."]
    source = "its own list" if found.is_listed else "the bundled price list"
    lines = [f"Models of {found.name}, from {source}:"]
    lines += [f"  {at:>3}  {name}" for at, name in enumerate(models[:_SHOWN], 1)]
    return [*lines, f"       and {len(models) - _SHOWN} more"] if len(models) > _SHOWN else lines


def _fields(found: "FoundProvider") -> dict[str, object]:
    return {
        "provider": found.name,
        "server": found.provider.host,
        "key_source": found.key,
        "state": found.probe.state,
        "models": list(found.models),
    }


def _trial_fields(trial: "ModelTrial | None") -> dict[str, object] | None:
    from dataclasses import asdict

    return asdict(trial) if trial is not None else None
