"""`worker`: this machine works on tasks that a Temporal server hands out."""

import click


@click.command(
    epilog="""\b
Examples:
  agentforge worker
  agentforge worker --queue night --max-concurrent 8

Address, namespace, TLS and key come from `temporal:` in your config.yaml, or TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and
TEMPORAL_API_KEY. Models are asked with the keys of this worker. Ctrl-C lets what runs finish for some seconds, then ends
it; what was not recorded is done again. A worker that starts again on this machine goes on with the tasks of one that died."""
)
@click.option("--queue", metavar="NAME", help="The queue to take tasks from; `agentforge` if nothing else is configured.")
@click.option("--max-concurrent", metavar="N", type=click.IntRange(min=1), default=16, show_default=True, help="Effects at once.")
def worker(*, queue: str | None, max_concurrent: int) -> int:
    """Work on tasks of the Temporal engine until stopped."""
    from agentforge.surfaces.cli.remote import need_temporal

    need_temporal()
    import asyncio

    asyncio.run(_work(queue, max_concurrent))
    return 0


async def _work(queue: str | None, at_once: int) -> None:
    import asyncio
    import signal
    from dataclasses import replace

    from agentforge import __version__
    from agentforge.engines.temporal.worker import Place, serve
    from agentforge.hosting import HostedTasks
    from agentforge.settings import read_temporal
    from agentforge.store.site import home_path

    config = read_temporal()
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)

    def say(sentence: str) -> None:
        click.echo(f"worker: {sentence}")

    place = Place(home_path(), __version__, at_once)
    await serve(replace(config, queue=queue) if queue else config, HostedTasks(), place, stop, say)
