# Draws man/figures/mixture.png, the picture of README.md, from the first session there, which it runs:
#
#   Rscript bench/picture.R            # in the root of the repository, with the package installed

lines <- readLines("README.md")
fences <- grep("^```", lines)
first <- grep("^options\\(anvil.default_dtypes", lines)[1L]
from <- max(fences[fences < first])
path <- list()
suppressPackageStartupMessages(eval(parse(text = lines[seq(from + 1L, min(fences[fences > first]) - 1L)])))
invisible(optim(start, function(theta) as.numeric(value(theta, x)), function(theta) {
  path[[length(path) + 1L]] <<- theta
  as.numeric(slope(theta, x)$theta)
}, method = "BFGS"))
path <- do.call(rbind, path)

# The log-likelihood of the two means, the other parameters at their estimates: all points of the grid at once.
grid <- list(short = seq(48, 62, length.out = 60L), long = seq(74, 86, length.out = 60L))
points <- as.matrix(expand.grid(grid))
theta <- cbind(fit$par[1L], points, fit$par[4L], fit$par[5L])
heights <- -as_array(jit(vectorize(function(theta) negative_log_likelihood(theta, x)))(nv_tensor(unname(theta))))

ink <- "#3b3f46"
blue <- "#2d6da3"
red <- "#c0504d"
dir.create("man/figures", showWarnings = FALSE)
png("man/figures/mixture.png", 800, 310, pointsize = 14, type = "cairo")
par(mfrow = c(1L, 2L), mar = c(4, 5, 2, 1), mgp = c(2.6, 0.7, 0), las = 1, fg = ink, col.axis = ink, col.lab = ink, col.main = ink, font.main = 1)
hist(faithful$waiting, breaks = 25L, freq = FALSE, col = "#dfe6ee", border = "white", main = "Old Faithful: two kinds of waits", xlab = "minutes", ylab = "")
at <- seq(40, 100, length.out = 300L)
share <- plogis(fit$par[1L])
parts <- cbind(share * dnorm(at, fit$par[2L], exp(fit$par[4L])), (1 - share) * dnorm(at, fit$par[3L], exp(fit$par[5L])))
matlines(at, cbind(rowSums(parts), parts), lty = c(1, 2, 2), lwd = c(3, 1.5, 1.5), col = c(blue, ink, ink))
best <- -fit$value
contour(grid$short, grid$long, matrix(heights, 60L), levels = best - c(1, 3, 6, 10, 20, 40, 70, 110), drawlabels = FALSE, col = "#9fb3c8",
  main = "Log-likelihood, and the way of optim()", xlab = "mean of short waits", ylab = "mean of long waits")
lines(path[, 2L], path[, 3L], type = "o", pch = 16, cex = 0.7, col = red)
points(fit$par[2L], fit$par[3L], pch = 3, cex = 1.6, lwd = 3, col = blue)
invisible(dev.off())
# Of few colours, it is a third of the size.
if (nzchar(Sys.which("pngquant"))) system2("pngquant", c("--force", "--speed", "1", "--output", "man/figures/mixture.png", "32", "man/figures/mixture.png"))
