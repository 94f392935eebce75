"""A pipeline of one query: it runs a batch, and nothing of the checker or the prover is loaded."""

import sys

import pandas as pd

from streamproof.spark_bindings import Pipeline, Query, spark_session

pipeline = Pipeline(
    "shop",
    channels={"orders": "customer long, cents long", "firsts": "customer long, cents long"},
    queries=[
        Query(
            "first_orders",
            inputs=("orders",),
            output="firsts",
            plan=lambda orders: orders.dropDuplicates(["customer"]),
        ),
    ],
)
customers = {"customer": [1, 2, 1], "cents": [20, 30, 40]}
with pipeline.start(spark_session()):
    pipeline.channel("orders").append(pd.DataFrame(customers))
    pipeline.await_idle()
    pipeline.await_snapshot(pipeline.snapshot())
loaded = {name.partition(".")[0] for name in sys.modules}
assert not loaded & {"z3", "numba", "llvmlite"}, loaded
print(sorted(pipeline.channel("firsts").rows().column("customer").to_pylist()))
