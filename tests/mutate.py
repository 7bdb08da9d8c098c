"""Mutation testing: changes the code in one place at a time and asks which test notices. CONTRIBUTING.md says how.

The tests are collected once. A first run in a fork learns how long each test takes and which functions it calls. Each
mutant is one more fork, in which the changed function takes the place of the old one wherever that is referred to; the
tests that call it run, those that killed most in so little time first, until one fails.
"""

import argparse
import ast
import gc
import importlib
import json
import os
import pickle
import random
import resource
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType

import pytest
from hypothesis import Phase, settings
from jax._src import xla_bridge
from scipy.stats import beta

ROOT = Path(__file__).parent.parent
COMPARED = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}  # fmt: skip
COMPUTED = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "*", ast.Pow: "*",
    ast.BitAnd: "|", ast.BitOr: "&", ast.BitXor: "&", ast.LShift: ">>", ast.RShift: "<<", ast.MatMult: "*",
}  # fmt: skip
NAMES = {"min": "max", "any": "all", "maximum": "minimum", "argmax": "argmin", "upper": "lower"}
NAMES |= {"sorted": "list", "reversed": "list", "HOLDS": "REFUTED"} | {b: a for a, b in NAMES.items()}
NAMES |= {"REFUTED": "HOLDS", "UNDECIDED": "HOLDS", "BOUNDED": "HOLDS"}


@dataclass(frozen=True)
class Mutant:
    """A change of one function: `place` is its file, `name` the function that holds it, `source` the file changed."""

    place: str
    line: int
    column: int
    name: str
    old: str
    new: str
    source: str

    def __str__(self) -> str:
        return f"{self.place}:{self.line}:{self.column}: {self.old} -> {self.new}"


def mutants(path: Path) -> Iterator[Mutant]:
    """Every mutant of a file, in the order of its text."""
    source, place = path.read_text(), str(path.relative_to(ROOT))
    starts = [0]
    for line in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for name, function in functions(ast.parse(source), ""):
        for statement in function.body:
            for node, new in changes(statement):
                begin = starts[node.lineno - 1] + node.col_offset
                end = starts[node.end_lineno - 1] + node.end_col_offset
                old = source.encode()[begin:end].decode()
                changed = source.encode()[:begin] + new.encode() + source.encode()[end:]
                short = " ".join(old.split())
                yield Mutant(place, node.lineno, node.col_offset, name, short, new, changed.decode())


def functions(tree: ast.AST, prefix: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    """The functions and methods of a module, but those within a function."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from functions(node, f"{prefix}{node.name}.")


def changes(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Nodes with the text that takes their place; not in annotations, messages, and what only guards the developer."""
    if isinstance(node, ast.JoinedStr | ast.Assert | ast.arguments) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    ):
        return
    text = ast.unparse
    match node:
        case ast.Compare(left, ops, rest):
            for place, op in enumerate(ops):
                for new in COMPARED[type(op)]:
                    changed = [*ops[:place], new(), *ops[place + 1 :]]
                    yield node, f"({text(ast.Compare(left, changed, rest))})"
        case ast.BoolOp(op, values):
            other = " or " if isinstance(op, ast.And) else " and "
            yield node, f"({other.join(f'({text(v)})' for v in values)})"
            for left_out in values:
                rest = text(op_of(node, [v for v in values if v is not left_out]))
                yield node, f"({rest})"
        case ast.UnaryOp(_, operand):
            yield node, f"({text(operand)})"
        case ast.BinOp(left, op, right):
            yield node, f"(({text(left)}) {COMPUTED[type(op)]} ({text(right)}))"
        case ast.AugAssign(target, op, value):
            yield node, f"{text(target)} {COMPUTED[type(op)]}= {text(value)}"
            yield node, "pass"
        case ast.Constant(bool(value)):
            yield node, str(not value)
        case ast.Constant(int(value) | float(value)):
            yield node, f"({value + 1})"
            if value >= 1:
                yield node, f"({value - 1})"
        case ast.Name(identifier) | ast.Attribute(attr=identifier) if identifier in NAMES:
            changed = text(node)
            yield node, changed[: len(changed) - len(identifier)] + NAMES[identifier]
        case ast.If(test) | ast.IfExp(test):
            yield test, "True"
            yield test, "False"
        case ast.While(test):
            yield test, "False"
        case ast.comprehension(_, iterable, tests):
            for test in tests:
                yield test, "True"
        case ast.For(_, iterable):
            yield iterable, "()"
        case ast.Continue() | ast.Break() | ast.Raise() | ast.Expr(ast.Call()):
            yield node, "pass"
        case ast.Slice(lower, upper):
            for bound in (lower, upper):
                if bound is not None:
                    yield bound, " "
    for field, value in ast.iter_fields(node):
        if field not in ("annotation", "returns", "decorator_list") and not isinstance(node, ast.Raise):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.keyword) and child.arg in ("strict", "method", "why"):
                    continue
                if isinstance(child, ast.AST):
                    yield from changes(child)


def op_of(node: ast.BoolOp, values: list[ast.expr]) -> ast.expr:
    return values[0] if len(values) == 1 else ast.BoolOp(node.op, values)


def code_of(code: CodeType, name: str) -> CodeType | None:
    """The code of a function or method in that of its module."""
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            found = inner if inner.co_qualname == name else code_of(inner, name)
            if found:
                return found
    return None


class Campaign:
    """A plugin that runs the mutants in place of the tests."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options, self.failed = options, ""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        """The same random cases for each mutant, and none made smaller."""
        quiet = settings.get_profile("quiet")
        phases = (Phase.explicit, Phase.generate)
        settings.register_profile("mutants", quiet, derandomize=True, database=None, phases=phases)
        settings.load_profile("mutants")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed = report.longreprtext or report.outcome

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if xla_bridge.backends_are_initialized():
            raise RuntimeError("a test module computes with JAX when it is collected; its threads would hang each fork")
        files = sorted({f for p in self.options.paths for f in ([p] if p.is_file() else p.rglob("*.py"))})
        files = [file.resolve() for file in files]
        modules = {f: importlib.import_module(".".join(f.relative_to(ROOT).with_suffix("").parts)) for f in files}
        self.functions: dict[tuple[str, str], list[FunctionType]] = {}
        for found in gc.get_objects():
            if isinstance(found, FunctionType) and Path(found.__code__.co_filename) in modules:
                key = str(Path(found.__code__.co_filename).relative_to(ROOT)), found.__code__.co_qualname
                self.functions.setdefault(key, []).append(found)
        left_out = [item for item in session.items if any(text in item.nodeid for text in self.options.skip)]
        self.items = {i.nodeid: i for i in session.items if not i.get_closest_marker("skip") and i not in left_out}
        known = self.baseline()
        self.known = {name: known[name] for name in self.items if name in known}
        broken = [name for name, (seconds, _) in self.known.items() if seconds is None]
        print(f"{len(self.known)} tests, {sum(s or 0 for s, _ in self.known.values()):.0f} s; fail unchanged: {broken}")
        self.known = {name: value for name, value in self.known.items() if name not in broken}
        if self.hunt(sorted(self.known, key=lambda name: self.known[name][0])[:20], lambda: None)["killed"]:
            raise RuntimeError("tests fail in a fork without any change")
        everything = [mutant for file in files for mutant in mutants(file)]
        chosen = [m for m in everything if not self.options.only or any(o in str(m) for o in self.options.only)]
        random.Random(self.options.seed).shuffle(chosen)
        self.kills: Counter[tuple[str, str]] = Counter()
        with self.options.output.open("a+") as output:
            output.seek(0)
            done = {record["mutant"]: record["killed"] for record in map(json.loads, output)}
            for description, killer in done.items():
                self.kills[description.partition(":")[0], killer] += 1
            for mutant in chosen[: self.options.sample]:
                if str(mutant) in done:
                    continue
                begun = time.perf_counter()
                verdict = self.judge(mutant, modules[ROOT / mutant.place])
                self.kills[mutant.place, verdict["killed"]] += 1
                record = {"mutant": str(mutant), "function": mutant.name, **verdict}
                record["seconds"] = round(time.perf_counter() - begun, 2)
                print(json.dumps(record), file=output, flush=True)
        return True

    def baseline(self) -> dict[str, tuple[float | None, list[str]]]:
        """What is known of each test, from the file; what is not is learnt first."""
        with self.options.baseline.open("a+") as file:
            file.seek(0)
            known = {name: said for line in file for name, said in json.loads(line).items()}

            def keep(said: dict) -> None:
                known.update(said)
                print(json.dumps(said), file=file, flush=True)

            while unknown := [name for name in self.items if name not in known]:
                if not forked(lambda send: self.learn(unknown, send), keep):
                    keep({next(name for name in unknown if name not in known): (None, ["it died, or took too long"])})
        return known

    def learn(self, names: list[str], send: Callable[[dict], None]) -> None:
        """Each test's time in seconds (`None` if it fails), and the functions it calls."""
        for name in names:
            signal.alarm(300)
            self.failed, called, begun = "", set(), time.process_time()
            sys.settrace(lambda frame, event, argument, called=called: called.add(frame.f_code))
            self.run(name, None)
            sys.settrace(None)
            keys = {(c.co_filename.removeprefix(f"{ROOT}/"), c.co_qualname.split(".<locals>")[0]) for c in called}
            calls = sorted(":".join(key) for key in keys if key[0].startswith("factorcomp/"))
            seconds = round(time.process_time() - begun, 3)
            send({name: (None, [self.failed[-2000:]]) if self.failed else (seconds, calls)})

    def run(self, name: str, after: str | None) -> None:
        item = self.items[name]
        item.ihook.pytest_runtest_protocol(item=item, nextitem=self.items[after] if after else None)

    def judge(self, mutant: Mutant, module: object) -> dict:
        """Who kills a mutant: a test; time; or nobody of those asked."""
        try:
            new = code_of(module.__loader__.source_to_code(mutant.source.encode(), module.__file__), mutant.name)
        except SyntaxError as error:
            return {"killed": "syntax", "error": str(error)}
        olds = self.functions.get((mutant.place, mutant.name), [])
        key = f"{mutant.place}:{mutant.name}"
        tests = [name for name, (_, called) in self.known.items() if key in called]
        tests.sort(key=lambda name: (0.05 + self.known[name][0]) / (0.1 + self.power(mutant, name)))
        parts = ("co_code", "co_consts", "co_names")
        if all(getattr(old.__code__, part) == getattr(new, part) for old in olds for part in parts):
            return {"killed": None, "asked": 0, "of": len(tests), "reason": "no change" if olds else "no function"}

        def change() -> None:
            for old in olds:
                old.__code__ = new

        return self.hunt(tests, change)

    def power(self, mutant: Mutant, name: str) -> float:
        """How many mutants a test has killed, those of other files for less."""
        elsewhere = sum(count for (_, killer), count in self.kills.items() if killer == name)
        return 0.8 * min(self.kills[mutant.place, name], 10) + 0.2 * min(elsewhere, 10) + len(self.known[name][1]) / 200

    def hunt(self, tests: list[str], change: Callable[[], None]) -> dict:
        """Runs tests after a change, until one fails."""

        def attack(send: Callable[[str], None]) -> None:
            change()
            for name, after in zip(tests, [*tests[1:], None], strict=True):
                if time.process_time() > self.options.budget:
                    return
                send(name)
                signal.alarm(300)
                signal.setitimer(signal.ITIMER_PROF, 10 + 10 * self.known[name][0])
                self.run(name, after)
                if self.failed:
                    send("killed")
                    return

        said: list[str] = []
        ended = forked(attack, said.append)
        if said[-1:] == ["killed"] or not ended:
            killer = ([name for name in said if name != "killed"] or ["the change itself"])[-1]
            return {"killed": killer, "by": "failure" if ended else "time or crash"}
        return {"killed": None, "asked": len(said), "of": len(tests)}


def forked(work: Callable[[Callable[[object], None]], None], hear: Callable[[object], object]) -> bool:
    """Runs `work(send)` in a fork, `hear(message)` here for what it sends; whether it came to its end."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # JAX warns of its threads, of which there are none yet
        child = os.fork()
    if child == 0:
        os.close(reading)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        pipe = os.fdopen(writing, "wb", buffering=0)
        try:
            work(lambda message: pipe.write(pickle.dumps(message)))
        except BaseException:
            os._exit(1)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        while True:
            try:
                hear(pickle.load(pipe))
            except EOFError:
                break
    return os.waitpid(child, 0)[1] == 0


def summary(output: Path) -> str:
    """Killed and surviving mutants by folder, with a 95 % Clopper-Pearson interval for the share that is killed."""
    latest = {r["mutant"]: r for r in map(json.loads, output.read_text().splitlines()) if r.get("killed") != "syntax"}
    folders: dict[str, list[dict]] = {}
    for record in latest.values():
        folders.setdefault(str(Path(record["mutant"].split(":")[0]).parent), []).append(record)
    lines = []
    for folder, records in sorted(folders.items()):
        total = sum(1 for file in sorted((ROOT / folder).glob("*.py")) for _ in mutants(file))
        n, k = len(records), sum(1 for r in records if r["killed"])
        low = beta.ppf(0.025, k, n - k + 1) if k else 0.0
        high = beta.ppf(0.975, k + 1, n - k) if k < n else 1.0
        lines.append(f"{folder}: {k} of {n} killed ({k / n:.1%}, {low:.1%} to {high:.1%}), {n} of {total} mutants")
        lines += [f"  survives {r['asked']} of {r['of']} tests: {r['mutant']}" for r in records if not r["killed"]]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path, help="folders and files to change")
    parser.add_argument("--tests", nargs="+", default=["tests"], help="what to run")
    parser.add_argument("--skip", nargs="+", default=[], help="leave out tests whose names contain one of these texts")
    parser.add_argument("--sample", type=int, default=None, help="how many mutants, drawn by --seed (all)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--shapes", action="store_true", help="check types and shapes at run time, which takes longer")
    parser.add_argument("--budget", type=float, default=30, help="seconds of tests for one mutant (30)")
    parser.add_argument("--only", nargs="+", default=[], help="mutants whose description contains one of these texts")
    parser.add_argument(
        "--baseline", type=Path, default=Path("mutants_baseline.jsonl"), help="what the first run learns"
    )
    parser.add_argument("--output", type=Path, default=Path("mutants.jsonl"), help="a line of JSON for each mutant")
    options = parser.parse_args()
    arguments = ["-q", "-s", "--assert=plain", "--tb=no", "-p", "no:cacheprovider"]
    if not options.shapes:
        arguments += ["--override-ini=addopts=--doctest-modules --import-mode=importlib"]
    os.chdir(ROOT)
    pytest.main([*arguments, *options.tests], plugins=[Campaign(options)])
    print(summary(options.output))


if __name__ == "__main__":
    main()
