# The two posteriors of sampling.R by Stan itself: python sampling_stan.py FOLDER, with package pystan, called by sampling.R, which
# wrote the data there. For each model a file of draws, one row for each, and a line: its name, seconds of compiling, seconds that
# Stan's four chains say they took (each by one thread, one after the other they would take so long), mean steps of a trajectory.
import json
import pathlib
import re
import sys
import time

import numpy as np
import stan

schools = """
data { int J; vector[J] y; vector<lower=0>[J] se; }
parameters { real mu; real log_tau; vector[J] eta; }
model {
  real tau = exp(log_tau);
  vector[J] z = (y - mu - tau * eta) ./ se;
  target += -0.5 * (dot_self(z) + dot_self(eta) + square(mu / 5)) - log1p(square(tau / 5)) + log_tau;
}
"""
regression = """
data { int N; int K; matrix[N, K] x; array[N] int flags; }
parameters { vector[K] beta; }
model {
  target += bernoulli_logit_glm_lpmf(flags | x, 0, beta) - dot_self(beta) / 50;
}
"""


def measure(name, program, data, draws, warmup):
    start = time.time()
    model = stan.build(program, data=data, random_seed=1)
    compiled = time.time() - start
    fit = model.sample(num_chains=4, num_samples=draws, num_warmup=warmup)
    totals = [re.findall(r"info: *([0-9.e-]+) seconds \(Total\)", chain.decode()) for chain in fit.stan_outputs]
    parameters = [np.atleast_2d(fit[parameter]) for parameter in fit.param_names]  # the chains' first draws, then their second ones
    np.savetxt(folder / (name + "_draws.csv"), np.vstack(parameters).T, delimiter=",")
    print("result", name, compiled, sum(float(t[0]) for t in totals), fit["n_leapfrog__"].mean())


folder = pathlib.Path(sys.argv[1])
data = json.loads((folder / "data.json").read_text())
measure("schools", schools, data["schools"], 3000, 1000)
measure("regression", regression, data["regression"], 250, 250)
