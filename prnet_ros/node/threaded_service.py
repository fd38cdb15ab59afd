"""Long-running services that do not block the executor."""

import threading
from collections.abc import Callable

from rclpy.node import Node
from rclpy.task import Future
from std_srvs.srv import Trigger


def in_a_thread(node: Node, name: str, function: Callable[[], tuple[bool, str]]) -> Callable:
    """A callback of a Trigger service that runs `function`, (success, message), in a thread and waits as a coroutine.

    A coroutine that waits keeps all others of its callback group from running: use a ReentrantCallbackGroup.
    """

    async def callback(request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        done = Future()

        def run() -> None:
            try:
                result = function()
            except Exception as error:  # the caller waits for an answer
                result = False, f"failed: {type(error).__name__}: {error}"
            done.set_result(result)
            if node.executor is not None:
                node.executor.wake()

        threading.Thread(target=run, name=f"prnet_{name}", daemon=True).start()
        response.success, response.message = await done
        node.get_logger().info(f"{name}: {response.message}")
        return response

    return callback
