"""A server with a class of many rows, and Chromium at its dashboard."""

import pathlib
import tempfile

from dashboard import DashboardServer
from support import Browser

CLASS = "Album"
FIRST_ROW = ".grid-row:not(.waiting)"


class Albums:
    """Albums on `relata serve`, which serves the files of a folder too."""

    def __init__(self, count, closing):
        """Stores that many. `closing`, a stack of contexts, ends the server and the browsers."""
        self.count = count
        self.closing = closing
        self.public = pathlib.Path(closing.enter_context(tempfile.TemporaryDirectory(prefix="relata-bench-")))
        self.server = DashboardServer()
        closing.callback(self.server.close)
        self.server.start()
        # The server makes the class; SQL is faster for so many objects.
        self.server.ask("POST", f"/classes/{CLASS}", is_master=True, body={
            "title": "Title", "artist": "Artist", "year": 1959, "price": 9.5, "isLive": True,
            "releasedAt": {"__type": "Date", "iso": "1959-08-17T00:00:00.000Z"}})
        self.server.stop()
        self.server.sql("PRAGMA cache_size = -500000", f"DELETE FROM {CLASS}", (
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) "
            f"INSERT INTO {CLASS} (objectId, createdAt, updatedAt, title, artist, year, price, isLive, releasedAt) "
            "SELECT printf('%010d', i * 7919 % 1000003), 1700000000000000 + i, 1700000000000000 + i, "
            "'The wonderful adventures, part ' || i, 'Artist ' || (i % 997), 1900 + i % 120, i % 1000 / 10.0, i % 2, "
            "1000000000000 * (i % 1000) FROM n", [count]))
        self.server.start("--public", str(self.public))

    def browse(self, address):
        """Chromium at an address, without its cache. A log of its requests would slow it down."""
        browser = Browser(keeps_log=False)
        self.closing.callback(browser.close)
        browser.driver.execute_cdp_cmd("Network.enable", {})
        browser.driver.execute_cdp_cmd("Network.setCacheDisabled", {"cacheDisabled": True})
        browser.open(address)
        return browser

    def signed_in(self):
        """Chromium at the class in the dashboard. The token is good once for each start of the server."""
        browser = self.browse(f"{self.server.address}#token={self.server.token}")
        browser.one("relata-grid")
        browser.open(f"{self.server.address}#/{CLASS}")
        self.wait_until_counted(browser)
        return browser

    def wait_until_counted(self, browser):
        browser.one(f'.grid-scroller[aria-label="{CLASS}"][aria-rowcount="{self.count + 1}"] {FIRST_ROW}')

    @property
    def address_of_public(self):
        return f"http://127.0.0.1:{self.server.port}/"
