# SPDX-License-Identifier: MIT
# A linear mixed model with random intercepts, by restricted likelihood over a
# grid of variance ratios: Cholesky, solves and determinants of order 240.
factor <- as.numeric(commandArgs(trailingOnly = TRUE))
factor <- if (length(factor) > 0) factor[1] else 1
set.seed(5)
n <- 240
group <- rep(1:24, each = 10)
x <- cbind(1, rnorm(n), rnorm(n))
y <- x %*% c(1, 2, -1) + rnorm(24)[group] + rnorm(n)
same <- outer(group, group, "==")
best <- c(-Inf, 0)
for (i in seq_len(max(1, round(150 * factor)))) {
  ratio <- i / 50
  r <- chol(diag(n) + ratio * same)
  xs <- backsolve(r, x, transpose = TRUE)
  ys <- backsolve(r, y, transpose = TRUE)
  beta <- solve(crossprod(xs), crossprod(xs, ys))
  rest <- sum((ys - xs %*% beta)^2)
  value <- -sum(log(diag(r))) - (n - 3) / 2 * log(rest) -
    determinant(crossprod(xs))$modulus / 2
  if (value > best[1]) best <- c(value, ratio)
}
cat(sprintf("%.6e", c(best, sum(solve(diag(n) + best[2] * same, y)))), "\n")
