# ANVIL_PROGRAMS: how many random programs to run; ANVIL_PROGRAMS_SEED: where to begin.

test_that("random programs give the same at once, compiled and in base R, values and gradients", {
  skip_on_cran()
  count <- as.integer(Sys.getenv("ANVIL_PROGRAMS", "150"))
  first <- as.integer(Sys.getenv("ANVIL_PROGRAMS_SEED", "1"))
  seeds <- seq(first, length.out = count)
  found <- unlist(lapply(split(seeds, (seeds - first) %/% 30L), check_programs))
  expect_identical(as.character(found), character())
})

test_that("the programs are what they are meant to be", {
  programs <- lapply(1:150, random_program)
  texts <- vapply(programs, program_text, "")
  expect_identical(texts, vapply(1:150, function(seed) program_text(random_program(seed)), ""))
  for (part in c("%*%", "nv_matmul", "nv_while", "nv_if", "nv_sort", "nv_cumsum", "nv_pad", "crossprod", "nv_rbind", "nv_mean", "nv_var", "] <-", "nv_broadcast_to", "nv_concatenate", "array(c(")) {
    expect_gt(sum(grepl(part, texts, fixed = TRUE)), 2L, label = part)
  }
  wrong <- programs[[1L]]
  wrong$lines <- c(wrong$lines, "z99 <- if (inherits(x, \"GraphBox\")) x * 1.0001 else x")
  wrong$shapes$z99 <- wrong$shapes$x
  expect_match(check_program(wrong), "seed 1, f64 .*compiled and at once")
})
