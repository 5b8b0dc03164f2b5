# SPDX-License-Identifier: MIT
"""Chromium without a window, driven through a pipe (DevTools protocol)."""
import base64
import json
import os
import shutil
import subprocess
import tempfile


class Browser:
    """A page at a time; errors that the page reports are collected."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="takt-browser-")
        down_read, self.down = os.pipe()
        self.up, up_write = os.pipe()
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", 'exec "$@" 3<&%d 4>&%d' % (down_read, up_write),
             "sh", "chromium", "--headless", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--no-first-run",
             "--remote-debugging-pipe", "--proxy-server=127.0.0.1:9",
             "--user-data-dir=" + self.folder, "about:blank"],
            pass_fds=(down_read, up_write), stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(down_read)
        os.close(up_write)
        self.rest, self.number, self.errors, self.session = b"", 0, [], None
        self.requests = []
        target = self.call("Target.createTarget", url="about:blank")
        self.session = self.call("Target.attachToTarget", flatten=True,
                                 targetId=target["targetId"])["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.down)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.up)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _read(self):
        while b"\0" not in self.rest:
            more = os.read(self.up, 1 << 20)
            if not more:
                raise RuntimeError("the browser ended")
            self.rest += more
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def _note(self, message):
        method, what = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.errors.append(what["exceptionDetails"].get("text", "?") + " "
                               + str(what["exceptionDetails"].get("exception", {})
                                     .get("description", "")))
        elif method == "Log.entryAdded" and what["entry"]["level"] == "error":
            self.errors.append(what["entry"]["text"])
        elif (method == "Runtime.consoleAPICalled"
              and what["type"] in ("error", "warning")):
            self.errors.append(str(what["args"]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(what["request"]["url"])

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session is not None:
            message["sessionId"] = self.session
        os.write(self.down, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(method + ": " + str(answer["error"]))
                return answer["result"]
            self._note(answer)

    def wait_for(self, event):
        while True:
            message = self._read()
            self._note(message)
            if message.get("method") == event:
                return message["params"]

    def open(self, path, width=1100, height=900, dark=False):
        """Loads a file and waits until its script is done."""
        self.call("Emulation.setDeviceMetricsOverride", width=width,
                  height=height, deviceScaleFactor=1, mobile=width < 500)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme",
             "value": "dark" if dark else "light"}])
        self.errors, self.requests = [], []
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        self.wait_for("Page.loadEventFired")

    def ask(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression,
                           returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def point(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, selector):
        box = self.ask(
            "(() => {const e = document.querySelector(%s);"
            "e.scrollIntoView({block: 'center'});"
            "const b = e.getBoundingClientRect();"
            "return [b.x + b.width / 2, b.y + b.height / 2]})()"
            % json.dumps(selector))
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=box[0],
                      y=box[1], button="left", clickCount=1)

    def picture(self, path=None, whole=True):
        data = base64.b64decode(self.call(
            "Page.captureScreenshot", captureBeyondViewport=whole)["data"])
        if path is not None:
            with open(path, "wb") as file:
                file.write(data)
        return data

    def paper(self):
        return base64.b64decode(self.call(
            "Page.printToPDF", preferCSSPageSize=True)["data"])
