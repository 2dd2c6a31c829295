test_that("the places of a matrix are found from few products", {
  withr::local_seed(8)
  made <- 0L
  places <- function(dense) {
    made <<- 0L
    products <- function(seeds) {
      made <<- made + sum(colSums(seeds != 0) > 0)
      dense %*% seeds != 0
    }
    found <- places_by_halving(nrow(dense), products)
    expect_identical(anyDuplicated(found), 0L)
    expect_setequal(found[, 1L] + nrow(dense) * found[, 2L], which(dense != 0, arr.ind = TRUE) %*% c(1, nrow(dense)))
    made
  }
  band <- function(n, width) (abs(outer(seq_len(n), seq_len(n), "-")) <= width) * 1.5
  expect_lt(places(band(300, 1)), 60)
  expect_lt(places(band(600, 1)), 66)
  expect_lt(places(diag(500)), 20)
  expect_lt(places(band(90, 3)), 90)
  expect_lte(places(matrix(1, 40, 40)), 3 * 40)
  arrow <- diag(50)
  arrow[1L, ] <- arrow[, 1L] <- 2
  places(arrow)
  places(matrix(0, 3, 3))
  places(matrix(1, 1, 1))
  for (count in c(1, 40, 400)) places(replace(matrix(0, 70, 70), sample.int(4900, count), 1))
})
