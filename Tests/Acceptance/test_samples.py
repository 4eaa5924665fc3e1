"""Every Swift sample of the documentation compiles and runs, with the documented results."""

import re

import pytest

import samples

pytestmark = pytest.mark.part("builds")


def test_every_sample_compiles_and_runs(redial, flaky):
    around = {"SAMPLES_SERVICE": redial().url, "SAMPLES_TARGET": flaky().url + "/charges?fail=1"}
    count = samples.generate()
    assert count > 0
    built = samples.swift("build", "--build-tests", "-q", package=samples.PACKAGE, seconds=900)
    errors = dict.fromkeys(re.findall(r"^\S+:\d+:\d+: error: .*", built.stdout, re.M))
    assert built.returncode == 0, "these samples do not compile:\n" + ("\n".join(errors) or built.stdout[-4000:])

    ran = samples.swift("test", "--skip-build", "--no-parallel", package=samples.PACKAGE, seconds=200, env=around)
    issues = re.findall(r"^✘ .* recorded an issue .*|.*\bFatal error: .*", ran.stdout, re.M)
    last = re.findall(r'^◇ Test "(.*)" started', ran.stdout, re.M)[-1:]
    assert ran.returncode == 0, "\n".join(["these samples fail:", *issues, f"the last to start: {last}"])
    assert f"with {count} tests" in ran.stdout, ran.stdout[-2000:]
