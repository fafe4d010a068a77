"""What a provider's wire needs takes a second to load: beside other work, and whole for every thread."""

import subprocess
import sys

import pytest

MEETING = """
import concurrent.futures.thread, logging  # as in every driver: they must not be new while a process is forked
import subprocess, sys, threading, time
from agentforge.models import provider_model
from agentforge.models.known.local import LocalModels
from agentforge.models.known.providers import known
from agentforge.models.known.tiers import read_tiers
from agentforge.models.provider_model import load_library
from agentforge.models.router import Parts, Router
from agentforge.models.wrap.stack import Stack

providers = known({})
parts = Parts(lambda spec: None, providers, LocalModels(print), Stack(), lambda *_: None)
tiers = read_tiers({"tiers": {"generation": ["openai:a", "anthropic:b"]}}, {}, model=None, providers=providers)
router = Router(tiers, parts)
with provider_model._loading:  # whoever loads waits here; whoever loads beside does not
    router.load_beside()
troubles = []

def use(name):
    try:
        load_library(providers[name])
    except BaseException as error:
        troubles.append(f"{name}: {error!r}")

users = [threading.Thread(target=use, args=(name,)) for name in ("openai", "mistral", "openai")]
for user in users:
    user.start()
while any(user.is_alive() for user in users):
    subprocess.run(["true"], check=True, preexec_fn=lambda: None)
    time.sleep(0.05)
print("openai" in sys.modules, "anthropic" in sys.modules, *troubles)
"""


@pytest.mark.slow
def test_libraries_load_beside_other_work_whole_for_every_thread_that_meets_them_and_only_the_first_choice() -> (
    None
):
    done = subprocess.run(
        [sys.executable, "-c", MEETING], capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.stdout, done.stderr, done.returncode) == ("True False\n", "", 0)
