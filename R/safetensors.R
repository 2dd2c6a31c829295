#' Tensors to and from files
#'
#' `nv_save()`, or by its older name `nv_write()`, writes tensors to a file, `nv_read()` reads them, `nv_serialize()` and `nv_unserialize()` do the same with raw
#' vectors and connections. The format is safetensors, which PyTorch, JAX, NumPy and others read and write: a file holds data
#' and nothing that could run. [saveRDS()] saves tensors, too, among other R objects.
#'
#' A file has a flat list of tensors with names. Of a nested list, such as the parameters of a model, the names are joined, `layer.weight`,
#' and elements of lists without names are counted from 1: `layers.2.bias`. They are joined by the first of `.`, `/`, `:` and `|` that
#' is in no name. Note is taken in the metadata, under `anvil.tree`, so that `nv_read()` gives the nested list again; files
#' of others give a flat one. Also noted are which tensors are [ambiguous], under `anvil.ambiguous`, by lines.
#'
#' Data in files are row-major, those of tensors column-major: element `[i, j]` here is `[i-1, j-1]` in Python.
#'
#' @param tensors A tensor, or a list of tensors, which may be nested, with different names.
#' @param path The name of a file.
#' @param con `NULL` or a binary connection to write to; a raw vector or a binary connection to read from.
#' @param metadata `NULL`, or named strings to write with the tensors.
#' @param device The device, `"cpu"`.
#' @return `nv_save()`: `NULL`, invisibly. `nv_serialize()`: a raw vector or, with a connection, `NULL`, invisibly. `nv_read()` and
#'   `nv_unserialize()`: what was saved, with the same dtypes, shapes and data, in the same
#'   order. Strings in the metadata that are not the package's own are the attribute `metadata` of the list.
#' @section Errors:
#' Of class `anvil_error_argument` where `tensors` are something else, names are missing or occur twice, or there is no such file.
#' Of class `anvil_error_safetensors` where the data are not valid, before anything is made of them: where the header or
#' the data are cut off, there are holes, overlaps or more data, sizes do not fit, or a dtype is unknown (as are floats of 8 bits).
#' @export
#' @examples
#' parameters <- list(weight = nv_tensor(matrix(1:6, 2), "bf16"), bias = nv_tensor(c(0.5, 1)))
#' file <- tempfile(fileext = ".safetensors")
#' nv_save(parameters, file, metadata = c(epoch = "3"))
#' nv_read(file)
#'
#' bytes <- nv_serialize(list(a = nv_scalar(1), b = list(c = nv_scalar(2L))))
#' nv_unserialize(bytes)$b
nv_save <- function(tensors, path, metadata = NULL) {
  check_string(path)
  parts <- file_parts(tensors, metadata)
  if (dir.exists(path)) abort_anvil("argument", sprintf("`path` is \"%s\", which is a folder.", path))
  if (!dir.exists(dirname(path))) abort_anvil("argument", sprintf("`path` is \"%s\", but there is no such folder.", path))
  con <- file(path, "wb")
  tryCatch(write_parts(parts, con), finally = close(con))
  if (!isTRUE(file.size(path) == parts$bytes)) { # what is written when it is closed gives no error
    abort_anvil("argument", sprintf("The file \"%s\" could not be written completely.", path), "i Is there space left on the device?")
  }
  invisible()
}

#' @rdname nv_save
#' @export
nv_write <- nv_save

#' @rdname nv_save
#' @export
nv_serialize <- function(tensors, con = NULL, metadata = NULL) {
  parts <- file_parts(tensors, metadata)
  if (!is.null(con)) {
    if (!inherits(con, "connection")) wrong_argument("con", "NULL or a binary connection", con)
    return(invisible(write_parts(parts, con)))
  }
  bytes_written(function(con) write_parts(parts, con))
}

#' @rdname nv_save
#' @export
nv_read <- function(path, device = NULL) {
  check_string(path)
  check_device(device)
  if (!file.exists(path) || dir.exists(path)) abort_anvil("argument", sprintf("There is no file \"%s\".", path))
  con <- file(path, "rb") # opened at once, it is read as it is and not decompressed
  on.exit(close(con))
  read_from(con, file.size(path))
}

#' @rdname nv_save
#' @export
nv_unserialize <- function(con, device = NULL) {
  check_device(device)
  if (inherits(con, "connection")) {
    return(read_from(con, NULL))
  }
  if (!is.raw(con)) wrong_argument("con", "a raw vector or a binary connection", con)
  n <- header_length(utils::head(con, 8L), length(con))
  header <- read_header(con[8 + seq_len(n)], length(con) - 8 - n)
  saved_tensors(header, Map(tensor_at, list(con), header$types, 8 + n + header$begins))
}

# --- writing ------------------------------------------------------------------------------------

# What a file consists of: the header, the tensors in the order of their bytes, and the size of it all.
file_parts <- function(tensors, metadata) {
  check_metadata(metadata)
  flat <- if (is_value(tensors)) list(tensor = concrete(tensors, "tensors")) else flat_tensors(tensors)
  if (is_value(tensors)) metadata <- c(metadata, anvil.tree = "tensor")
  if (!is.null(attr(flat, "joined_by"))) metadata <- c(metadata, anvil.tree = attr(flat, "joined_by"))
  ambiguous <- vapply(flat, ambiguous, NA)
  if (any(ambiguous)) metadata <- c(metadata, anvil.ambiguous = paste(names(flat)[ambiguous], collapse = "\n"))
  types <- lapply(flat, type_tag)
  bytes <- vapply(types, bytes_of_type, 1)
  order <- order(vapply(types, function(type) -dtype_sizes[[type[1L] + 1L]]$bytes, 1L)) # large elements first, so that all are aligned
  end <- bytes
  end[order] <- cumsum(bytes[order])
  dtypes <- vapply(types, function(type) safetensors_dtype(type[1L]), "")
  shapes <- vapply(types, function(type) paste(format_whole(type[-(1:2)]), collapse = ","), "")
  entries <- sprintf(
    "%s:{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%s,%s]}", json_string(names(flat)), dtypes, shapes,
    format_whole(end - bytes), format_whole(end)
  )
  if (length(metadata)) {
    entries <- c(sprintf("\"__metadata__\":{%s}", paste0(json_string(names(metadata)), ":", json_string(metadata), collapse = ",")), entries)
  }
  header <- charToRaw(paste0("{", paste(entries, collapse = ","), "}"))
  header <- c(header, rep(charToRaw(" "), -length(header) %% 8))
  head <- c(as.raw(c(length(header) %/% 256^(0:3) %% 256, 0, 0, 0, 0)), header)
  list(head = head, tensors = flat[order], bytes = length(head) + sum(bytes))
}

safetensors_dtype <- function(code) toupper(sub("^ui", "u", names(dtype_codes)[code + 1L]))

#' @rawNamespace
#' S3method(safetensors::safe_tensor_meta, AnvilValue, safetensors_meta)
#' S3method(safetensors::safe_tensor_buffer, AnvilValue, safetensors_buffer)
NULL

safetensors_meta <- function(x) list(shape = as.list(shape(x)), dtype = safetensors_dtype(type_tag(x)[1L]))
safetensors_buffer <- function(x) as_raw(x, row_major = TRUE)

write_parts <- function(parts, con) {
  opened(con, "wb")
  write_bytes(parts$head, con)
  for (x in parts$tensors) write_bytes(as_raw(x, row_major = TRUE), con)
  NULL
}

# A connection that was not open is so for the rest of the caller's frame, and gone then, as all connections that R opens.
opened <- function(con, mode, envir = parent.frame()) {
  if (!isOpen(con)) {
    open(con, mode)
    defer(close(con), envir)
  }
}

bytes_written <- function(write) {
  con <- rawConnection(raw(), "wb")
  on.exit(close(con))
  write(con)
  rawConnectionValue(con)
}

# R reads and writes less than 2^31 bytes at a time.
most_bytes <- 2^30

write_bytes <- function(bytes, con) {
  if (length(bytes) <= most_bytes) {
    return(writeBin(bytes, con))
  }
  for (at in seq(0, length(bytes) - 1, most_bytes)) writeBin(bytes[seq(at + 1, min(at + most_bytes, length(bytes)))], con)
}

format_whole <- function(x) sprintf("%.0f", as.double(x))

json_string <- function(x) {
  x <- gsub("([\\\\\"])", "\\\\\\1", enc2utf8(as.character(x)))
  for (code in c(1:31)) x <- gsub(intToUtf8(code), sprintf("\\u%04x", code), x, fixed = TRUE)
  paste0("\"", x, "\"")
}

check_metadata <- function(metadata) {
  if (is.null(metadata)) {
    return(invisible())
  }
  labels <- names(metadata)
  if (!is.character(metadata) || is.object(metadata) || is.null(labels) || !all(nzchar(labels)) || anyDuplicated(labels)) {
    wrong_argument("metadata", "NULL or strings with different names", metadata)
  }
  if (any(grepl("^anvil[.]", labels))) abort_anvil("argument", "Names in `metadata` must not begin with `anvil.`: the package uses them.")
  check_text(c(metadata, labels), "metadata")
}

check_text <- function(x, name) {
  wrong <- is.na(x) | !validUTF8(enc2utf8(x))
  if (any(wrong)) {
    got <- sprintf("x Got %s.", encodeString(x[wrong][1L], quote = "\""))
    abort_anvil("argument", sprintf("`%s` must have names and strings that are text in UTF-8.", name), got)
  }
}

separators <- c(".", "/", ":", "|")

# The tensors of a nested list, by joined names. Where there are lists in it, `joined_by` says by what.
flat_tensors <- function(x) {
  if (!is_container(x) || is.data.frame(x)) wrong_argument("tensors", "a tensor, or a list of tensors with names", x)
  if (length(x) && is.null(names(x))) abort_anvil("argument", "The tensors of the list `tensors` must have names.")
  check_lists(x)
  if (!any(vapply(x, is_container, NA))) {
    return(x)
  }
  free <- !vapply(separators, function(mark) any(grepl(mark, unlist(names_throughout(x)), fixed = TRUE)), NA)
  if (!any(free)) {
    abort_anvil("argument", "The names of the nested list `tensors` cannot be joined.", "x Each of `.`, `/`, `:` and `|` is in some of them.")
  }
  mark <- separators[free][1L]
  structure(joined_names(x, "", mark), joined_by = mark)
}

names_throughout <- function(x) if (is_container(x)) c(names(x), lapply(x, names_throughout))

joined_names <- function(x, prefix, mark) {
  labels <- paste0(prefix, names(x) %||% seq_along(x))
  parts <- Map(function(part, label) {
    if (is_container(part)) joined_names(part, paste0(label, mark), mark) else stats::setNames(list(part), label)
  }, x, labels)
  do.call(c, unname(parts))
}

# What a file cannot hold so that it comes back as it was.
check_lists <- function(x, path = "tensors", depth = 1L) {
  refuse <- function(...) abort_anvil("argument", "`tensors` must be a tensor, or a list of tensors with names.", ...)
  labels <- names(x)
  at <- paste0("`", path, "`")
  if (depth > most_depth) refuse(sprintf("x There are more than %d lists in each other.", most_depth))
  if (!is.null(labels)) {
    check_text(labels, "tensors")
    if (!all(nzchar(labels))) refuse(sprintf("x Some elements of %s have no names.", at))
    if (anyDuplicated(labels)) refuse(sprintf("x The name `%s` occurs twice in %s.", labels[duplicated(labels)][1L], at))
    if (any(grepl("[[:cntrl:]]", labels))) refuse(sprintf("x A name in %s has a control character.", at))
    if (depth == 1L && "__metadata__" %in% labels) refuse("x `__metadata__` is the name of something else in the format.")
    if (depth > 1L && setequal(labels, seq_along(x))) {
      refuse(sprintf("x The names of %s are just numbers, which stand for a list without names.", at))
    }
  }
  for (k in seq_along(x)) {
    label <- if (is.null(labels)) sprintf("%s[[%d]]", path, k) else paste0(path, "$", labels[k])
    if (is_container(x[[k]]) && length(x[[k]])) {
      check_lists(x[[k]], label, depth + 1L)
    } else if (!is_tensor(x[[k]])) {
      if (is_value(x[[k]])) concrete(x[[k]], label)
      refuse(sprintf("x `%s` is %s.", label, describe_value(x[[k]])))
    }
  }
}

# --- reading ------------------------------------------------------------------------------------

invalid_file <- function(what) abort_anvil("safetensors", "These are no valid safetensors data.", paste("x", what))

most_header <- 1e8

# From the first 8 bytes of so many; NULL: nobody knows how many there are.
header_length <- function(bytes, size) {
  if (length(bytes) < 8L || isTRUE(size < 8)) invalid_file("They have less than 8 bytes.")
  length <- sum(as.integer(bytes) * 256^(0:7))
  if (!is.null(size) && length > size - 8) {
    invalid_file(sprintf("The header should have %.0f bytes, but only %.0f are there.", length, size - 8))
  }
  if (length > most_header) invalid_file(sprintf("The header should have %.0f bytes; the most are %.0f.", length, most_header))
  length
}

# What the header says, the types with their ambiguity.
read_header <- function(bytes, follow) {
  header <- .Call(C_anvil_safetensors, bytes, follow)
  ambiguous <- header$names %in% strsplit(noted(header, "anvil.ambiguous"), "\n", fixed = TRUE)[[1L]]
  header$types[ambiguous] <- lapply(header$types[ambiguous], replace, 2L, 1L)
  header
}

noted <- function(header, key) if (key %in% names(header$metadata)) header$metadata[[key]] else ""

# From a connection with so many bytes, NULL where that is not known. Each tensor is put into its order
# once its bytes are there.
read_from <- function(con, size) {
  opened(con, "rb")
  known <- !is.null(size)
  n <- header_length(read_bytes(con, 8, TRUE), size)
  header <- read_header(read_bytes(con, n, known), if (known) size - 8 - n)
  tensors <- vector("list", length(header$names))
  bytes <- vapply(header$types, bytes_of_type, 1)
  for (k in order(header$begins, bytes)) {
    tensors[[k]] <- tensor_at(read_bytes(con, bytes[k], known), header$types[[k]])
  }
  saved_tensors(header, tensors)
}

bytes_of_type <- function(type) prod(type[-(1:2)]) * dtype_sizes[[type[1L] + 1L]]$bytes

# Memory is taken for what is known to be there, and else for what has come.
read_bytes <- function(con, n, known) {
  piece <- if (known) most_bytes else 2^24
  next_bytes <- function() {
    bytes <- readBin(con, "raw", min(n, piece))
    if (n > 0 && !length(bytes)) invalid_file(sprintf("They end %.0f bytes too early.", n))
    n <<- n - length(bytes)
    bytes
  }
  first <- next_bytes()
  if (n == 0) {
    return(first)
  }
  bytes_written(function(to) {
    writeBin(first, to)
    while (n > 0) writeBin(next_bytes(), to)
  })
}

tensor_at <- function(bytes, type, at = 0) .Call(C_anvil_from_raw, bytes, type, TRUE, "AnvilTensor", at)

# What was saved, of the header and the tensors.
saved_tensors <- function(header, tensors) {
  tree <- noted(header, "anvil.tree")
  if (tree == "tensor" && length(tensors) == 1L) {
    return(tensors[[1L]])
  }
  if (length(tensors)) names(tensors) <- header$names
  if (tree %in% separators) tensors <- nested(tensors, strsplit(paste0(header$names, tree), tree, fixed = TRUE))
  others <- header$metadata[!grepl("^anvil[.]", names(header$metadata))]
  if (length(others)) attr(tensors, "metadata") <- others
  tensors
}

# A nested list by the parts of the names. A list whose elements are just counted has no names.
nested <- function(leaves, parts, depth = 1L) {
  left <- lengths(parts) >= depth
  if (length(leaves) == 1L && !left) {
    return(leaves[[1L]])
  }
  first <- vapply(parts, `[`, "", depth)
  if (!all(left & nzchar(first)) || depth > most_depth) invalid_file("The names do not make the nested list that the metadata tell of.")
  labels <- unique(first)
  groups <- split(seq_along(leaves), factor(first, labels))
  x <- lapply(unname(groups), function(own) nested(leaves[own], parts[own], depth + 1L))
  if (depth > 1L && identical(labels, as.character(seq_along(labels)))) x else stats::setNames(x, labels)
}

most_depth <- 100L
