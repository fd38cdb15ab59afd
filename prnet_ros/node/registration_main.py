"""The program of the registration process and of the map process: serves one channel, ends with the node."""

import ctypes
import os
import signal
import sys
import traceback

from prnet_ros.node.channel import Channel, ChannelClosed

_PR_SET_PDEATHSIG = 1  # of Linux's prctl


def main() -> None:
    """Serve the node until it ends. Arguments: the node's process id, and the descriptors of the channel."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole process group; the node decides
    parent, *descriptors = map(int, sys.argv[1:])
    _end_with(parent)
    channel = Channel(*descriptors)
    try:
        _serve(channel)
    except ChannelClosed:
        os._exit(0)


def _serve(channel: Channel) -> None:
    try:
        server = channel.receive().make_server()  # slow imports
    except ChannelClosed:
        raise
    except Exception as error:  # the node reports it
        channel.send((None, _described(error)))
        os._exit(1)
    channel.send((server.loaded, None))
    after_answer = getattr(server, "after_answer", lambda: None)
    while True:
        name, arguments = channel.receive()
        try:
            answer = getattr(server, name)(*arguments), None
        except Exception as error:  # no error of the core may end the odometry of a robot
            answer = None, _described(error)
        channel.send(answer)
        after_answer()


def _described(error: Exception) -> tuple[str, str, str]:
    return type(error).__name__, str(error), "".join(traceback.format_exception(error))


def _end_with(parent: int) -> None:
    """Kill this process when the node ends in any way: it may run C++ code for seconds."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before
        os._exit(0)
