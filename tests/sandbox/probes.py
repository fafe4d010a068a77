"""The probes as a table: the wall that holds each, its name, and the line that tries it inside.

A line is an expression of `inside.py`. It got out if its value says so, or if something outside changed: its own
spare file there, or anything that bears its name. `weak`: Landlock without namespaces says that it cannot hold
it. `root`: without walls only root can do it, so that its control needs root.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Probe:
    """One way out."""

    wall: str
    name: str
    line: str
    weak: bool = False
    root: bool = False

    @property
    def beside_a_task(self) -> bool:
        """Whether it is about a repository or a home that a task has another one of."""
        return self.line.startswith(("git(", "put(HOME"))

    @property
    def full_name(self) -> str:
        """With the wall that holds it, as a word that can be a name of a file."""
        return f"{self.wall}.{self.name}".replace(" ", "-").replace(",", "")


def _of(wall: str, rows: dict[str, str], *, weak: bool = False, root: bool = False) -> tuple[Probe, ...]:
    return tuple(Probe(wall, name, line, weak, root) for name, line in rows.items())


def _forged(places: dict[str, str], line: str) -> dict[str, str]:
    return {name: line.format(place) for name, place in places.items()}


FILES = (
    *_of(
        "files",
        {
            "read": "look(FILE)",
            "append": "put(SPARE)",
            "make": "put(FOLDER + '/made')",
            "make_a_folder": "os.mkdir(FOLDER + '/' + NAME)",
            "truncate": "os.truncate(SPARE, 0)",
            "remove": "os.unlink(SPARE)",
            "take_away": "os.rename(SPARE, 'taken')",
            "replace": "own() and os.rename('own', SPARE)",
            "exchange": "own() and call('renameat2', -100, b'own', -100, SPARE.encode(), 2) >= 0",
            "hard_link": "os.link(SPARE, 'hard') or look('hard')",
            "hard_link_by_descriptor": "call('linkat', path_only(SPARE), b'', -100, b'hard', 0x1000) >= 0",
            "read_through_a_link": "os.symlink(FILE, 'link') or look('link')",
            "write_through_a_link": "os.symlink(SPARE, 'link') or put('link')",
            "make_through_a_linked_folder": "os.symlink(FOLDER, 'to') or put('to/by-link')",
            "race_of_links": "race_of_links()",
            "climb_from_a_moved_folder": "moved_directory()",
            "reopen_a_path": "look(f'/proc/self/fd/{path_only(FILE)}')",
            "open_with_the_newer_call": "call('openat2', -100, SPARE.encode(), bytes(24), 24) >= 0",
            "open_inside_a_working_directory_outside": "os.chdir(FOLDER) or look(os.path.basename(FILE))",
            "run_a_program": "os.execv(PROGRAM, ['x'])",
            "map": "mapped(FILE)",
            "lock": "fcntl.flock(os.open(SPARE, os.O_RDONLY), fcntl.LOCK_EX) is None",
            "root_of_the_driver": "look(f'/proc/{DRIVER}/root{FILE}')",
            "own_root": "look('/proc/self/root' + FILE)",
            "root_of_a_process": "look(f'/proc/{VICTIM}/root{FILE}')",
            "write_by_the_root_of_a_process": "put(f'/proc/{VICTIM}/root{SPARE}')",
            "root_of_a_thread": "look(f'/proc/{VICTIM}/task/{VICTIM}/root{FILE}')",
            "directory_of_a_process": "look(f'/proc/{VICTIM}/cwd' + '/..' * 20 + FILE)",
            "files_of_any_process": "open_files_of_other_processes()",
            "socket_file_made_outside": "bound(FOLDER + '/' + NAME)",
            "pipe_made_outside": "os.mkfifo(FOLDER + '/' + NAME)",
        },
    ),
    *_of("files", {"handle": "by_handle()"}, root=True),
    *_of(
        "file modes",
        {
            "mode": "os.chmod(SPARE, 0o777)",
            "mode_by_descriptor": "os.fchmod(os.open(SPARE, os.O_RDONLY), 0o777)",
            "mode_by_the_newer_call": "call('fchmodat2', -100, SPARE.encode(), 0o777, 0) and None",
            "times": "os.utime(SPARE, (1, 1))",
            "attribute": "os.setxattr(SPARE, 'user.forged', b'x')",
        },
        weak=True,
    ),
    *_of(
        "home",
        _forged(
            {
                "shell_start": ".bashrc",
                "login": ".profile",
                "keys_that_may_log_in": ".ssh/authorized_keys",
                "autostart": ".config/autostart/x.desktop",
                "packages_of_the_user": ".local/lib/python3/site-packages/x.pth",
                "settings_of_git": ".gitconfig",
                "own_settings": ".agentforge/config.yaml",
            },
            "put(HOME + '/{}')",
        ),
    ),
    *_of(
        "home",
        {
            name: f"put(HOME + '/{path}')"
            for name, path in {
                "start_of_zsh": ".zshenv",
                "start_of_fish": ".config/fish/config.fish",
                "start_of_sessions": ".config/environment.d/90-x.conf",
                "service_of_the_user": ".config/systemd/user/x.service",
                "timer_of_the_user": ".config/systemd/user/timers.target.wants/x.timer",
                "start_of_ssh": ".ssh/rc",
                "settings_of_ssh": ".ssh/config",
                "program_of_the_user": ".local/bin/git",
                "application": ".local/share/applications/x.desktop",
                "service_of_a_bus": ".local/share/dbus-1/services/x.service",
                "second_settings_of_git": ".config/git/config",
                "attributes_of_git": ".config/git/attributes",
                "template_of_git": ".git-templates/hooks/post-checkout",
                "settings_of_pip": ".config/pip/pip.conf",
                "settings_of_uv": ".config/uv/uv.toml",
                "settings_of_npm": ".npmrc",
                "settings_of_yarn": ".yarnrc.yml",
                "settings_of_cargo": ".cargo/config.toml",
                "programs_of_cargo": ".cargo/bin/cargo",
                "start_of_gradle": ".gradle/init.gradle",
                "settings_of_maven": ".m2/settings.xml",
                "settings_of_go": ".config/go/env",
                "settings_of_mise": ".config/mise/config.toml",
                "settings_of_direnv": ".config/direnv/direnvrc",
                "settings_of_docker": ".docker/config.json",
                "settings_of_an_agent": ".claude/settings.json",
                "servers_of_an_agent": ".cursor/mcp.json",
                "tasks_of_an_editor": ".config/Code/User/tasks.json",
                "start_of_vim": ".vimrc",
                "start_of_a_debugger": ".gdbinit",
                "start_of_python": ".pythonrc.py",
                "cache_of_uv": ".cache/uv/wheels-v5/x",
                "cache_of_pip": ".cache/pip/http-v2/x",
                "cache_of_npm": ".npm/_cacache/index-v5/x",
            }.items()
        },
    ),
    *_of("home", {"read_a_key": "look(HOME + '/.ssh/id')", "link_to_a_key": "link_to_a_key()"}),
    *_of(
        "private places",
        {
            "names_at_home": "os.lstat(HOME + '/.kept') and 'saw it'",
            "list_of_home": "'.kept' in os.listdir(HOME)",
            "watch_on_home": "watched(HOME, '.kept')",
            "names_in_var_tmp": "os.lstat(FOREIGN) and 'saw it'",
            "names_in_tmp": "os.lstat(IN_TMP) and 'saw it'",
            "names_in_shared_memory": "os.lstat('/dev/shm/' + POSIX) and 'saw it'",
        },
        weak=True,
    ),
    *_of(
        "sockets that are files",
        {
            "display": "reach(1, 1, HOME + '/X0')",
            "agent_for_keys": "reach(1, 1, HOME + '/.ssh/agent')",
            "service_of_containers": "reach(1, 1, HOME + '/docker.sock')",
            "log": "reach(1, 2, HOME + '/log')",
        },
        weak=True,
    ),
)

PLANTED = (
    *_of(
        "code that runs later",
        _forged(
            {
                "hook_before_commits": "hooks/pre-commit",
                "hook_after_checkouts": "hooks/post-checkout",
                "settings_of_the_repository": "config",
                "settings_of_the_worktree": "config.worktree",
                "attributes": "info/attributes",
                "alternates": "objects/info/alternates",
                "grafts": "info/grafts",
                "head": "HEAD",
                "hook_before_pushes": "hooks/pre-push",
                "hook_of_every_reference": "hooks/reference-transaction",
                "hook_after_merges": "hooks/post-merge",
                "what_is_ignored": "info/exclude",
                "what_is_checked_out": "info/sparse-checkout",
                "alternates_by_http": "objects/info/http-alternates",
                "packed_references": "packed-refs",
                "message_of_the_next_commit": "COMMIT_EDITMSG",
            },
            "forge(GIT + '/{}')",
        ),
    ),
    *_of(
        "code that runs later",
        {
            "moved_repository": "moved_and_back(GIT, GIT + '.old')",
            "moved_hooks": "moved_and_back(GIT + '/hooks', 'hooks')",
            "linked_hooks": "linked_instead(GIT + '/hooks')",
            "git_config_of_hooks": "git('config', 'core.hooksPath', 'evil')",
            "git_config_of_a_monitor": "git('config', 'core.fsmonitor', 'evil')",
            "locked_test": "forge(TESTS + '/test_it.py')",
            "settings_of_tests": "forge(TESTS + '/conftest.py')",
            "moved_tests": "moved_and_back(TESTS, TESTS + '.old')",
            "environment": "forge(PACKAGES + '/forged.pth')",
            "start_of_the_environment": "forge(PACKAGES + '/sitecustomize.py')",
        },
    ),
    *_of(
        "code that runs later",
        {
            "system_program": "forge('/usr/bin/agentforge-forged')",
            "system_library": "forge('/usr/lib/agentforge-forged.so')",
            "standard_library": "planted(os.path.dirname(os.__file__), 'agentforge_forged.py')",
            "start_of_the_interpreter": "planted(site.getsitepackages()[0], 'agentforge_forged.pth')",
            "profile_of_the_system": "planted('/etc/profile.d', 'agentforge-forged.sh')",
            "clockwork": "planted('/etc/cron.d', 'agentforge-forged')",
        },
        root=True,
    ),
)

LENT = (
    *_of(
        "no lent rights",
        {
            "chmod_a_name": "lent(lambda mode: os.chmod('own', mode))",
            "chmod_a_descriptor": "lent(lambda mode: os.fchmod(os.open('own', os.O_RDONLY), mode))",
            "chmod_beside_a_folder": "lent(lambda mode: os.chmod('own', mode, dir_fd=os.open('.', os.O_DIRECTORY)))",
            "chmod_by_the_newer_call": "lent(lambda mode: call('fchmodat2', -100, b'own', mode, 0))",
            "chmod_with_a_long_word": "lent(lambda mode: call('fchmodat', -100, b'own', 0xFFFFFFFF << 32 | mode))",
            "chmod_by_a_program": "lent(lambda mode: program('chmod', f'{mode:o}', 'own'))",
            "made_by_open": "lent(lambda mode: call('openat', -100, b'made', os.O_CREAT | os.O_RDWR, mode))",
            "made_by_the_oldest_open": "lent(lambda mode: call('open', b'made', os.O_CREAT | os.O_RDWR, mode))",
            "made_by_creat": "lent(lambda mode: call('creat', b'made', mode))",
            "made_by_the_newer_open": "lent(by_openat2)",
            "made_without_a_name": "lent(by_temporary_file)",
            "made_as_a_node": "lent(lambda mode: os.mknod('made', stat.S_IFREG | mode))",
            "made_as_a_plain_node": "lent(lambda mode: os.mknod('made', mode))",
            "made_as_a_pipe": "lent(lambda mode: os.mknod('made', stat.S_IFIFO | mode))",
            "installed": "lent(lambda mode: program('install', '-m', f'{mode:o}', 'own', 'made'))",
            "unpacked": "lent(unpacked)",
            "linked": "lent(lambda _: os.link(FOLDER + '/lender', 'made'))",
            "copied": "lent(lambda _: program('cp', '-p', FOLDER + '/lender', 'made'))",
            "copied_from_the_system": "lent(lambda _: program('cp', '-p', '/usr/bin/su', 'made'))",
            "in_a_folder": "lent(lambda mode: call('mkdirat', -100, b'made', mode) or os.chmod('made', mode))",
        },
    ),
    *_of(
        "no lent rights",
        {
            "capability_in_an_attribute": "own() and gives_capability(2)",
            "capability_of_a_namespace": "own() and gives_capability(3)",
        },
        root=True,
    ),
    *_of(
        "no devices",
        {
            "null": "os.mknod('made', 0o020666, os.makedev(1, 3)) or lends('made')",
            "memory": "os.mknod('made', 0o020666, os.makedev(1, 1)) or lends('made')",
            "disk": "os.mknod('made', 0o060666, os.makedev(8, 0)) or lends('made')",
            "loop": "os.mknod('made', 0o060666, os.makedev(7, 0)) or lends('made')",
            "unpacked_device": "unpacked(0o644) or lends('device')",
            "left_by_a_rename": "own() and call('renameat2', -100, b'own', -100, b'new', 4) and 0 or lends('own')",
            "memory_of_the_machine": "opens('/dev/mem')",
            "messages_of_the_kernel": "opens('/dev/kmsg')",
            "console": "opens('/dev/console')",
            "file_systems_of_users": "opens('/dev/fuse')",
            "loops": "opens('/dev/loop-control')",
            "tunnel": "opens('/dev/net/tun')",
            "first_terminal": "opens('/dev/tty0')",
            "first_disk": "opens(DISK)",
            "virtual_machines": "opens('/dev/kvm')",
            "page_faults": "opens('/dev/userfaultfd')",
            "host_of_the_machine": "opens('/dev/vsock')",
            "processor_registers": "opens('/dev/cpu/0/msr')",
        },
        root=True,
    ),
)

KERNEL = (
    *_of(
        "kernel files",
        _forged(
            {
                "program_for_cores": "/proc/sys/kernel/core_pattern",
                "magic_keys": "/proc/sysrq-trigger",
                "helper_for_events": "/sys/kernel/uevent_helper",
                "program_for_modules": "/proc/sys/kernel/modprobe",
                "name_of_the_machine": "/proc/sys/kernel/hostname",
                "caches": "/proc/sys/vm/drop_caches",
                "overcommit": "/proc/sys/vm/overcommit_memory",
                "addresses": "/proc/sys/kernel/randomize_va_space",
                "most_files": "/proc/sys/fs/file-max",
                "links_of_others": "/proc/sys/fs/protected_symlinks",
                "formats_of_programs": "/proc/sys/fs/binfmt_misc/register",
                "agent_of_groups": "/sys/fs/cgroup/memory/release_agent",
                "processes_of_groups": "/sys/fs/cgroup/unified/cgroup.procs",
                "sleep": "/sys/power/state",
                "interrupts": "/proc/irq/default_smp_affinity",
            },
            "opens('{}', os.O_WRONLY)",
        ),
        root=True,
    ),
    *_of(
        "kernel files",
        {
            "memory_of_the_kernel": "opens('/proc/kcore', os.O_RDONLY)",
            "log_of_the_kernel": "opens('/proc/kmsg', os.O_RDONLY | os.O_NONBLOCK)",
            "group_made": "made_and_removed('/sys/fs/cgroup/unified/' + NAME)",
            "less_likely_to_be_killed": "lowered_score()",
        },
        root=True,
    ),
    *_of(
        "mounts",
        {
            "private": "mounts(b'none', b'/', None, 1 << 18 | 16384)",
            "remount_of_all": "mounts(b'none', b'/', None, 32 | 4096)",
            "remount_of_programs": "mounts(b'/usr', b'/usr', None, 4096) or mounts(b'none', b'/usr', None, 32 | 4096)",
            "bind": "mounts(FOLDER.encode(), b'm', None, 4096)",
            "proc": "mounts(b'none', b'm', b'proc', 0)",
            "tmpfs": "mounts(b'none', b'm', b'tmpfs', 0)",
            "overlay": "mounts(b'none', b'm', b'overlay', 0)",
            "sysfs": "mounts(b'none', b'm', b'sysfs', 0)",
            "cgroup2": "mounts(b'none', b'm', b'cgroup2', 0)",
            "by_a_program": "os.mkdir('p') or program('mount', '-t', 'tmpfs', 'none', 'p')",
            "umount": "passes('umount2', b'/nowhere', 2)",
            "chroot": "passes('chroot', b'.')",
            "pivot_root": "passes('pivot_root', b'.', b'.')",
            "open_tree": "passes('open_tree', -100, b'/', 1)",
            "move_mount": "passes('move_mount', -1, b'', -1, b'', 4)",
            "fsopen": "passes('fsopen', b'tmpfs', 0)",
            "fspick": "passes('fspick', -100, b'/', 0)",
            "fsmount": "passes('fsmount', -1, 0, 0)",
            "fsconfig": "passes('fsconfig', -1, 0, 0, 0, 0)",
            "mount_setattr": "passes('mount_setattr', -100, b'/', 0, bytes(32), 32)",
            "open_tree_attr": "passes('open_tree_attr', -100, b'/', 1, 0, 0)",
        },
        root=True,
    ),
    *_of(
        "namespaces",
        {
            **{
                f"unshare_{name}": f"LIBC.unshare(ctypes.c_int({flag:#x})) == 0"
                for name, flag in {
                    "mounts": 0x00020000,
                    "groups": 0x02000000,
                    "names": 0x04000000,
                    "ipc": 0x08000000,
                    "users": 0x10000000,
                    "processes": 0x20000000,
                    "network": 0x40000000,
                    "time": 0x80,
                }.items()
            },
            **{
                f"enter_{kind}": f"passes('setns', os.open(f'/proc/{{DRIVER}}/ns/{kind}', os.O_RDONLY), 0)"
                for kind in ("user", "mnt", "net", "pid", "ipc", "uts", "cgroup")
            },
            "clone_users": "cloned(0x10000000)",
            "clone_mounts": "cloned(0x00020000)",
            "clone_network": "cloned(0x40000000)",
            "clone_by_the_newer_call": "passes('clone3', bytes(88), 8)",
            "by_a_program": "program('unshare', '-Urm', 'true')",
        },
        root=True,
    ),
)

PROCESSES = (
    *_of(
        "processes",
        {
            "trace": "passes('ptrace', 16, VICTIM, 0, 0)",
            "seize": "passes('ptrace', 0x4206, VICTIM, 0, 0)",
            "trace_the_parent": "passes('ptrace', 0x4206, os.getppid(), 0, 0)",
            "variables": "look(f'/proc/{VICTIM}/environ')",
            "variables_of_all": "any(list(look(f'/proc/{pid}/environ')) for pid in processes())",
            "inherited_variables": "SECRET in str(os.environ) or 'AGENTFORGE_PROBED' in os.environ",
            "open_memory": "opens(f'/proc/{VICTIM}/mem')",
            "read_memory": "vm('process_vm_readv')",
            "write_memory": "vm('process_vm_writev')",
            "map_of_memory": "opens(f'/proc/{VICTIM}/maps', os.O_RDONLY) and open(f'/proc/{VICTIM}/maps').read()",
            "mapped_files": "bool(os.listdir(f'/proc/{VICTIM}/map_files'))",
            "start_values": "open(f'/proc/{VICTIM}/auxv', 'rb').read()",
            "stack": "open(f'/proc/{VICTIM}/syscall').read()",
            "descriptor_taken": "passes('pidfd_getfd', os.pidfd_open(VICTIM), 0, 0)",
            "descriptor_of_the_parent": "passes('pidfd_getfd', os.pidfd_open(os.getppid()), 0, 0)",
            "compare": "passes('kcmp', os.getpid(), VICTIM, 1, 0, 0)",
            "advise": "passes('process_madvise', os.pidfd_open(VICTIM), region(), 1, 21, 0)",
            "signal": "os.kill(VICTIM, 0) is None",
            "wake": "os.kill(VICTIM, signal.SIGCONT) is None",
            "signal_to_a_thread": "call('tgkill', VICTIM, VICTIM, 18) >= 0",
            "signal_by_descriptor": "signal.pidfd_send_signal(os.pidfd_open(VICTIM), 18) is None",
            "signal_to_a_group": "os.killpg(VICTIM, 18) is None",
            "signal_with_a_word": "call('rt_sigqueueinfo', VICTIM, 18, queued()) >= 0",
            "signal_by_input": "signalled_by_input()",
            "signal_to_the_driver": "os.kill(DRIVER, 0) is None",
            "limit": "resource.prlimit(VICTIM, resource.RLIMIT_CORE, (0, 0)) is not None",
            "niceness": "call('setpriority', 0, VICTIM, 19) >= 0",
            "niceness_of_all": "as_nobody() or passes('setpriority', 2, 0, 5)",
            "processors": "os.sched_setaffinity(VICTIM, {0}) is None",
            "schedule": "call('sched_setscheduler', VICTIM, 0, bytes(8)) >= 0",
            "schedule_by_the_newer_call": "call('sched_setattr', VICTIM, struct.pack('=IIQiIQQQ', 48, *[0] * 7), 0) >= 0",
            "order_of_input": "call('ioprio_set', 1, VICTIM, 3 << 13) >= 0",
            "order_of_input_of_all": "as_nobody() or passes('ioprio_set', 3, os.getuid(), 2 << 13 | 4)",
            "pages_moved": "call('move_pages', VICTIM, 0, 0, 0, 0, 0) >= 0",
            "likely_to_be_killed": "opens(f'/proc/{VICTIM}/oom_score_adj', os.O_WRONLY)",
            "filter_of_cores": "opens(f'/proc/{VICTIM}/coredump_filter', os.O_WRONLY)",
            "group_by_itself": "opens(f'/proc/{VICTIM}/autogroup', os.O_WRONLY)",
            "name_of_a_process": "opens(f'/proc/{VICTIM}/comm', os.O_WRONLY)",
            "slack": "opens(f'/proc/{VICTIM}/timerslack_ns', os.O_WRONLY)",
            "references_cleared": "opens(f'/proc/{VICTIM}/clear_refs', os.O_WRONLY)",
        },
    ),
    *_of(
        "processes",
        {
            "command_line": "look(f'/proc/{VICTIM}/cmdline')",
            "numbers_of_descriptors": "bool(os.listdir(f'/proc/{VICTIM}/fd'))",
        },
        weak=True,
    ),
    *_of(
        "descriptors, lock",
        {
            "inherited_file": "inherited()",
            "lock_of_the_task": "lock_of_the_task()",
        },
    ),
    *_of(
        "shared memory",
        {
            "segment": "LIBC.shmget(KEY, 0, 0) >= 0",
            "semaphores": "LIBC.semget(KEY, 0, 0) >= 0",
            "queue": "LIBC.msgget(KEY, 0) >= 0",
            "file": "look('/dev/shm/' + POSIX)",
            "file_written": "put('/dev/shm/' + POSIX)",
            "queue_with_a_name": "call('mq_open', POSIX.encode(), 0, 0, 0) >= 0",
        },
    ),
    *_of(
        "keys",
        {
            "ring_of_the_session": "passes('keyctl', 0, -3, 0)",
            "ring_of_the_user": "passes('keyctl', 0, -4, 0)",
            "ring_of_a_user_session": "passes('keyctl', 0, -5, 0)",
            "new_session": "passes('keyctl', 1, 0)",
            "added": "passes('add_key', b'user', NAME.encode(), b'x', 1, -2)",
            "requested": "passes('request_key', b'user', b'x', 0, 0)",
        },
    ),
    *_of(
        "terminal",
        {
            "typed": "terminals(0x5412, b'x')",
            "opened": "opens(TERMINAL)",
            "written": "put(TERMINAL) or opens(TERMINAL, os.O_WRONLY)",
        },
    ),
    *_of("terminal", {"selection": "terminals(0x541C, b'\\x06')"}, root=True),
)

CALLS = (
    *_of(
        "system calls",
        {
            "io_uring_setup": "passes('io_uring_setup', 4, bytes(120))",
            "io_uring_enter": "passes('io_uring_enter', -1, 0, 0, 0, 0)",
            "io_uring_register": "passes('io_uring_register', -1, 0, 0, 0)",
            "userfaultfd": "passes('userfaultfd', 1)",
            "perf_event_open": "passes('perf_event_open', bytes(128), 0, -1, -1, 0)",
            "personality": "passes('personality', 0x0040000)",
            "modify_ldt": "passes('modify_ldt', 0, bytes(16), 16)",
            "adjtimex": "passes('adjtimex', bytes(208))",
            "clock_adjtime": "passes('clock_adjtime', 0, bytes(208))",
            "x32_number": "X86 and call(0x40000000 | 39) >= -1000",
            "32_bit_door": "through_the_32_bit_door()",
        },
    ),
    *_of(
        "system calls",
        {
            "bpf": "passes('bpf', 0, bytes(72), 72)",
            "fanotify_init": "passes('fanotify_init', 0, 0)",
            "open_by_handle_at": "passes('open_by_handle_at', -100, bytes(8), 0)",
            "quotactl": "passes('quotactl', 0xFFFF, 0, 0, 0)",
            "quotactl_fd": "passes('quotactl_fd', -1, 0, 0, 0)",
            "kexec_load": "passes('kexec_load', 0, 99, 0, 0)",
            "kexec_file_load": "passes('kexec_file_load', -1, -1, 0, 0, 0xFFFF)",
            "init_module": "passes('init_module', 0, 0, 0)",
            "finit_module": "passes('finit_module', -1, b'', 0xFFFF)",
            "delete_module": "passes('delete_module', b'agentforge-none', 0)",
            "reboot": "passes('reboot', 0, 0, 0, 0)",
            "swapon": "passes('swapon', b'/nowhere', 0)",
            "swapoff": "passes('swapoff', b'/nowhere')",
            "acct": "passes('acct', b'/nowhere')",
            "syslog": "passes('syslog', 3, bytes(16), 16)",
            "sethostname": "passes('sethostname', 0, -1)",
            "setdomainname": "passes('setdomainname', 0, -1)",
            "settimeofday": "passes('settimeofday', 0, 0)",
            "clock_settime": "passes('clock_settime', 0, 0)",
            "iopl": "passes('iopl', 3)",
            "ioperm": "passes('ioperm', 0, 1, 1)",
        },
        root=True,
    ),
    *_of("capabilities", {"privileges_to_be_gained": "'NoNewPrivs:\\t0' in status()"}),
    *_of(
        "capabilities",
        {
            "effective": "'CapEff:\\t0000000000000000' not in status()",
            "permitted": "'CapPrm:\\t0000000000000000' not in status()",
            "bounding": "gains_by_set_id()",
            "became_another_user": "os.getuid() == 12345 or not os.setuid(12345)",
            "became_another_group": "not os.setgid(12345)",
            "other_groups": "not os.setgroups([0, 4])",
            "negative_niceness": "os.nice(-5) < 0",
            "real_time": "os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)) is None",
            "raw_memory_lock": "resource.setrlimit(resource.RLIMIT_MEMLOCK, (-1, -1)) is None",
        },
        root=True,
    ),
    *_of(
        "limits",
        {
            name: f"raised(resource.RLIMIT_{kind})"
            for name, kind in {
                "memory": "DATA",
                "file_size": "FSIZE",
                "open_files": "NOFILE",
                "processor_time": "CPU",
                "cores": "CORE",
            }.items()
        },
        root=True,
    ),
)

NETWORK = (
    *_of(
        "network",
        {
            name: f"reach(*SERVERS['{name}'])"
            for name in ("tcp4", "tcp6", "udp4", "udp6", "abstract", "abstract_datagram")
        },
    ),
    *_of(
        "network",
        {
            "many_paths": "reach(2, 1, SERVERS['tcp4'][2], 262)",
            "without_connecting": "fast_open(SERVERS['tcp4'][2])",
            "any_address": "reach(2, 1, ('0.0.0.0', SERVERS['tcp4'][2][1]))",
            "mapped_address": "reach(10, 1, ('::ffff:127.0.0.1', SERVERS['tcp4'][2][1]))",
            "own_name": "reach(2, 1, (socket.gethostname(), SERVERS['tcp4'][2][1]))",
            "world": "leaves(2, ('192.0.2.1', 80))",
            "world_by_datagram": "leaves(2, ('192.0.2.1', 53), 2)",
            "keys_of_the_cloud": "leaves(2, ('169.254.169.254', 80))",
            "world_of_ipv6": "leaves(10, ('2001:db8::1', 80))",
            "host_of_the_machine": "reach(40, 1, (1, SERVERS['vsock'][2][1]))",
        },
    ),
    *_of(
        "network",
        {
            f"family_{name}": f"made_socket({family}, {kind})"
            for name, family, kind in (
                ("packet", 17, 3),
                ("crypto", 38, 5),
                ("vsock", 40, 1),
                ("tipc", 30, 5),
                ("can", 29, 3),
                ("bluetooth", 31, 3),
                ("xdp", 44, 3),
                ("smc", 43, 1),
                ("rds", 21, 5),
                ("keys", 15, 3),
                ("x25", 9, 5),
                ("llc", 26, 1),
                ("ppp", 24, 1),
            )
        },
        root=True,
    ),
    *_of(
        "network",
        {
            "raw": "made_socket(2, 3, 1)",
            "raw_of_ipv6": "made_socket(10, 3, 58)",
            "raw_any": "made_socket(2, 3, 255)",
        },
        root=True,
    ),
)

PROBES: tuple[Probe, ...] = (*FILES, *PLANTED, *LENT, *KERNEL, *PROCESSES, *CALLS, *NETWORK)
