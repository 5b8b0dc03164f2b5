"""Types of the package takt."""
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Literal, NamedTuple, Protocol, Self, TypeAlias, TypeVar

from typing_extensions import Buffer

from takt import numpy as numpy

__version__: str

_F = TypeVar("_F", bound=Callable[..., Any])

class _Tensor(Protocol):
    def __dlpack__(self, *args: Any, **words: Any) -> Any: ...

Array: TypeAlias = Buffer | _Tensor
Result: TypeAlias = Any  # numpy.ndarray if NumPy is imported, else memoryview
Shape: TypeAlias = int | Sequence[int]
Dtype: TypeAlias = Literal["f32", "f64"]
Policy: TypeAlias = Literal[
    "adaptive", "moe", "cost", "heuristic", "fixed", "pinned"
]
Situation: TypeAlias = Literal["repeat", "asleep", "on_gpu"]

class Error(RuntimeError):
    status: int

class Decision(NamedTuple):
    backend: str
    expert: str
    runner_up: str | None
    predicted_s: float | None
    confidence: float | None
    elements: int
    bytes: float
    flops: float
    reason: str
    policy: str

class Estimate(NamedTuple):
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

class Place(NamedTuple):
    shape: tuple[int, ...]
    decision: Decision

class HistoryRow(NamedTuple):
    op: str
    dtype: str
    layout: str
    situation: tuple[str, ...]
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

class Machine(NamedTuple):
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
    gpus: list[str]
    experts: list[str]
    is_virtual: bool
    hw_fingerprint: str
    sw_fingerprint: str

class Recommendation(NamedTuple):
    framework: str
    operation: str
    complexity: str
    backend: str
    expert: str
    op: str | None
    call: str | None
    reason: str

class Progress(NamedTuple):
    stage: str
    done: float
    left_s: float
    expert: str | None
    op: str | None
    dtype: str | None
    shape: tuple[int, ...]

class TuneResult(NamedTuple):
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

class OpInfo(NamedTuple):
    name: str
    summary: str
    shape: str
    complexity: str
    dtypes: tuple[str, ...]
    aliases: list[str]

class Op:
    name: str
    def __call__(
        self, *args: Any, shape: Shape | None = ..., dtype: Dtype = ...,
        **words: Any
    ) -> Any: ...
    def add_expert(
        self, run: _F, *, name: str | None = ...,
        can_run: Callable[[tuple[int, ...], str], object] | None = ...,
        backend: str = ..., threads: int = ..., is_usual: bool = ...
    ) -> _F: ...

class Context:
    def __new__(
        cls, *, policy: Policy | None = ..., expert: str | None = ...,
        threads: int = ..., db: str | None = ..., blas: str | None = ...,
        gpu: str | None = ..., pin: str | None = ...,
        exploration: float = ..., recording: str | None = ...,
        objective: str | None = ...
    ) -> Self: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None,
        traceback: TracebackType | None, /
    ) -> None: ...
    @property
    def closed(self) -> bool: ...
    def close(self) -> None: ...
    def select(
        self, op: str, shape: Shape, *, dtype: Dtype = ...,
        policy: Policy = ..., situation: Situation | Sequence[Situation] = ...
    ) -> Decision: ...
    def explain(
        self, op: str, shape: Shape, *, dtype: Dtype = ...,
        policy: Policy = ..., situation: Situation | Sequence[Situation] = ...
    ) -> list[Estimate]: ...
    def map(
        self, op: str, shapes: Sequence[Shape] | None = ..., *,
        dtype: Dtype = ..., policy: Policy = ...,
        situation: Situation | Sequence[Situation] = ...
    ) -> list[Place]: ...
    def tune(
        self, ops: str | Sequence[str] | None = ..., *,
        dtypes: Dtype | Sequence[Dtype] | None = ...,
        shapes: Sequence[Shape] | None = ...,
        experts: str | Sequence[str] | None = ...,
        effort: Literal["usual", "quick", "full"] = ..., budget_s: float = ...,
        ignore_load: bool = ...,
        progress: Callable[[Progress], object] | None = ...
    ) -> TuneResult: ...
    def history(self, op: str | None = ...) -> list[HistoryRow]: ...
    def forget(self, op: str | None = ...) -> None: ...
    def flush(self) -> None: ...
    def machine(self) -> Machine: ...
    def recommend(self, name: str, elements: int) -> Recommendation: ...
    def add_expert(
        self, op: str, run: _F, *, name: str | None = ...,
        can_run: Callable[[tuple[int, ...], str], object] | None = ...,
        backend: str = ..., threads: int = ..., is_usual: bool = ...
    ) -> _F: ...
    def define_op(self, name: str, *, complexity: str = ...) -> Op: ...
    def add(
        self, a: Array, b: Array, /, *, out: Array | None = ...
    ) -> Result: ...
    def sub(
        self, a: Array, b: Array, /, *, out: Array | None = ...
    ) -> Result: ...
    def mul(
        self, a: Array, b: Array, /, *, out: Array | None = ...
    ) -> Result: ...
    def div(
        self, a: Array, b: Array, /, *, out: Array | None = ...
    ) -> Result: ...
    def scale(
        self, a: Array, alpha: float, /, *, out: Array | None = ...
    ) -> Result: ...
    def axpy(self, x: Array, y: Array, alpha: float = ..., /) -> Result: ...
    def fma(
        self, a: Array, b: Array, c: Array, /, *, out: Array | None = ...
    ) -> Result: ...
    def abs(self, a: Array, /, *, out: Array | None = ...) -> Result: ...
    def neg(self, a: Array, /, *, out: Array | None = ...) -> Result: ...
    def clamp(
        self, a: Array, low: float, high: float, /, *, out: Array | None = ...
    ) -> Result: ...
    def sqrt(self, a: Array, /, *, out: Array | None = ...) -> Result: ...
    def exp(self, a: Array, /, *, out: Array | None = ...) -> Result: ...
    def exp2(self, a: Array, /, *, out: Array | None = ...) -> Result: ...
    def expm1(self, a: Array, /, *, out: Array | None = ...) -> Result: ...
    def log(self, a: Array, /, *, out: Array | None = ...) -> Result: ...
    def log2(self, a: Array, /, *, out: Array | None = ...) -> Result: ...
    def log1p(self, a: Array, /, *, out: Array | None = ...) -> Result: ...
    def sin(self, a: Array, /, *, out: Array | None = ...) -> Result: ...
    def cos(self, a: Array, /, *, out: Array | None = ...) -> Result: ...
    def sigmoid(self, a: Array, /, *, out: Array | None = ...) -> Result: ...
    def tanh(self, a: Array, /, *, out: Array | None = ...) -> Result: ...
    def relu(self, a: Array, /, *, out: Array | None = ...) -> Result: ...
    def gelu(self, a: Array, /, *, out: Array | None = ...) -> Result: ...
    def copy(self, a: Array, /, *, out: Array | None = ...) -> Result: ...
    def bias_add(
        self, a: Array, b: Array, /, *, out: Array | None = ...
    ) -> Result: ...
    def bias_mul(
        self, a: Array, b: Array, /, *, out: Array | None = ...
    ) -> Result: ...
    def transpose(self, a: Array, /, *, out: Array | None = ...) -> Result: ...
    def reshape(self, a: Array, shape: int | Sequence[int], /) -> Result: ...
    def sum(self, a: Array, /) -> float: ...
    def mean(self, a: Array, /) -> float: ...
    def max(self, a: Array, /) -> float: ...
    def min(self, a: Array, /) -> float: ...
    def argmax(self, a: Array, /) -> int: ...
    def argmin(self, a: Array, /) -> int: ...
    def dot(self, a: Array, b: Array, /) -> float: ...
    def norm1(self, a: Array, /) -> float: ...
    def norm2(self, a: Array, /) -> float: ...
    def variance(self, a: Array, /) -> float: ...
    def row_sum(self, a: Array, /, *, out: Array | None = ...) -> Result: ...
    def row_mean(self, a: Array, /, *, out: Array | None = ...) -> Result: ...
    def row_max(self, a: Array, /, *, out: Array | None = ...) -> Result: ...
    def col_sum(self, a: Array, /, *, out: Array | None = ...) -> Result: ...
    def col_mean(self, a: Array, /, *, out: Array | None = ...) -> Result: ...
    def col_max(self, a: Array, /, *, out: Array | None = ...) -> Result: ...
    def softmax(self, a: Array, /, *, out: Array | None = ...) -> Result: ...
    def layernorm(
        self, a: Array, gain: Array | None = ..., bias: Array | None = ..., /,
        *, epsilon: float = ..., out: Array | None = ...
    ) -> Result: ...
    def gemv(
        self, a: Array, x: Array, /, *, alpha: float = ..., beta: float = ...,
        out: Array | None = ...
    ) -> Result: ...
    def matmul(
        self, a: Array, b: Array, /, *, alpha: float = ..., beta: float = ...,
        out: Array | None = ...
    ) -> Result: ...
    def batched_matmul(
        self, a: Array, b: Array, /, *, alpha: float = ..., beta: float = ...,
        out: Array | None = ...
    ) -> Result: ...
    def conv2d(
        self, images: Array, filters: Array, bias: Array | None = ..., /, *,
        stride: int = ..., pad: int = ..., groups: int = ..., out: Array | None
        = ...
    ) -> Result: ...
    def pooling(
        self, a: Array, window: int, /, *, stride: int = ..., pad: int = ...,
        mean: bool = ..., out: Array | None = ...
    ) -> Result: ...
    def attention(
        self, queries: Array, keys: Array, values: Array, mask: Array | None =
        ..., /, *, scale: float = ..., causal: bool = ..., out: Array | None =
        ...
    ) -> Result: ...
    def cholesky(self, a: Array, /, *, out: Array | None = ...) -> Result: ...
    def solve(
        self, a: Array, b: Array, /, *, out: Array | None = ...
    ) -> Result: ...
    def qr(self, a: Array, /) -> tuple[Result, Result]: ...
    def lstsq(
        self, a: Array, b: Array, /, *, out: Array | None = ...
    ) -> Result: ...

def ops() -> list[OpInfo]: ...

# The functions of the default context.
_default: Context
select = _default.select
explain = _default.explain
map = _default.map
tune = _default.tune
history = _default.history
forget = _default.forget
flush = _default.flush
machine = _default.machine
recommend = _default.recommend
add = _default.add
sub = _default.sub
mul = _default.mul
div = _default.div
scale = _default.scale
axpy = _default.axpy
fma = _default.fma
abs = _default.abs
neg = _default.neg
clamp = _default.clamp
sqrt = _default.sqrt
exp = _default.exp
exp2 = _default.exp2
expm1 = _default.expm1
log = _default.log
log2 = _default.log2
log1p = _default.log1p
sin = _default.sin
cos = _default.cos
sigmoid = _default.sigmoid
tanh = _default.tanh
relu = _default.relu
gelu = _default.gelu
copy = _default.copy
bias_add = _default.bias_add
bias_mul = _default.bias_mul
transpose = _default.transpose
reshape = _default.reshape
sum = _default.sum
mean = _default.mean
max = _default.max
min = _default.min
argmax = _default.argmax
argmin = _default.argmin
dot = _default.dot
norm1 = _default.norm1
norm2 = _default.norm2
variance = _default.variance
row_sum = _default.row_sum
row_mean = _default.row_mean
row_max = _default.row_max
col_sum = _default.col_sum
col_mean = _default.col_mean
col_max = _default.col_max
softmax = _default.softmax
layernorm = _default.layernorm
gemv = _default.gemv
matmul = _default.matmul
batched_matmul = _default.batched_matmul
conv2d = _default.conv2d
pooling = _default.pooling
attention = _default.attention
cholesky = _default.cholesky
solve = _default.solve
qr = _default.qr
lstsq = _default.lstsq
