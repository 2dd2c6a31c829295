# One draw of the no-U-turn sampler (Hoffman and Gelman, 2014), multinomial as in Betancourt (2017): a trajectory is doubled,
# forwards or backwards at random, until its ends come closer to each other, and one of its points is drawn by
# their densities. The recursion is a loop over the points of a doubling (Phan, Pradhan and Jankowiak, 2019): where the binary
# number of a point ends in ones, subtrees end with it, one for each of them, whose first points are kept by their level.

nuts_draw <- function(model, metric, size, state, point, warming) {
  drawn <- with_momentum(model, metric, state, point)
  start <- drawn$z
  energy <- energy_of(model, metric, start)
  zero <- energy - energy
  tree <- list(
    left = start[c("q", "r", "slope")], right = start[c("q", "r", "slope")], chosen = c(point, list(energy = energy)), sum = start$r,
    weight = zero, accept = zero, steps = 0L, depth = 0L, go = TRUE, divergent = FALSE
  )
  tree$kept <- no_checkpoints(model)
  found <- nv_while(
    list(tree = tree, state = drawn$state), function(tree, state) tree$go & tree$depth < model$max_depth,
    function(tree, state) doubled(model, metric, size, tree, state, energy)
  )
  tree <- found$tree
  list(
    state = found$state, point = tree$chosen[names(point)],
    stats = list(
      value = tree$chosen$value, accept = tree$accept / tree$steps, steps = tree$steps, divergent = tree$divergent,
      energy = tree$chosen$energy
    )
  )
}

# The tree with a subtree of the same depth beside it. Among both, points of the new one are favoured.
doubled <- function(model, metric, size, tree, state, energy) {
  u <- nv_runif(2L, state, dtype = model$dtype)
  forwards <- u[[2L]][1L] < 0.5
  from <- choose_point(forwards, tree$right, tree$left)
  made <- subtree(model, metric, size * nv_ifelse(forwards, 1, -1), from, tree, u[[1L]], energy)
  new <- made$new
  whole <- new$go
  taken <- whole & log(u[[2L]][2L]) < new$weight - tree$weight
  right <- choose_point(forwards, new$end, tree$right)
  left <- choose_point(forwards, tree$left, new$end)
  sum <- tree$sum + new$sum
  list(tree = list(
    left = left, right = right, chosen = choose_point(taken, new$chosen, tree$chosen), sum = sum, weight = log_add(tree$weight, new$weight),
    accept = tree$accept + new$accept, steps = tree$steps + new$n, depth = tree$depth + 1L,
    go = whole & !turns(model, metric, left$r, right$r, sum), divergent = new$divergent, kept = made$kept
  ), state = made$state)
}

subtree <- function(model, metric, size, from, tree, state, energy) {
  points <- nv_shift_left(nv_scalar(1L), tree$depth)
  zero <- energy - energy
  new <- list(
    end = from, chosen = tree$chosen, sum = nv_fill(0, model$size, dtype = model$dtype), weight = zero - Inf, accept = zero, n = 0L,
    go = TRUE, divergent = FALSE
  )
  nv_while(
    list(new = new, kept = tree$kept, state = state), function(new, kept, state) new$go & new$n < points,
    function(new, kept, state) {
      z <- leapfrog(model, metric, size, new$end)
      error <- energy_error(model, metric, z, energy)
      u <- nv_runif(integer(), state, dtype = model$dtype)
      weight <- log_add(new$weight, -error)
      sum <- new$sum + z$r
      place <- checkpoint_places(new$n)
      kept <- with_checkpoint(kept, place, z$r, sum)
      divergent <- error > too_much_energy
      list(
        new = list(
          end = z[names(new$end)],
          chosen = choose_point(log(u[[2L]]) < -error - weight, c(z, list(energy = energy + error))[names(new$chosen)], new$chosen),
          sum = sum, weight = weight, accept = new$accept + acceptance(error), n = new$n + 1L,
          go = !divergent & !turns_inside(model, metric, kept, place, z$r, sum), divergent = divergent
        ), kept = kept, state = u[[1L]]
      )
    }
  )
}

log_add <- function(a, b) {
  larger <- nv_max(a, b)
  larger + nv_ifelse(nv_is_finite(larger), nv_log1p(exp(-abs(a - b))), 0)
}

# ---- U-turns -----------------------------------------------------------------------------

# Betancourt's criterion with the sum of the momenta in the place of the distance; half of both ends is left out, as an integral by the
# rule of trapezoids does, since otherwise trajectories may turn full circles unnoticed.
turns <- function(model, metric, first, last, sum) {
  along <- model$metric$times(metric, sum - 0.5 * (first + last))
  sum(along * first) <= 0 | sum(along * last) <= 0
}

# Of each level the momentum of a subtree's first point, and the sum of those up to it; a last column takes what nobody reads.
no_checkpoints <- function(model) {
  zero <- nv_fill(0, c(model$size, model$max_depth + 1L), dtype = model$dtype)
  list(r = zero, sum = zero)
}

# For the point of number n, from 0: the level of its last subtree of two, and the first level of those that end with it.
checkpoint_places <- function(n) {
  level <- nv_popcnt(nv_shift_right_logical(n, 1L)) + 1L
  ending <- nv_popcnt(nv_xor(n, n + 1L)) - 1L
  list(level = level, first = level - ending + 1L, begins = ending == 0L)
}

with_checkpoint <- function(kept, place, r, sum) {
  spare <- shape(kept$r)[2L]
  at <- nv_ifelse(place$begins, place$level, spare)
  put <- function(x, column) record("dynamic_update_slice", list(x, nv_unsqueeze(column, 2L), 1L, at))
  list(r = put(kept$r, r), sum = put(kept$sum, sum))
}

turns_inside <- function(model, metric, kept, place, r, sum) {
  column <- function(x, at) nv_reshape(record("dynamic_slice", list(x, 1L, at), list(slice_sizes = c(model$size, 1L))), model$size)
  nv_while(
    list(level = place$level, turned = FALSE), function(level, turned) !turned & level >= place$first,
    function(level, turned) {
      first <- column(kept$r, level)
      list(level = level - 1L, turned = turns(model, metric, first, r, sum - column(kept$sum, level) + first))
    }
  )$turned
}
