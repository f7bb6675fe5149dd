"""What holds for every test: interrupts work, and large products of parameters run pairwise."""

import signal

from tests.pairwise import covering

# A job in the background of a script ignores interrupts, and so would the commands tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)

FEW = 12  # cases of one test that are all run
WHOLE = ("tests/golden/", "tests/paper/", "tests/test_accuracy.py")  # every number counts


def pytest_addoption(parser):
    parser.addoption("--all-cases", action="store_true", help="run whole products of parameters")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--all-cases"):
        return
    tests = {}
    for item in items:
        if item.nodeid.startswith(WHOLE) and not any(item.iter_markers("in_turn")):
            continue
        if hasattr(item, "callspec") and len(item.callspec.params) > 1:
            tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
    left_out = set()
    for cases in tests.values():
        in_turn = any(cases[0].iter_markers("in_turn"))
        if in_turn or len(cases) > FEW:
            values = [{n: repr(v) for n, v in case.callspec.params.items()} for case in cases]
            kept = {cases[k] for k in covering(values, in_turn=in_turn)}
            kept |= {case for case in cases if any(case.iter_markers("xfail"))}
            left_out |= set(cases) - kept
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=sorted(left_out, key=lambda item: item.nodeid))
