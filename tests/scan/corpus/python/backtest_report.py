# SPDX-License-Identifier: MIT
# Back-tests trading rules and writes a report. No np.dot(w, r) here.  #~!
import csv
import functools
import itertools
import json
import math
import re
import statistics
from collections import OrderedDict, deque, namedtuple
from datetime import date, timedelta
from decimal import Decimal as D
from enum import IntFlag

import numpy as np
import numpy.typing as npt

Trade = namedtuple("Trade", "day symbol quantity price")
DAYS = 252
PATHS = 10_000

SQL = """
    SELECT sum(price * quantity), max(price) FROM trades  --  #~!
    WHERE day > :start
"""


class Access(IntFlag):
    READ = 1
    WRITE = 2
    ALL = READ | WRITE


# ---- numbers -----------------------------------------------------------------

def returns(prices: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.log(prices[1:] / prices[:-1])  #~ log div


def simple_returns(prices):
    prices = np.asarray(prices, dtype=float)
    return (prices[1:] - prices[:-1]) / prices[:-1]  #~ div


def sharpe(daily: np.ndarray, free: float = 0.0) -> float:
    excess = daily - free  #~ sub
    return math.sqrt(DAYS) * excess.mean() / excess.std()  #~ mean


def covariance(table: np.ndarray) -> np.ndarray:
    demeaned = table - table.mean(axis=0)  #~ mean sub
    return demeaned.T @ demeaned / (len(table) - 1)  #~ matmul scale


def risk(weights: np.ndarray, sigma: np.ndarray) -> float:
    return np.sqrt(weights @ sigma @ weights)  #~ matmul matmul


def simulate(mu: float, sigma: float):
    shocks = np.random.normal(size=(PATHS, DAYS))
    growth = np.exp(mu + sigma * shocks)  #~ exp add
    return np.cumprod(growth, axis=1)  #~!


def payoff(paths: np.ndarray, strike: float) -> float:
    ends = paths[:, -1]
    return np.maximum(ends - strike, 0.0).mean()  #~ relu mean sub


def average_true_range(highs: list[float], lows: list[float]) -> float:
    spans = [h - l for h, l in zip(highs, lows)]  #~ sub
    return sum(spans) / len(spans)  #~ mean


def drawdown(curve: list[float]) -> float:
    peak, worst = curve[0], 0.0
    for value in curve:  #~!
        peak = max(peak, value)
        worst = min(worst, value / peak - 1.0)
    return worst


def exposure(quantities, prices) -> float:
    return sum(map(lambda q, p: q * p, quantities, prices))  #~ dot


def turnover(before: list[float], after: list[float]) -> float:
    total = 0.0
    for i in range(len(before)):  #~ norm1
        total += abs(after[i] - before[i])
    return total


def log_prices(prices: list[float]) -> list[float]:
    return list(map(math.log, prices))  #~ log


def normalise(weights: list[float]) -> list[float]:
    total = sum(weights)  #~ sum
    return [w / total for w in weights]  #~ scale


def tracking_error(ours: list[float], theirs: list[float]) -> float:
    squares = 0.0
    for a, b in zip(ours, theirs):  #~ dot
        squares += (a - b) ** 2
    return math.sqrt(squares / len(ours))


def volatility(daily: list[float]) -> float:
    mean = statistics.mean(daily)  #~ mean
    return statistics.pvariance(daily, mean)  #~ variance


def best_day(daily: list[float]) -> int:
    return max(range(len(daily)), key=daily.__getitem__)  #~ argmax


def worst_day(daily: list[float]) -> float:
    return min(daily)  #~ min


def hedge(book: np.ndarray, ratio: float) -> np.ndarray:
    book *= -ratio  #~ scale
    return np.where(book > 0, book, 0)  #~ relu


def capped(weights, limit=0.1):
    weights = np.array(weights)
    return np.minimum(np.maximum(weights, -limit), limit)  #~ clamp


def logistic(score: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-score))  #~ sigmoid


def factor_returns(loadings, factors):
    return np.einsum("ij,jk->ik", loadings, factors)  #~ matmul


def allocation(scores: np.ndarray) -> np.ndarray:
    raised = np.exp(scores - np.max(scores))
    return raised / raised.sum()  #~ softmax


def exposures(positions: list[list[float]], prices: list[float]) -> list[float]:
    result = []
    for row in positions:  #~ gemv
        value = 0.0
        for amount, price in zip(row, prices):
            value += amount * price
        result.append(value)
    return result


# ---- what surrounds them -----------------------------------------------------

def money(trades: list[Trade]) -> D:
    total = D("0")
    for trade in trades:  #~!
        total += D(trade.price) * trade.quantity
    return total


def fees(amounts: list[D], rate: D) -> list[D]:
    return [amount * rate for amount in amounts]  #~!


def paid(amounts: "list[D]") -> D:
    return sum(amounts, D(0))  #~!


def calendar(first: date, count: int) -> list[date]:
    return [first + timedelta(days=i) for i in range(count)]  #~!


def holidays(days: list[date]) -> timedelta:
    return max(days) - min(days)  #~!


def rights(grants: list[Access]) -> Access:
    result = Access(0)
    for grant in grants:  #~!
        result |= grant
    return result


def read_rows(path: str) -> int:
    rows = 0
    with open(path, newline="") as stream:
        for record in csv.reader(stream):  #~!
            rows += len(record) > 3
    return rows


def header(columns: list[str], width: int) -> str:
    line = ""
    for column in columns:  #~!
        line += column.ljust(width)
    return line + "\n" + "=" * (width * len(columns))  #~!


def tokens(rule: str) -> list[str]:
    found = re.findall(r"np\.sum\(|a @ b|\w+", rule)  #~!
    return [token * 2 for token in found]  #~!


def last_symbol(symbols: list[str]) -> str:
    return max(symbols)  #~!


def combos(symbols: set[str]):
    return {a + "/" + b for a, b in itertools.combinations(symbols, 2)}  #~!


def merged(layers: list[dict]) -> dict:
    return functools.reduce(lambda a, b: a | b, layers, {})  #~!


def compose(*steps):
    return functools.reduce(lambda f, g: lambda x: g(f(x)), steps)  #~!


class Window:
    """Keeps the last values: `np.mean(window)` of them is the signal."""  #~!

    def __init__(self, size: int):
        self.values = deque(maxlen=size)
        self.size = size

    def mean(self):
        return self

    def max(self):
        return self.values[-1]  #~!

    def dot(self, graph):
        return graph.node(self.size)  #~!


def signal_of(window: Window) -> Window:
    window.max()  #~!
    return window.mean()  #~!


def page_count(rows: int, per_page: int) -> int:
    return -(-rows // per_page)  #~!


def version_key(text: str) -> int:
    key = 0
    for part in text.split("."):  #~!
        key = key * 1000 + int(part)
    return key


def votes(ballots: list[str]) -> OrderedDict:
    tally = OrderedDict()
    for ballot in ballots:  #~!
        tally[ballot] = tally.get(ballot, 0) + 1
    return tally


def compound(start: float, rate: float, years: int) -> float:
    return start * math.exp(rate * years)  #~!


def annualised(rate: float) -> float:
    return np.exp(np.log(1.0 + rate) * 12) - 1.0  #~!


def dump(report: dict) -> str:
    return json.dumps({name: value * 100 for name, value in report.items()})  #~!
