# Documents in Markdown whose R code shows what it prints, on lines that begin with "#>".

# The lines of a document with what its R code prints now. The blocks are run in order, as in a session.
with_results <- function(lines, envir = new.env(parent = globalenv())) {
  starts <- grep("^```r$", lines)
  ends <- vapply(starts, function(i) i + grep("^```$", lines[-seq_len(i)])[1L], 1L)
  at <- 1L
  made <- character()
  for (k in seq_along(starts)) {
    code <- lines[seq.int(starts[k] + 1L, length.out = ends[k] - starts[k] - 1L)]
    made <- c(made, lines[at:starts[k]], with_printed(code[!startsWith(code, "#>")], envir))
    at <- ends[k]
  }
  c(made, lines[at:length(lines)])
}

with_printed <- function(code, envir) {
  calls <- parse(text = code, keep.source = TRUE)
  lasts <- vapply(attr(calls, "srcref"), function(place) as.integer(place)[3L], 1L)
  made <- character()
  at <- 0L
  for (k in seq_along(calls)) {
    printed <- utils::capture.output({
      result <- withVisible(eval(calls[[k]], envir))
      if (result$visible) print(result$value)
    })
    made <- c(made, code[seq.int(at + 1L, length.out = lasts[k] - at)], if (length(printed)) sub(" +$", "", paste("#>", printed)))
    at <- lasts[k]
  }
  c(made, code[seq.int(at + 1L, length.out = length(code) - at)])
}
