# SPDX-License-Identifier: MIT
# Products, a linear model and its refits. usage: regression.R [FACTOR]
words <- commandArgs(trailingOnly = TRUE)
factor <- if (length(words) > 0) as.numeric(words[1]) else 1
set.seed(13)
x <- matrix(rnorm(4000 * 250), 4000)
y <- x %*% rnorm(250) + rnorm(4000)
total <- 0
for (i in seq_len(max(1, round(90 * factor)))) {
    rows <- sample(4000, 3000)
    gram <- crossprod(x[rows, ])
    found <- solve(gram + diag(i, 250), crossprod(x[rows, ], y[rows]))
    total <- total + sum((x[-rows, ] %*% found - y[-rows])^2)
    total <- total + sum(abs(gram %*% gram))^0.5
}
cat(sprintf("%.6e\n", total))
