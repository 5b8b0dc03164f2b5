; SPDX-License-Identifier: MIT
;
; Python. A pattern finds a shape and says which kind of question decides it
; (#computes?, scan/python.c); which op it is follows from the answer.
; ;+ is found by the pattern below it, ;- by none.

; ---- loops ------------------------------------------------------------------

;+ for i in range(n):\n    for j in range(n):\n        for k in range(n):\n            c[i][j] += a[i][k] * b[k][j]
;+ s = 0.0\nfor x in xs:\n    s += x
;+ for i in range(len(a)):\n    out[i] = a[i] + b[i]
;+ for r in a:\n    s = 0.0\n    for x, y in zip(r, v):\n        s += x * y\n    out.append(s)
;+ for i in range(len(a)):\n    if a[i] < low:\n        low, at = a[i], i
;- n = 0\nfor x in xs:\n    n += 1
;- s = ""\nfor x in xs:\n    s += x
;- for i in range(len(a)):\n    print(a[i] + b[i])
((for_statement) @finding
  (#set! pattern "loop")
  (#set! kind "loop")
  (#computes? @finding))

; ---- comprehensions ---------------------------------------------------------

;+ z = [x * y for x, y in zip(a, b)]
;+ z = [[sum(x * y for x, y in zip(r, c)) for c in zip(*b)] for r in a]
;+ import math\nz = [math.sqrt(x) for x in a]
;- z = [name + ".py" for name in names]
;- z = [i * i for i in range(10)]
;- z = [len(x) for x in xs]
;- from decimal import Decimal\ndef f(a: list[Decimal]):\n    return [x * 2 for x in a]
;- import sympy\nz = [x * y for x, y in zip(a, b)]
((list_comprehension) @finding
  (#set! pattern "comprehension")
  (#set! kind "comprehension")
  (#computes? @finding))

; ---- several steps that are one op ------------------------------------------

;+ import numpy as np\ndef f(x):\n    e = np.exp(x - np.max(x))\n    return e / e.sum()
;+ import numpy as np\ny = 1 / (1 + np.exp(-x))
;+ m = sum(xs) / len(xs)
;- y = total / len(xs)
((binary_operator operator: ["/" "*" "**" "@"]) @finding
  (#set! pattern "composed-operator")
  (#set! kind "composition")
  (#computes? @finding))

;+ import numpy as np\ny = np.sqrt(np.sum(x ** 2))
;+ import numpy as np\ny = np.sum(a * b)
;+ import numpy as np\ny = np.maximum(x, 0)
;+ import numpy as np\ny = np.where(x > 0, x, 0)
;- import numpy as np\ny = np.where(x > 0, y, 0)
;- import numpy as np\ny = np.maximum(a, b)
((call) @finding
  (#set! pattern "composed-call")
  (#set! kind "composition")
  (#computes? @finding))

; ---- builtins ---------------------------------------------------------------

;+ s = sum(x * y for x, y in zip(a, b))
;+ s = sum(values)
;+ s = max(abs(x) for x in xs)
;+ from functools import reduce\ns = reduce(lambda a, b: a + b, xs)
;- s = sum(1 for x in xs)
;- s = sum(len(x) for x in xs)
;+ def f(a: list[float]):\n    return max(a)
;- def f(a: list[str]):\n    return max(a)
;- s = max(a, b)
;- def sum(x):\n    return x\ns = sum(values)
((call function: [(identifier) (attribute)] @function) @finding
  (#match? @function "(sum|max|min|reduce|map)$")
  (#set! pattern "builtin")
  (#set! kind "builtin")
  (#computes? @finding))

; ---- libraries --------------------------------------------------------------

;+ import numpy as np\ny = np.sum(x)
;+ from numpy import dot as d\ny = d(a, b)
;+ import torch.nn.functional as F\ny = F.relu(x)
;+ import numpy as np\nx = np.zeros((3, 4))\ny = x.sum()
;+ import numpy\ny = numpy.linalg.norm(x)
;- y = np.sum(x)
;- import numpy as np\ny = x.sum()
;- import numpy as np\ndef f(np, x):\n    return np.sum(x)
;- from . import numpy as np\ny = np.sum(x)
;- import numpy as np\ny = np.sqrt(2.0)
((call function: [(identifier) (attribute)]) @finding
  (#set! pattern "library-call")
  (#set! kind "call")
  (#computes? @finding))

;+ import numpy as np\nx = np.zeros((3, 4))\ny = x.T
;- y = x.T
((attribute attribute: (identifier) @name) @finding
  (#any-of? @name "T" "mT")
  (#set! pattern "transposed")
  (#set! kind "turn")
  (#computes? @finding))

; ---- operators --------------------------------------------------------------

;+ import numpy as np\ny = a @ b
;- y = a @ b
;- @decorator\ndef f(): pass
((binary_operator operator: "@") @finding
  (#set! pattern "matrix-operator")
  (#set! kind "arithmetic")
  (#computes? @finding))

;+ import numpy as np\nx = np.ones(8)\ny = x * 2
;+ import numpy as np\nx = np.ones(8)\ny = x + x
;- import numpy as np\ny = a * b
;- import numpy as np\nx = [1, 2]\ny = x * 2
((binary_operator operator: ["+" "-" "*" "/"]) @finding
  (#set! pattern "array-operator")
  (#set! kind "arithmetic")
  (#computes? @finding))

;+ import numpy as np\nx = np.ones(8)\ny = -x
;- y = -x
((unary_operator operator: "-") @finding
  (#set! pattern "array-negation")
  (#set! kind "arithmetic")
  (#computes? @finding))

;+ import numpy as np\nx = np.ones(8)\nx += 2.0 * x
;- x = 1\nx += 2
((augmented_assignment) @finding
  (#set! pattern "array-update")
  (#set! kind "arithmetic")
  (#computes? @finding))
