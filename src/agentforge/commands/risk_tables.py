"""What is known about programs, as data: how much harm each can do, by its name, its verb and its flags.

A name that is in no table is unknown, and unknown is medium. Every table is a hint for asking: the walls are
the operating system's.
"""

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

Risk = Literal["low", "medium", "high", "critical"]


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


TALKERS = _names("echo printf : true false")
"""Programs whose words are not files."""

LOW = TALKERS | _names(
    """
    ls dir cat head tail wc grep egrep fgrep zgrep rg ag pwd test [ [[ stat file du df date basename
    dirname realpath readlink sort
    uniq cut
    tr diff cmp comm nl tac rev fold column expand unexpand paste join which type whoami id groups uname
    hostname nproc free uptime ps
    pgrep
    tree less more md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum strings od
    hexdump xxd jq yq seq sleep locale
    tty
    cal arch getconf cd pushd popd dirs exit return break continue shift wait for case find fd fdfind bat
    eza exa cloc tokei scc zcat
    bzcat
    xzcat look tsort factor expr command builtin time man apropos whatis help hash jobs fmt pr pygmentize
    ctags lscpu lsblk
    nohup setsid nice ionice stdbuf timeout
    """
)
MEDIUM = _names(
    """
    make gmake cmake ninja meson tox nox pytest py.test unittest ruff black isort flake8 pylint mypy
    pyright eslint prettier tsc jest
    vitest
    mocha ava mvn mvnw gradle gradlew ant gcc g++ cc c++ clang clang++ ld ar rustc javac java kotlinc
    scalac ghc stack rustfmt gofmt
    clang-format clang-tidy bazel buck sbt lein rake rspec phpunit coverage mkdir touch cp mv ln install
    tee tar zip
    unzip gzip
    gunzip bzip2 xz zstd 7z patch sed awk gawk mawk nawk split csplit mktemp rmdir read set unset export
    declare typeset local readonly
    shopt umask ulimit alias unalias env printenv pre-commit bandit semgrep sphinx-build mkdocs doctest
    pdoc dot protoc
    vi vim nano ed ex emacs objdump nm readelf strip hyperfine perf sqlite3 history fc let getopts mapfile
    readarray
    xargs parallel watch strace ltrace exec entr busybox toybox faketime xvfb-run flock script
    """
)
HIGH: Mapping[str, str] = {
    **dict.fromkeys(_names("unlink shred truncate srm wipe trash"), "deletes or empties files"),
    **dict.fromkeys(_names("chmod chown chgrp setfacl chattr chcon setfattr"), "changes permissions"),
    **dict.fromkeys(
        _names(
            """curl wget nc ncat netcat socat telnet ftp sftp scp ssh rsync ping traceroute dig nslookup
            host whois nmap tcpdump aria2c
            http https
            httpie lynx w3m links mosh autossh sshfs smbclient rclone s3cmd gsutil openssl mail sendmail
            mutt msmtp lftp tftp finger
            websocat grpcurl ngrok cloudflared iperf iperf3 mitmproxy yt-dlp gh glab hub svn hg proxychains
            torsocks ssh-copy-id"""
        ),
        "uses the network",
    ),
    **dict.fromkeys(
        _names(
            """apt apt-get aptitude dpkg rpm yum dnf zypper pacman apk brew port snap flatpak emerge nix
            nix-env nix-shell conda mamba
            micromamba npx uvx pipx bunx pnpx easy_install cpan cpanm luarocks opam vcpkg conan sdkman
            rustup pyenv nvm asdf mise gem
            ensurepip dlx corepack volta"""
        ),
        "installs or fetches software",
    ),
    **dict.fromkeys(
        _names(
            "crontab at atq atrm batch systemctl service launchctl loginctl initctl rc-service "
            "update-rc.d chkconfig systemd-run"
        ),
        "changes what runs later or by itself",
    ),
    **dict.fromkeys(_names("kill pkill killall xkill renice skill"), "ends or changes processes"),
    **dict.fromkeys(
        _names(
            "mount umount swapon losetup sysctl ip ifconfig route iptables ip6tables nft ufw "
            "firewall-cmd tc brctl nmcli hostnamectl"
        ),
        "changes the machine",
    ),
    **dict.fromkeys(
        _names(
            """docker podman nerdctl kubectl helm oc aws gcloud az doctl heroku flyctl vercel netlify
            terraform tofu pulumi ansible
            ansible-playbook vagrant virsh vboxmanage lxc ctr crictl minikube kind eksctl serverless
            wrangler firebase"""
        ),
        "reaches machines or services beyond this one",
    ),
    **dict.fromkeys(
        _names(
            "psql mysql mariadb mongo mongosh redis-cli sqlcmd sqlplus dropdb createdb pg_restore "
            "mysqladmin cqlsh influx clickhouse"
        ),
        "changes a database",
    ),
    **dict.fromkeys(
        _names("gpg gpg2 ssh-keygen ssh-add ssh-agent pass security secret-tool keyctl op bw vault"),
        "handles keys",
    ),
    **dict.fromkeys(_names("twine flit maturin semantic-release goreleaser"), "publishes"),
    **dict.fromkeys(_names("gdb lldb dlv jdb bpftrace dtrace"), "reaches into other programs"),
    **dict.fromkeys(
        _names("unshare nsenter bwrap firejail ld.so ld-linux-x86-64.so.2 setarch chrt"),
        "changes the walls around a program",
    ),
    **dict.fromkeys(
        _names("tmux screen expect dtach xdotool xclip xsel pbcopy wl-copy"), "drives another session"
    ),
}
CRITICAL: Mapping[str, str] = {
    **dict.fromkeys(
        _names("sudo sudoedit su doas pkexec runuser gosu su-exec run0 please dzdo machinectl"),
        "asks for another user's rights",
    ),
    **dict.fromkeys(
        _names(
            """mke2fs mkswap wipefs fdisk sfdisk cfdisk sgdisk gdisk parted blkdiscard hdparm cryptsetup
            lvremove vgremove pvremove newfs
            diskutil zpool"""
        ),
        "changes disks",
    ),
    **dict.fromkeys(
        _names("shutdown reboot halt poweroff telinit init kexec killall5 pm-suspend"), "stops the machine"
    ),
    **dict.fromkeys(
        _names(
            "insmod rmmod modprobe depmod swapoff grub-install update-grub efibootmgr setcap capsh flashrom"
        ),
        "changes the kernel or its start",
    ),
    **dict.fromkeys(
        _names(
            "useradd userdel usermod groupadd groupdel groupmod passwd chpasswd adduser deluser visudo "
            "vipw vigr chsh chfn"
        ),
        "changes accounts",
    ),
    **dict.fromkeys(_names("chroot pivot_root switch_root"), "leaves the walls around a program"),
}
CRITICAL_PATTERN = re.compile(r"mkfs(\..*)?|fsck(\..*)?|newfs_.*|mkdosfs|mkntfs|dd_rescue|ddrescue")

NETWORK = (
    frozenset(
        name
        for name, reason in HIGH.items()
        if reason in ("uses the network", "installs or fetches software", "publishes")
    )
    - _names("dpkg rpm openssl ")
) | _names("aws gcloud az kubectl psql mysql mongosh redis-cli")
DOWNLOADERS = _names(
    "curl wget nc ncat netcat socat aria2c http https httpie fetch lynx w3m scp rsync ssh telnet ftp "
    "openssl gh lftp"
)
DECODERS = _names(
    "base64 base32 basenc xxd openssl uudecode gunzip gzip zcat bzcat xzcat rev tr gpg od hexdump"
)
LISTERS = _names("find fd fdfind ls git rg grep")
WRITERS_LAST = _names("cp mv ln install rsync scp")
"""The last operand is written."""
WRITERS_ALL = _names(
    "tee touch truncate mkdir rmdir shred unlink rm chmod chown chgrp chattr setfacl patch ed mktemp"
)
"""Every operand is written."""


class Verbs(NamedTuple):
    """A program with verbs. A verb that is in neither list has the usual risk."""

    low: frozenset[str]
    high: frozenset[str]
    usual: Risk = "medium"
    reason: str = "installs, fetches, publishes or deletes"


def _verbs(low: str, high: str, usual: Risk = "medium") -> Verbs:
    return Verbs(_names(low), _names(high), usual)


_NODE = """
    install i in ci add update up upgrade uninstall remove rm un unlink link ln exec x dlx publish
    unpublish dist-tag deprecate owner
    adduser login logout token init create rebuild audit access hook profile star team set-script config
    global import self-update
    """
VERBS: Mapping[str, Verbs] = {
    "npm": _verbs("ls list ll root prefix bin why explain help", _NODE),
    "pnpm": _verbs("ls list why help", _NODE),
    "yarn": _verbs("list why info help", _NODE),
    "bun": _verbs("", _NODE),
    "pip": _verbs(
        "list show freeze check help", "install uninstall download wheel config cache index search"
    ),
    "uv": _verbs(
        "tree version help", "add remove sync lock pip tool publish self python init export cache auth"
    ),
    "poetry": _verbs(
        "show check env version", "add remove install update lock publish self config source init"
    ),
    "pipenv": _verbs("graph", "install uninstall update lock sync upgrade"),
    "pdm": _verbs("list info", "add remove install update lock sync publish self"),
    "hatch": _verbs("version status", "publish env"),
    "cargo": _verbs(
        "tree metadata version help",
        "install uninstall publish yank login owner add remove rm update fetch search",
    ),
    "go": _verbs("version env list doc help", "get install mod clean work telemetry"),
    "dotnet": _verbs("--info --version", "add remove restore nuget publish tool workload"),
    "bundle": _verbs("list show", "install update add remove"),
    "composer": _verbs("show", "install update require remove global publish"),
    "mvn": _verbs("", "deploy install"),
    "docker": _verbs("ps images version info inspect logs", "", "high"),
    "podman": _verbs("ps images version info inspect logs", "", "high"),
    "kubectl": _verbs("", "", "high"),
    "systemctl": _verbs("status list-units is-active is-enabled show cat", "", "high"),
    "crontab": _verbs("-l", "", "high"),
    "gem": _verbs("list", "", "high"),
    "brew": _verbs("list", "", "high"),
    "ip": _verbs("", "", "high"),
}
STOPS_MACHINE = _names(
    "poweroff reboot halt kexec suspend hibernate rescue emergency isolate soft-reboot exit"
)
"""Verbs of `systemctl` that stop the machine."""

FLAGS: Mapping[str, Mapping[str, tuple[Risk, str]]] = {
    "sort": {
        "-o": ("medium", "writes a file"),
        "--output": ("medium", "writes a file"),
        "--compress-program": ("high", "runs a program"),
    },
    "rg": {"--pre": ("high", "runs a program"), "--hostname-bin": ("high", "runs a program")},
    "date": {"-s": ("high", "sets the clock"), "--set": ("high", "sets the clock")},
    "find": {
        "-delete": ("high", "deletes files"),
        **dict.fromkeys(("-fprint", "-fprintf", "-fls", "-fprint0"), ("medium", "writes a file")),
        **dict.fromkeys(("-exec", "-execdir", "-ok", "-okdir"), ("medium", "runs a program")),
    },
    "fd": dict.fromkeys(("-x", "-X", "--exec", "--exec-batch"), ("medium", "runs a program")),
    "xxd": {"-r": ("medium", "writes a file")},
    "yq": {"-i": ("medium", "writes a file"), "--inplace": ("medium", "writes a file")},
    "tree": {"-o": ("medium", "writes a file")},
    "less": {"-o": ("medium", "writes a file"), "+!": ("high", "runs a program")},
    "man": {
        "-P": ("high", "runs a program"),
        "--pager": ("high", "runs a program"),
        "-H": ("high", "runs a program"),
    },
    "tar": {
        **dict.fromkeys(
            ("--checkpoint-action", "--to-command", "-I", "--use-compress-program", "--rsh-command", "-F"),
            ("high", "runs a program"),
        ),
        **dict.fromkeys(("-P", "--absolute-names"), ("high", "writes outside of its directory")),
    },
    "zip": dict.fromkeys(("-T", "-TT", "--unzip-command"), ("high", "runs a program")),
    "vim": dict.fromkeys(("-c", "--cmd", "-S", "-es"), ("high", "runs a program")),
    "vi": {"-c": ("high", "runs a program")},
    "ex": {"-c": ("high", "runs a program")},
    "emacs": dict.fromkeys(("--eval", "-eval", "-f", "--load", "-l"), ("high", "runs a program")),
    "sqlite3": dict.fromkeys((".shell", ".system"), ("high", "runs a program")),
    "make": dict.fromkeys(("--eval",), ("high", "runs a program")),
    "pytest": {"-p": ("medium", "loads a plugin")},
    "ps": {
        "e": ("high", "shows the environment of other programs"),
        "eww": ("high", "shows the environment of other programs"),
    },
    "hostname": {"-b": ("high", "names the machine"), "-F": ("high", "names the machine")},
    "patch": {},
}
RISKY_VARIABLES = _names(
    """LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH PATH BASH_ENV ENV IFS
    PROMPT_COMMAND PS4 SHELL
    SHELLOPTS BASHOPTS
    GIT_SSH GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_PAGER GIT_EDITOR GIT_ASKPASS GIT_PROXY_COMMAND
    GIT_EXEC_PATH GIT_TEMPLATE_DIR
    GIT_CONFIG_GLOBAL
    PAGER EDITOR VISUAL BROWSER MANPAGER LESSOPEN LESSCLOSE PERL5OPT PERL5LIB PERL5DB NODE_OPTIONS
    NODE_PATH RUBYOPT RUBYLIB PYTHONSTARTUP
    PYTHONHOME PYTHONPATH PYTHONINSPECT PYTHONBREAKPOINT PYTHONWARNINGS JAVA_TOOL_OPTIONS _JAVA_OPTIONS
    CLASSPATH GCONV_PATH
    HOSTALIASES MAKEFLAGS
    RUSTC_WRAPPER CARGO_BUILD_RUSTC_WRAPPER CC CXX LD HOME TMPDIR SSH_ASKPASS SUDO_ASKPASS AGENTFORGE_HOME
    HTTP_PROXY HTTPS_PROXY
    http_proxy https_proxy
    PIP_INDEX_URL PIP_EXTRA_INDEX_URL UV_INDEX_URL NPM_CONFIG_REGISTRY"""
)

GIT_LOW = _names(
    """status log diff show blame annotate rev-parse ls-tree cat-file grep describe shortlog rev-list
    name-rev merge-base
    for-each-ref
    diff-tree diff-index diff-files count-objects check-ignore check-attr var version help show-ref
    show-branch whatchanged cherry
    verify-commit
    verify-tag range-diff --version --help"""
)
GIT_HIGH = _names(
    """push fetch pull clone ls-remote submodule rebase restore clean filter-branch filter-repo update-ref
    symbolic-ref rm replace
    send-email
    send-pack fetch-pack receive-pack upload-pack daemon http-backend svn p4 cvsimport instaweb credential
    gc prune repack
    fast-import update-index read-tree checkout-index difftool mergetool maintenance bundle archive
    request-pull imap-send remote-http
    lfs subtree
    sparse-checkout hook"""
)
GIT_FLAGS: Mapping[str, frozenset[str]] = {
    "reset": _names("--hard --merge --keep"),
    "checkout": _names("-- . -f --force -B --orphan --theirs --ours -p"),
    "switch": _names("-f --force -C --discard-changes --orphan"),
    "branch": _names("-D -d --delete -f --force -M -m --move --edit-description -u --set-upstream-to"),
    "tag": _names("-d --delete -f --force"),
    "commit": _names("--amend --no-verify -n"),
    "stash": _names("drop clear pop"),
    "reflog": _names("expire delete"),
    "worktree": _names("remove prune move"),
    "remote": _names("add remove rm rename set-url update prune set-head show"),
    "diff": _names("--output --ext-diff --textconv"),
    "log": _names("--output --ext-diff"),
    "show": _names("--output --ext-diff --textconv"),
    "grep": _names("-O --open-files-in-pager"),
    "merge": _names("--no-verify"),
    "notes": _names("remove prune"),
    "bisect": _names("run"),
}
"""Flags and words that make a verb of git lose work, rewrite history, run a program or use the network."""
