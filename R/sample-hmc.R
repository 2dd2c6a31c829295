# One draw of Hamiltonian Monte Carlo: a trajectory of leapfrog steps from a random momentum, whose end is accepted or
# not. A point of a trajectory has the position `q`, the momentum `r`, and of the density the logarithm and its slope at `q`.

with_momentum <- function(model, metric, state, point) {
  drawn <- nv_rnorm(model$size, state, dtype = model$dtype)
  list(state = drawn[[1L]], z = c(point, list(r = model$metric$momentum(metric, drawn[[2L]]))))
}

leapfrog <- function(model, metric, size, z) {
  half <- z$r + 0.5 * size * z$slope
  point <- model$evaluate(z$q + size * model$metric$times(metric, half))
  c(point, list(r = half + 0.5 * size * point$slope))
}

energy_of <- function(model, metric, z) 0.5 * sum(z$r * model$metric$times(metric, z$r)) - z$value

# How much energy was gained: infinite where the density is not finite.
energy_error <- function(model, metric, z, energy) {
  gained <- energy_of(model, metric, z) - energy
  nv_ifelse(nv_is_finite(gained), gained, Inf)
}
too_much_energy <- 1000
acceptance <- function(error) exp(-nv_max(error, 0))

choose_point <- function(pred, a, b) Map(function(a, b) nv_ifelse(pred, a, b), a, b)

# While warming up a time means little yet, since the metric is not known.
most_steps <- 1000L
most_warmup_steps <- 32L

# As many steps as the time takes, or as are given; their size varies at random, since trajectories of one length could be periodic.
hmc_draw <- function(model, metric, size, state, point, warming) {
  drawn <- with_momentum(model, metric, state, point)
  u <- nv_runif(2L, drawn$state, dtype = model$dtype)
  size <- size * (1 + model$jitter * (2 * u[[2L]][1L] - 1))
  limit <- nv_ifelse(warming, most_warmup_steps, most_steps)
  steps <- model$steps %||% nv_convert(nv_clamp(1, nv_ceil(model$time / size), nv_convert(limit, model$dtype)), "i32")
  start <- drawn$z
  end <- nv_fori(1L, steps, start, function(i, z) leapfrog(model, metric, size, z)[names(z)])
  energy <- energy_of(model, metric, start)
  error <- energy_error(model, metric, end, energy)
  accept <- acceptance(error)
  taken <- u[[2L]][2L] < accept
  point <- choose_point(taken, end[names(point)], point)
  list(
    state = u[[1L]], point = point,
    stats = list(
      value = point$value, accept = accept, steps = steps, divergent = error > too_much_energy,
      energy = energy + nv_ifelse(taken, error, 0)
    )
  )
}
