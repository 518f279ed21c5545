"""Starts programs that load TensorFlow as forks of one process that has loaded it.

Where ``TFMIGRATE_TEST_FORKS`` names the socket of that process, a Python that is to run
such a program hands it over as it starts: arguments, variables, folder and streams. It
waits then, passes signals on, and ends as the program ends. When it is killed, so is the
program. The process that forks is started with the first program; Python 3 sees the
modules of TensorFlow loaded in there, and ``TF_ENABLE_ONEDNN_OPTS`` is 0 in all of them.
"""

import json
import os
import re
import select
import signal
import socket
import sys

SOCKET = "TFMIGRATE_TEST_FORKS"
REPLICAS = "TFMIGRATE_TEST_REPLICAS"
VARIABLES = {
    "CUDA_VISIBLE_DEVICES": "-1",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "TF_ENABLE_ONEDNN_OPTS": "0",
}
_LOADS = re.compile(
    r"(?m)^\s*(?:import|from) +(?:tensorflow|tf_keras|keras|tfmigrate\.compat)\b"
)
# Files of ours that load TensorFlow by what they import.
_OURS = re.compile(r"(?:launcher/start|instruments/\w+_program)\.py$")


# ----------------------------------------------------- the Python that hands over


def hand_over():
    """Let a fork run what this Python was started for, where it would load TensorFlow."""
    address, argv = os.environ.get(SOCKET), sys.orig_argv[1:]
    kernels = os.environ.get("TF_ENABLE_ONEDNN_OPTS", "0")
    if not address or kernels != "0" or not _loads_tensorflow(argv):
        return
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(address)
    job = {"argv": argv, "environment": dict(os.environ), "folder": os.getcwd()}
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: connection.send(bytes([number])))
    socket.send_fds(connection, [b"0"], [0, 1, 2])
    connection.sendall(json.dumps(job).encode() + b"\n")
    status = int(connection.makefile().readline() or 1)
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


def _loads_tensorflow(argv):
    if len(argv) > 1 and argv[0] == "-c":
        return bool(_LOADS.search(argv[1]))
    script = argv[0] if argv else "-"
    if len(argv) > 1 and script == "-m":
        script = argv[1].replace(".", "/") + ".py"
        if argv[1].startswith("tfmigrate.verify.instruments."):
            return True
    if script.startswith("-") or not os.path.isfile(script):
        return False
    with open(script, encoding="utf-8", errors="replace") as file:
        return bool(_OURS.search(script) or _LOADS.search(file.read()))


# ------------------------------------------------------------- the process that forks


def start():
    """Have programs that are started from here on run in forks."""
    import atexit
    import shutil
    import subprocess
    import tempfile

    if not _STARTED:
        # The path of a socket has a hundred letters at most.
        short = "/tmp" if len(tempfile.gettempdir()) > 60 else None
        folder = tempfile.mkdtemp(prefix="tfmigrate-forks-", dir=short)
        address = os.path.join(folder, "socket")
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(address)
        listener.listen(64)
        process = subprocess.Popen(
            [sys.executable, __file__, str(listener.fileno())],
            stdin=subprocess.PIPE,
            pass_fds=[listener.fileno()],
            env={**os.environ, **VARIABLES},
        )
        atexit.register(shutil.rmtree, folder)
        _STARTED.extend((address, process))
    os.environ[SOCKET] = _STARTED[0]


# The address, and the process, which ends with this one.
_STARTED = []


def _serve(listener):
    """Hand each connection to a fork, which keeps the program, until stdin ends."""
    import gc

    import keras  # noqa: F401
    import tensorflow  # noqa: F401
    import tf_keras  # noqa: F401

    gc.collect()
    gc.freeze()
    kept = set()
    while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
        connection, _ = listener.accept()
        keeper = os.fork()
        if not keeper:
            listener.close()
            _keep(connection)
        connection.close()
        kept = {each for each in kept if not os.waitpid(each, os.WNOHANG)[0]} | {keeper}


def _keep(connection):
    """Run the program in a fork of this one, until it ends or is not waited for."""
    _, streams, *_ = socket.recv_fds(connection, 1, 3)
    job = json.loads(connection.makefile().readline())
    child = os.fork()
    if not child:
        connection.close()
        _run(job, streams)
    ended = 0
    while not ended:
        if select.select([connection], [], [], 0.02)[0]:
            told = connection.recv(1)
            if not told:
                os.killpg(child, signal.SIGKILL)
                os._exit(0)
            os.kill(child, told[0])
        ended, status = os.waitpid(child, os.WNOHANG)
    connection.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
    os._exit(0)


def _run(job, streams):
    import atexit

    status = 1
    try:
        os.setpgid(0, 0)
        atexit._clear()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.environ.clear()
        os.environ.update(job["environment"])
        os.chdir(job["folder"])
        folders = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        sys.path[1:1] = [each for each in folders if each and each not in sys.path]
        if os.environ.get("PYTHONUNBUFFERED"):
            sys.stdout.reconfigure(write_through=True)
        _arm_at_once()
        status = _status_of(job["argv"])
        atexit._run_exitfuncs()
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        # Without the interpreter's own end: threads that a fork does not have are
        # waited for there.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _arm_at_once():
    """The clone of TF 1.15 waits for TensorFlow's import, which is behind us."""
    from tfmigrate.compat.launcher import trigger

    def arm(settings):
        os.environ["TF_USE_LEGACY_KERAS"] = "1"
        trigger.prepare_tensorflow(settings)

    trigger.arm = arm


def _status_of(argv):
    """Run what these arguments of Python name; its exit status."""
    import runpy
    import types

    replicas = os.environ.pop(REPLICAS, "")
    if replicas:
        from tfmigrate.verify.instruments.tf2_devices import use_cpu_replicas

        use_cpu_replicas(int(replicas))
    sys.modules["__main__"] = main = types.ModuleType("__main__")
    try:
        if argv[0] == "-m":
            sys.argv, sys.path[0] = argv[1:], os.getcwd()
            runpy._run_module_as_main(argv[1])
        elif argv[0] == "-c":
            sys.argv, sys.path[0] = ["-c", *argv[2:]], ""
            exec(compile(argv[1], "<string>", "exec"), vars(main))
        else:
            sys.argv, sys.path[0] = argv, os.path.dirname(os.path.abspath(argv[0]))
            main.__file__ = argv[0]
            with open(argv[0], "rb") as file:
                text = file.read()
            exec(compile(text, argv[0], "exec"), vars(main))
    except SystemExit as ending:
        if ending.code is not None and not isinstance(ending.code, int):
            print(ending.code, file=sys.stderr)
            return 1
        return ending.code or 0
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__.tb_next)
        return 1
    return 0


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
