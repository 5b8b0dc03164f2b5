# SPDX-License-Identifier: MIT
"""Contexts, and what they answer. The package shows it as its own."""
import typing

from takt import _takt


class Decision(typing.NamedTuple):
    """Where a call would run. Times are in seconds; None: not known."""
    backend: str
    expert: str
    runner_up: "str | None"
    predicted_s: "float | None"
    confidence: "float | None"
    elements: int
    bytes: float
    flops: float
    reason: str
    policy: str


class Estimate(typing.NamedTuple):
    """What one expert is expected to take for a call, in seconds."""
    expert: str
    backend: str
    predicted_s: float
    low_s: float
    high_s: float
    transfer_s: float
    queue_s: float
    switch_s: float
    samples: float
    first_s: float
    is_chosen: bool
    is_suspect: bool
    is_asleep: bool


class Place(typing.NamedTuple):
    """One size of a map: the shape, and where it would run."""
    shape: "tuple[int, ...]"
    decision: Decision


class HistoryRow(typing.NamedTuple):
    """What was measured of one expert at one size."""
    op: str
    dtype: str
    layout: str
    situation: "tuple[str, ...]"
    expert: str
    backend: str
    work_low: float
    work_high: float
    bytes: float
    flops: float
    samples: float
    mean_s: float
    spread: float
    calls: float
    seconds: float


class Machine(typing.NamedTuple):
    """The processor, memory, GPUs and experts of a context."""
    architecture: str
    cpu_vendor: str
    cpu_name: str
    cores: int
    logical_cpus: int
    allowed_cpus: int
    quota_cpus: float
    threads: int
    isa: str
    l1d_bytes: int
    l2_bytes: int
    l3_bytes: int
    memory_bytes: int
    gpus: "list[str]"
    experts: "list[str]"
    is_virtual: bool
    hw_fingerprint: str
    sw_fingerprint: str


class Recommendation(typing.NamedTuple):
    """Where an operation of a framework should run."""
    framework: str
    operation: str
    complexity: str
    backend: str
    expert: str
    op: "str | None"
    call: "str | None"
    reason: str


class Progress(typing.NamedTuple):
    """What tuning is doing: starting, transfers, measuring or waiting."""
    stage: str
    done: float
    left_s: float
    expert: "str | None"
    op: "str | None"
    dtype: "str | None"
    shape: "tuple[int, ...]"


class TuneResult(typing.NamedTuple):
    """How tuning ended: complete, time is up, stopped or busy."""
    end: str
    cells: int
    known_cells: int
    samples: int
    gpu_samples: int
    rejected: int
    discarded: int
    gpus: int
    seconds: float
    others: float
    stored: str


class OpInfo(typing.NamedTuple):
    """A row of the catalogue."""
    name: str
    summary: str
    shape: str
    complexity: str
    dtypes: "tuple[str, ...]"
    aliases: "list[str]"


_SITUATIONS = {"repeat": 1, "asleep": 2, "on_gpu": 4}


def _situation(names):
    names = (names,) if isinstance(names, str) else names
    try:
        return sum({_SITUATIONS[name] for name in names})
    except KeyError as problem:
        raise ValueError(f"{problem} is not a situation: "
                         f"{', '.join(_SITUATIONS)}") from None


def _names(value):
    return (value,) if isinstance(value, str) else value


def ops():
    """The catalogue: every op, what it computes and the sizes it takes.

    >>> takt.ops()[0].name
    'add'
    """
    return [OpInfo(*row) for row in _takt._ops()]


def _usual_shapes(op):
    forms = {name: row.shape for row in ops()
             for name in (row.name, *row.aliases)}
    form = forms.get(op, "N")
    rank = {"N": 1, "ROWSxCOLS": 2, "MxN": 2, "NxN": 2, "NxNRHS": 2,
            "MxNxK": 3, "MxNxNRHS": 3}.get(form)
    if rank is None:
        raise ValueError(f"map of {op} needs shapes, of sizes {form}")
    return [(2 ** k,) * rank for k in (range(4, 25) if rank == 1
                                       else range(3, 12))]


class Op:
    """An op of the user's own; Context.define_op() makes it.

    Experts are functions of any arguments. A call runs one of them and returns
    what it returned; which one is learned for each size.
    """

    def __init__(self, context, name):
        self._context, self.name = context, name

    def __repr__(self):
        return f"<takt.Op {self.name}>"

    def add_expert(self, run, **options):
        """Add a function that runs the op: see Context.add_expert()."""
        return self._context.add_expert(self.name, run, **options)

    def __call__(self, *args, shape=None, dtype="f32", **words):
        """Run it. `shape` says how large the call is: a number or several; by
        default the shape of the first argument, or its length."""
        if shape is None:
            first = args[0] if args else ()
            shape = getattr(first, "shape", None)
            if shape is None:
                shape = len(first)
        return self._context._run_op(self.name, args, words, shape, dtype)


class Context(_takt.Context):
    """Context(*, policy=None, expert=None, threads=0, db=None, blas=None,
    gpu=None, pin=None, exploration=0.0, recording=None, objective=None)

    A machine, a policy and what was learned. It has all functions of takt.

    policy is "adaptive" (the default), "moe", "cost", "heuristic", "fixed"
    (with expert) or "pinned" (with pin, a file). threads=0 uses all that the
    process may use. db is the file with what was learned; "": memory only;
    None: TAKT_DB, or the file of this machine. blas="" uses no BLAS library,
    gpu="" no GPU. exploration is the share of time for trials (0: 2%;
    negative: none). recording names a folder with the facts of another machine,
    about which questions can be asked. objective is what the best expert is the
    best at: "time" (the default), "p95", "p99", "p999", "throughput",
    "energy", "edp", or one under a limit, such as "time, p99 < 2 ms"; None:
    TAKT_OBJECTIVE.

    >>> with takt.Context(expert="scalar", db="") as context:
    ...     context.sum(x)
    6.0
    """

    def select(self, op, shape, *, dtype="f32", policy="adaptive",
               situation=()):
        """Where a call of that op and shape would run; nothing is run.

        shape is a number or several, in the order of takt.ops(). situation is
        any of "repeat" (operands are in the caches), "asleep" (threads sleep)
        and "on_gpu" (operands are there).

        >>> takt.select("sum", 50_000, policy="moe").backend
        'simd'
        """
        return Decision(*self._select(op, shape, dtype, policy,
                                      _situation(situation)))

    def explain(self, op, shape, *, dtype="f32", policy="adaptive",
                situation=()):
        """What every expert would take for that call: the chosen one first.

        >>> takt.explain("add", 1000)[0].is_chosen
        True
        """
        rows = self._explain(op, shape, dtype, policy, _situation(situation))
        return [Estimate(*row) for row in rows]

    def map(self, op, shapes=None, *, dtype="f32", policy="adaptive",
            situation=()):
        """Where calls of each shape would run. Without shapes: vectors of 16 to
        16M elements, or square matrices of 8 to 2048 rows.

        >>> [place.shape for place in takt.map("add", [100, 1000])]
        [(100,), (1000,)]
        """
        if shapes is None:
            shapes = _usual_shapes(op)
        shapes = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
        return [Place(s, Context.select(self, op, s, dtype=dtype,
                                        policy=policy, situation=situation))
                for s in shapes]

    def tune(self, ops=None, *, dtypes=None, shapes=None, experts=None,
             effort="usual", budget_s=0.0, ignore_load=False, progress=None):
        """Measure the experts of this machine, for a minute or for budget_s.

        ops, shapes and experts say what is measured; None: all. effort is
        "quick" (5 s), "usual" or "full". progress is called with a
        takt.Progress every now and then; a true result stops the tuning, and
        what was measured is kept. So does Ctrl-C, which is raised then.

        >>> takt.tune("add", shapes=[1000], budget_s=0.5,
        ...           progress=print)                     # doctest: +SKIP
        """
        tell = None
        if progress is not None:
            def tell(*values):
                return progress(Progress(*values))
        bits = 0
        for name in _names(dtypes) or ():
            if name not in ("f32", "f64"):
                raise ValueError(f"{name!r} is not 'f32' or 'f64'")
            bits |= 1 if name == "f32" else 2
        return TuneResult(*self._tune(_names(ops), bits, shapes,
                                      _names(experts), effort, budget_s,
                                      ignore_load, tell))

    def history(self, op=None):
        """What was measured: of one op, or of all.

        >>> takt.history("gelu")                          # doctest: +SKIP
        [HistoryRow(op='gelu', dtype='f32', ...
        """
        names = tuple(_SITUATIONS.items())
        rows = []
        for row in self._history(op):
            bits = tuple(n for n, bit in names if row[3] & bit)
            rows.append(HistoryRow(*row[:3], bits, *row[4:]))
        return rows

    def forget(self, op=None):
        """Forget what was learned of an op, or everything, in the store too.

        >>> takt.forget("gelu")                           # doctest: +SKIP
        """
        self._forget(op)

    def flush(self):
        """Learn from all calls that have returned, and store it.

        >>> takt.flush()
        """
        self._flush()

    def machine(self):
        """The machine: processor, memory, GPUs and experts.

        >>> takt.machine().threads                        # doctest: +SKIP
        2
        """
        return Machine(*self._machine())

    def recommend(self, name, elements):
        """Where an operation of NumPy, scikit-learn or PyTorch should run, by
        the moe rule.

        >>> takt.recommend("numpy.add", 2_000_000).backend
        'simd'
        """
        return Recommendation(*self._recommend(name, elements))

    def add_expert(self, op, run, *, name=None, can_run=None, backend="scalar",
                   threads=1, is_usual=False):
        """Add a function of Python's that competes with Takt's own code.

        It is called as the function of the op is, with arrays that are valid
        during the call alone: run(a, b, out=out). It fills `out`. To refuse a
        call it returns NotImplemented, and another expert runs it; what it
        raises is raised by the call. can_run(shape, dtype) says beforehand
        which calls it takes. is_usual: it runs calls of which nothing was
        measured yet. Returns run, so it is also a decorator by way of
        functools.partial.

        >>> def add(a, b, *, out):
        ...     for i in range(len(out)):
        ...         out[i] = a[i] + b[i]
        >>> with takt.Context(expert="user.loop", db="") as context: # doctest: +SKIP
        ...     context.add_expert("add", add, name="loop")
        """
        if not callable(run):
            raise TypeError(f"an expert is a function, not {run!r}")
        self._add_expert(op, name or run.__name__, run, can_run, backend,
                         threads, is_usual)
        return run

    def define_op(self, name, *, complexity="Medium"):
        """Define an op of your own, which Takt routes between your functions.

        >>> with takt.Context(db="") as context:
        ...     double = context.define_op("double")
        ...     _ = double.add_expert(lambda v: [2 * i for i in v], name="list")
        ...     double([1, 2])
        [2, 4]
        """
        self._define_op(name, complexity)
        return Op(self, name)
