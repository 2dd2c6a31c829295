# The R calls that a part of a compiled program comes from, as people read them.

# One line for each place. What is part of another call there is left out: `exp(x)` of `exp(x) + 1`.
origin_lines <- function(calls) {
  calls <- unique(calls[!vapply(calls, is.null, NA)])
  places <- vapply(calls, call_place, "")
  lines <- vapply(unique(places), function(place) {
    here <- lapply(calls[places == place], `attr<-`, "srcref", NULL)
    texts <- vapply(here, call_text, "")
    inner <- unlist(lapply(here, function(call) lapply(as.list(call), inner_texts)))
    texts <- unique(texts[!texts %in% inner])
    paste0(shortened(texts, 4L, ", "), if (nzchar(place)) paste(" at", place))
  }, "")
  unname(lines)
}

# Of a call and of all that stand in it.
inner_texts <- function(x) if (is.call(x)) c(call_text(x), unlist(lapply(as.list(x), inner_texts)))

shortened <- function(texts, most, between) {
  more <- length(texts) - most
  if (more > 0L) texts <- c(utils::head(texts, most), sprintf("and %d more", more))
  paste(texts, collapse = between)
}

cut_short <- function(texts, width) ifelse(nchar(texts) > width, paste0(substr(texts, 1L, width - 3L), "..."), texts)

# Called by the core: comments above the nests of a loop program.
origin_text <- function(calls) shortened(origin_lines(calls), 8L, "\n")

# The nests of a compiled program as a data frame; `columns` comes from the core.
nest_table <- function(columns) {
  what <- ifelse(columns$kind == "call", columns$name, columns$kind)
  data.frame(
    nest = seq_along(what), from = vapply(columns$calls, function(x) paste(origin_lines(x), collapse = "; "), ""),
    what = what, steps = columns$steps, schedule = columns$schedule,
    flops = columns$flops + columns$wide_flops, bytes = columns$bytes
  )
}

described_nest <- function(x) {
  trimws(paste0(x$what, ifelse(nzchar(x$steps), paste0(" ", x$steps), ""), ifelse(nzchar(x$schedule), paste0(", ", x$schedule), "")))
}

# Lines of a table whose columns are texts, those in `right` set to the right; below each row the R calls.
nest_lines <- function(columns, right, from) {
  cells <- mapply(function(texts, label) {
    format(c(label, texts), justify = if (label %in% right) "right" else "left")
  }, columns, names(columns), SIMPLIFY = FALSE)
  rows <- trimws(do.call(paste, c(unname(cells), sep = "  ")), "right")
  below <- ifelse(nzchar(from), paste0("\n", strrep(" ", 6L), cut_short(from, max(40L, cli::console_width() - 10L))), "")
  unlist(strsplit(paste0(rows, c("", below)), "\n"))
}
