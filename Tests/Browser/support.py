"""Shared by the tests of the apps in Examples/Apps: their own server, and Chromium used by keyboard and mouse."""

import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

import axe_core_python
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

ROOT = pathlib.Path(__file__).resolve().parents[2]
APPS = ROOT / "Examples" / "Apps"
AXE = (pathlib.Path(axe_core_python.__file__).parent / "axe.min.js").read_text()
# The time limit in seconds for each step of a page.
PATIENCE = 15


class Server:
    """`relata serve` for one app, on its own database."""

    def __init__(self, app):
        self.app = app
        self.tool = os.environ.get("RELATA", str(ROOT / ".build" / "debug" / "relata"))
        self.folder = tempfile.TemporaryDirectory(prefix="relata-browser-")
        self.database = os.path.join(self.folder.name, f"{app}.sqlite")
        self.port = 0
        self.start()

    def start(self):
        """Starts the server. Later starts use the same port as the first."""
        folder = os.path.dirname(self.tool)
        self.process = subprocess.Popen(
            [str(APPS / "serve"), self.app, self.database, "--port", str(self.port)],
            env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}, stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if found := re.fullmatch(r"Open (http://127\.0\.0\.1:(\d+)/\w+/) in a browser\.\n", line):
                self.address, self.port = found[1], int(found[2])
                return
        raise AssertionError("the server didn't start")

    @property
    def origin(self):
        return f"http://127.0.0.1:{self.port}"

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        rest = self.process.stdout.read()
        self.process.stdout.close()
        if self.process.wait(30) != 0 or not rest.endswith("stopped\n"):
            raise AssertionError(f"the server didn't stop well: {self.process.returncode} {rest}")

    def close(self):
        if self.process.poll() is None:
            self.stop()
        self.folder.cleanup()

    def ask(self, method, path, body=None):
        """Sends a request as another client."""
        request = urllib.request.Request(
            f"{self.origin}/parse{path}", method=method, data=body and json.dumps(body).encode(),
            headers={"X-Parse-Application-Id": self.app, "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=10) as reply:
            return json.load(reply)

    def find(self, class_name, **parameters):
        return self.ask("GET", f"/classes/{class_name}?{urllib.parse.urlencode(parameters)}")["results"]

    def create(self, class_name, **fields):
        return self.ask("POST", f"/classes/{class_name}", fields)["objectId"]

    @staticmethod
    def pointer(class_name, object_id):
        return {"__type": "Pointer", "className": class_name, "objectId": object_id}


class Browser:
    """A window of Chromium with its own profile, which is used by keyboard and mouse."""

    def __init__(self, language="en", width=1100, height=800, dark=False, touch=False, keeps_log=True):
        options = Options()
        options.binary_location = os.environ.get("CHROMIUM", "/usr/bin/chromium")
        for argument in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
                         "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
                         f"--lang={language}", f"--accept-lang={language}", f"--window-size={width},{height}"]:
            options.add_argument(argument)
        options.add_experimental_option("prefs", {"intl.accept_languages": language})
        if keeps_log:
            options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(
            options=options, service=Service(os.environ.get("CHROMEDRIVER", "/usr/bin/chromedriver")))
        # The size excludes the window's frame.
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        self.prefer("dark" if dark else "light")
        if touch:
            self.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
        self.hosts = set()
        self.messages = []

    def prefer(self, scheme):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": scheme}]})

    def open(self, address):
        self.driver.get(address)

    def close(self):
        self.driver.quit()

    def collect(self):
        """Takes down what the console said, and which hosts were asked."""
        self.messages += [entry for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url = urllib.parse.urlparse(message["params"]["request"]["url"])
                if url.scheme in ("http", "https", "ws", "wss", "ftp"):
                    self.hosts.add(url.netloc)

    # Reading

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        """Waits until the element is visible, and returns it."""
        return self.wait(lambda: next((each for each in self.all(selector) if each.is_displayed()), None), selector)

    def texts(self, selector):
        """The text of each visible element."""
        return self.driver.execute_script(
            "return Array.from(document.querySelectorAll(arguments[0])).filter((each) => each.checkVisibility())"
            ".map((each) => each.innerText)", selector)

    def wait(self, condition, what="something"):
        end = time.monotonic() + PATIENCE
        while True:
            try:
                if value := condition():
                    return value
            except StaleElementReferenceException:
                pass
            if time.monotonic() > end:
                raise AssertionError(f"waited in vain for {what}; the page says: {self.one_text('body')!r}")
            time.sleep(0.05)

    def one_text(self, selector):
        return "\n".join(self.texts(selector))

    def wait_for_text(self, selector, text):
        self.wait(lambda: text in self.one_text(selector), f"{text!r} in {selector}")

    def focused(self):
        return self.driver.switch_to.active_element

    # Acting

    def press(self, *keys):
        """Presses keys in the focused element."""
        ActionChains(self.driver).send_keys(*keys).perform()

    def chord(self, *keys):
        """Presses the last key while the others are held."""
        *held, key = keys
        actions = ActionChains(self.driver)
        for each in held:
            actions.key_down(each)
        actions.send_keys(key)
        for each in reversed(held):
            actions.key_up(each)
        actions.perform()

    def click(self, selector):
        self.one(selector).click()

    def type(self, selector, text):
        field = self.one(selector)
        field.clear()
        field.send_keys(text)

    def tab_to(self, selector):
        """Presses Tab until the element has the focus."""
        for _ in range(60):
            if self.driver.execute_script("return document.activeElement.matches(arguments[0])", selector):
                return
            self.press(Keys.TAB)
        raise AssertionError(f"Tab doesn't lead to {selector}")

    def answer(self, message, value):
        """Reads a message and presses one of its buttons."""
        self.wait_for_text("dialog.message", message)
        self.click(f'dialog.message button[value="{value}"]')
        self.wait(lambda: not self.all("dialog.message"), "the end of the message")

    # Checking

    def accessibility_problems(self):
        """The serious and critical findings of axe."""
        self.driver.execute_script(AXE)
        result = self.driver.execute_async_script(
            "const done = arguments[0]; axe.run(document).then((result) => done(result.violations))")
        return [
            f"{each['id']}: {each['help']}: {[node['html'][:200] for node in each['nodes']]}"
            for each in result if each["impact"] in ("serious", "critical")
        ]

    def is_wider_than_its_window(self):
        return self.driver.execute_script(
            "return document.documentElement.scrollWidth > document.documentElement.clientWidth")

    def screenshot(self, name):
        folder = os.environ.get("RELATA_SCREENSHOTS")
        if folder:
            self.driver.save_screenshot(os.path.join(folder, f"{name}.png"))


class AppTest(unittest.TestCase):
    """A test of one app: a new server, and the browsers that it opens, which must report no errors."""

    app = None
    # Whether errors in the console about an unreachable server are ignored.
    expects_lost_connections = False

    def setUp(self):
        self.server = Server(self.app)
        self.addCleanup(self.server.close)
        self.browsers = []

    def browse(self, **options):
        browser = Browser(**options)
        self.browsers.append(browser)
        self.addCleanup(browser.close)
        browser.open(self.server.address)
        return browser

    def tearDown(self):
        for browser in self.browsers:
            browser.collect()
            hosts = browser.hosts - {f"127.0.0.1:{self.server.port}"}
            self.assertFalse(hosts, "other hosts were asked")
            messages = [entry["message"] for entry in browser.messages if not self.is_expected(entry)]
            self.assertFalse(messages, "the console holds errors")

    def is_expected(self, entry):
        # The console reports each reply above 399, which is how the server refuses a duplicate.
        refused = entry["source"] == "network" and "status of 4" in entry["message"] and "/parse/" in entry["message"]
        lost = self.expects_lost_connections and "net::ERR_" in entry["message"]
        return refused or lost

    def assert_accessible(self, browser):
        self.assertEqual(browser.accessibility_problems(), [])
