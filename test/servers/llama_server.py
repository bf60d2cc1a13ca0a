"""llama.cpp's own HTTP server in this process: python llama_server.py MODEL PORT."""

import sys
import time

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.hostnames = ["127.0.0.1"]
params.port = int(sys.argv[2])
params.n_ctx = 2048
params.n_parallel = 1
params.cpuparams.n_threads = 1
server = xllamacpp.Server(params)
print(server.listening_address if hasattr(server, "listening_address") else "started", flush=True)
while True:
    time.sleep(1)
