"""The clients as their users get them: Python's wheel, installed; TypeScript's package, compiled; programs in Go and Swift; and
processes of all."""

import fcntl
import functools
import json
import os
import pathlib
import queue
import re
import shutil
import subprocess
import sys
import threading
import zipfile
from urllib.parse import quote

import pytest

import needs
from processes import BOUND, ROOT

CLIENTS = ROOT / "clients"
ADAPTERS = ROOT / "Tests/Acceptance/clients"
# Those in folders of their own; Swift's is a part of the library.
PACKAGED = ["python", "python-async", "typescript", "go"]
KINDS = [*PACKAGED, "swift"]
SWIFT_DRIVER = ROOT / ".build/debug/client-driver"
# Where drivers of databases are: where Scripts/packages lays them, or where Debian does. Only the tests of the outbox need some.
FOLDERS_OF_GO = [pathlib.Path("/usr/local/share/gocode/src"), pathlib.Path("/usr/share/gocode/src")]
# The module has no dependencies, so Go needs no network. What it has compiled is kept.
GO = {"GOPROXY": "off", "GOCACHE": str(ROOT / ".build/go-cache"), "CGO_ENABLED": "0"}


def checked(*arguments, **options):
    """Runs a command that must succeed, and returns its output."""
    done = subprocess.run(
        [str(a) for a in arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, **options)
    assert done.returncode == 0, done.stdout
    return done.stdout


def fixture(kinds):
    """A fixture that starts a client of each of these kinds: `client(url)`."""
    @pytest.fixture(params=kinds)
    def client(request, packages, made):
        def start(url, **options):
            process = ClientProcess(packages, request.param, url=url, **options)
            made.append(process)
            return process
        return start
    return client


def driver_of_go(name):
    """The folder of a driver of a database."""
    for folder in FOLDERS_OF_GO:
        if (folder / name).is_dir():
            return folder / name
    needs.leave_out(f"golang-{name.replace('.com', '').replace('/', '-')}-dev")


def built_once(folder, name, *flags, **env):
    """A program in Go, in a folder that the processes of a run of tests share: the first one builds it."""
    program = folder / name
    with open(folder / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not program.exists():
            checked("go", "build", *flags, "-o", program, ".", cwd=ADAPTERS / name, env=os.environ | GO | env)
    return program


class Packages:
    """The packages, built in a folder, and the programs in Go, in one that others share."""

    def __init__(self, folder, shared):
        self.python, self.modules, self.go = folder / "python", folder / "typescript", folder / "go"
        self.shared = shared

    def build(self):
        checked(
            sys.executable, "-m", "pip", "wheel", "-q", "--disable-pip-version-check", "--no-deps", "--no-build-isolation",
            "--wheel-dir", self.python, CLIENTS / "python")
        (self.wheel,) = self.python.glob("*.whl")
        with zipfile.ZipFile(self.wheel) as wheel:
            wheel.extractall(self.python / "site")
        return self

    @functools.cached_property
    def go_driver(self):
        needs.program("go")
        return built_once(self.shared, "go")

    @functools.cached_property
    def typescript(self):
        """The folder above the modules, in which a program finds the package of TypeScript. It is compiled for the first one."""
        compiler = needs.program("tsc")
        package = self.modules / "node_modules/redial-client"
        package.mkdir(parents=True)
        shutil.copy(CLIENTS / "typescript/package.json", package)
        checked(compiler, "--project", CLIENTS / "typescript", "--outDir", package / "dist")
        # A program finds the package in the folder of modules above it.
        for program in ADAPTERS.glob("*.mjs"):
            shutil.copy(program, self.modules)
        return self.modules

    @functools.cached_property
    def outbox_application(self):
        """The application in Go that has an outbox. Its driver of SQLite is one around the library in C."""
        needs.program("go")
        module = (ADAPTERS / "go-outbox/go.mod").read_text()
        for driver in re.findall(r"^\t(github\S+) v", module, re.M):
            module = module.replace(f"{driver} => {FOLDERS_OF_GO[0] / driver}", f"{driver} => {driver_of_go(driver)}")
        self.go.mkdir(exist_ok=True)
        (self.go / "outbox.mod").write_text(module)
        return built_once(self.shared, "go-outbox", f"-modfile={self.go}/outbox.mod", CGO_ENABLED="1", CC=needs.c_compiler())

    def environment(self, **more):
        clean = {name: value for name, value in os.environ.items() if not name.startswith("REDIAL_")}
        return clean | {"PYTHONPATH": str(self.python / "site")} | more

    def typed(self, *programs, folder):
        """Checks the types of the Python package and of programs that use it."""
        env = self.environment(MYPY_CACHE_DIR=str(folder / "cache"))
        return checked(sys.executable, "-m", "mypy", "src", *programs, cwd=CLIENTS / "python", env=env)

    def compiled(self, *programs):
        """TypeScript programs beside the package as modules that Node.js runs, after a check of their types."""
        options = {"target": "ES2022", "module": "ES2022", "lib": ["ES2021", "DOM", "DOM.Iterable"], "types": [], "strict": True}
        project = self.typescript / "tsconfig.json"
        project.write_text(json.dumps({
            "compilerOptions": options | {"moduleResolution": "node"}, "files": [program.name for program in programs]}))
        checked(needs.program("tsc"), "--project", project)
        for program in programs:
            program.with_suffix(".js").rename(program.with_suffix(".mjs"))
        return [program.with_suffix(".mjs") for program in programs]

    def programs(self, name, programs, drivers=()):
        """Go programs that use the module as its page says, each of the texts of its files, after a check by `go vet`.

        They may use these drivers of databases, too.
        """
        needs.program("go")
        folder = self.go / name
        folder.mkdir(parents=True)
        command = re.search(r"^\$ go (mod edit .*)$", (CLIENTS / "go/README.md").read_text(), re.M)[1]
        for arguments in ("mod init programs", command.replace("/path/to/redial", str(ROOT))):
            checked("go", *arguments.split(), cwd=folder, env=os.environ | GO)
        for driver in drivers:
            edit = f"-require={driver}@v0.0.0", f"-replace={driver}={driver_of_go(driver)}"
            checked("go", "mod", "edit", *edit, cwd=folder, env=os.environ | GO)
        for number, files in enumerate(programs):
            (folder / f"program{number}").mkdir()
            for place, text in enumerate(files):
                (folder / f"program{number}/file{place}.go").write_text(text)
        for command in (["vet"], ["build", "-o", f"{folder}/built/"]):
            checked("go", *command, "./...", cwd=folder, env=os.environ | GO)
        return [folder / f"built/program{number}" for number in range(len(programs))]

    def command(self, kind):
        """The command that starts the adapter of a client."""
        if kind == "typescript":
            return [needs.program("node"), self.typescript / "adapter.mjs"]
        if kind == "go":
            return [self.go_driver]
        if kind == "swift":
            return [SWIFT_DRIVER]
        return [sys.executable, ADAPTERS / "adapter.py", {"python": "sync", "python-async": "async"}[kind]]


def here(code, service, target):
    """An example that uses these servers in the place of those that it names."""
    code = code.replace("http://127.0.0.1:8080", service.url).replace("https://api.example.com", target.url)
    return code.replace(quote("https://api.example.com", safe=""), quote(target.url, safe=""))


class ClientError(Exception):
    """An error of a client, with its kind and its members."""

    def __init__(self, members):
        super().__init__(members["message"])
        self.__dict__.update(members)


class ClientProcess:
    """A client in one of the languages. A method here is the method of the client, with the names of TypeScript.

    The drivers in Go and Swift know their methods by these names, too.
    """

    def __init__(self, packages, kind, **options):
        self.kind = kind
        self.process = subprocess.Popen(
            [str(part) for part in [*packages.command(kind), json.dumps(options)]], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, env=packages.environment())
        self.answers = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.answers.put(line)
        self.answers.put(None)

    def begin(self, method, *arguments, **options):
        """Calls a method, and returns before it does."""
        self.process.stdin.write(json.dumps([method, arguments, options]) + "\n")
        self.process.stdin.flush()

    def finish(self):
        """The result of the method that began first."""
        line = self.answers.get(timeout=BOUND)
        assert line, "the client has ended"
        answer = json.loads(line)
        if "error" in answer:
            raise ClientError(answer["error"])
        return answer["result"]

    def __getattr__(self, method):
        def call(*arguments, **options):
            self.begin(method, *arguments, **options)
            return self.finish()
        return call

    def end(self):
        """Nothing that the client left behind, such as a timer, keeps a program from its end."""
        self.process.stdin.close()
        try:
            assert self.process.wait(BOUND) == 0
        finally:
            self.process.kill()
