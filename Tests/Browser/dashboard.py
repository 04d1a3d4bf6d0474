"""Shared by the tests of the dashboard: their own server, and a browser that is signed in."""

import json
import os
import pathlib
import re
import signal
import sqlite3
import subprocess
import tempfile
import urllib.request

from support import ROOT, AppTest, Keys, Server

KEY = "the-master-key"
HOSTILE = [
    "<script>window.harmed = 1</script>",
    "<img src=x onerror='window.harmed = 1'>",
    "\"><svg onload=window.harmed=1>",
    "javascript:window.harmed=1",
    "$& $1 $` \\ \u202eevil 👩‍👩‍👧 中文",
]


class DashboardServer:
    """`relata serve` on its own file."""

    def __init__(self):
        self.tool = os.environ.get("RELATA", str(ROOT / ".build" / "debug" / "relata"))
        self.folder = tempfile.TemporaryDirectory(prefix="relata-browser-")
        self.database = os.path.join(self.folder.name, "library.sqlite")
        self.port = 0
        self.process = None
        self.token = None

    def start(self, *options):
        """Starts the server. Later starts use the same port as the first."""
        self.process = subprocess.Popen(
            [self.tool, "serve", self.database, "--port", str(self.port), "--app-id", "app", "--examples", *options],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={**os.environ, "RELATA_MASTER_KEY": KEY, "RELATA_CLIENT_KEY": "client"})
        for line in self.process.stdout:
            if found := re.search(r"http://127\.0\.0\.1:(\d+)/dashboard/#token=(\w+)", line):
                self.port, self.token = int(found[1]), found[2]
                return
        raise AssertionError("the server didn't start")

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}/dashboard/"

    def sql(self, *statements):
        connection = sqlite3.connect(self.database)
        try:
            for statement in statements:
                if isinstance(statement, str):
                    connection.execute(statement)
                else:
                    connection.execute(*statement)
            connection.commit()
        finally:
            connection.close()

    def value(self, query, *values):
        """The first value of an SQL query on the file."""
        connection = sqlite3.connect(self.database)
        try:
            row = connection.execute(query, values).fetchone()
            return row and row[0]
        finally:
            connection.close()

    def ask(self, method, path, body=None, is_master=False):
        """Sends a request as another client."""
        key = {"X-Parse-Master-Key": KEY} if is_master else {"X-Parse-Client-Key": "client"}
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/parse{path}", method=method, data=body and json.dumps(body).encode(),
            headers={"X-Parse-Application-Id": "app", "Content-Type": "application/json", **key})
        with urllib.request.urlopen(request, timeout=10) as reply:
            return json.load(reply)

    pointer = staticmethod(Server.pointer)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)
        self.process.stdout.close()

    def close(self):
        if self.process and self.process.poll() is None:
            self.stop()
        self.folder.cleanup()


class DashboardTest(AppTest):
    def setUp(self):
        self.server = DashboardServer()
        self.addCleanup(self.server.close)
        self.browsers = []
        self.prepare()
        self.server.start()

    def prepare(self):
        subprocess.run(
            [self.server.tool, "make", self.server.database, str(ROOT / "Examples" / "Library" / "library.sql")],
            check=True, stdout=subprocess.DEVNULL)

    def is_expected(self, entry):
        asked = "/dashboard/api/" in entry["message"] and "status of 4" in entry["message"]
        return asked or super().is_expected(entry)

    def signed_in(self, place="", **options):
        """A browser that is signed in with the master key, at a page."""
        browser = self.browse(**options)
        if place:
            browser.open(self.server.address + place)
        browser.type("#key", KEY)
        browser.press(Keys.ENTER)
        browser.one("relata-grid .grid-row:not(.waiting)")
        return browser

    def rows(self, browser):
        return [text.split("\n") for text in browser.texts(".grid-row:not(.waiting)")]

    def column(self, browser, number):
        return [row[number] for row in self.rows(browser) if len(row) > number]

    def active(self, browser):
        return browser.driver.execute_script(
            "const id = document.querySelector('.grid-scroller').getAttribute('aria-activedescendant');"
            "return id && document.getElementById(id).innerText")

    def save(self, browser):
        """Saves the edits, and waits until they are stored."""
        browser.chord(Keys.CONTROL, "s")
        browser.wait(lambda: not any(each.is_displayed() for each in browser.all(".page-title button.primary")), "the end of saving")
        browser.wait_for_text(".notices", "saved")


class FolderTest(DashboardTest):
    """A test with a folder for the files that its browsers choose and save."""

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="relata-saved-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def signed_in(self, place="", **options):
        browser = super().signed_in(place, **options)
        browser.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {
            "behavior": "allow", "downloadPath": str(self.folder)})
        return browser

    def downloaded(self, browser, name):
        """Waits for a file that the browser saves, and returns its text."""
        file = self.folder / name
        browser.wait(lambda: file.exists() and not list(self.folder.glob("*.crdownload")), name)
        return file.read_text()

    def file(self, name, text):
        """Writes a file, and returns its path."""
        (self.folder / name).write_text(text)
        return str(self.folder / name)
