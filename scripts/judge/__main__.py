"""`lookcheck judge`: run a judge, and see how far to trust it."""

from __future__ import annotations

from lookcheck.scripts import console
from lookcheck.scripts.judge.agreement import judge_agreement
from lookcheck.scripts.judge.benchmark import benchmark
from lookcheck.scripts.judge.run import run

app = console.new_app("Judge free-form answers with a language model, and check the judge against people.")

app.command("run", short_help="Turn answers into verdicts.")(run)
app.command("agreement", short_help="Compare verdicts with people's.")(judge_agreement)
app.command("benchmark", short_help="Measure judgements a second.")(benchmark)

if __name__ == "__main__":
    console.run(app)
