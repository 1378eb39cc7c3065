"""The samplers on one GPU: the same draws as on the CPU, and the same bytes.

`steps` and `phi_steps` are what the loop of `polyaurn.chain.loop` calls, `held` what it passes on,
`backend` the facts about the device, and a file per sampler puts them together. Everything else
here is what they are made of: kernels for Phi (`phi`), for topics (`z_short`, `z_long`, `tokens`),
how they read Phi (`columns`), the corpus on the device (`layout`, `buckets`), random variates
(`variates`), what lanes do together (`warp`), the log posterior (`log_posterior`), and errors of
the device (`failures`). New documents have kernels of their own (`fold_in`, `new_documents`).
"""
