"""The time from the request of the dashboard to the first rows of a class, beside a static page of the same size."""

import html
import json
import urllib.request

from albums import CLASS, FIRST_ROW
from figures import Figure, medians

# An intersection is told of once the frame with the row has been drawn. The row may be replaced before.
OBSERVER = """
window.firstRowPainted = new Promise((resolve) => {
  const frames = new IntersectionObserver((entries) => {
    if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
    resolve(performance.now());
    frames.disconnect();
    changes.disconnect();
  });
  let row = null;
  const changes = new MutationObserver(() => {
    const first = document.querySelector(SELECTOR);
    if (first && first !== row) frames.observe(first);
    row = first;
  });
  changes.observe(document, { childList: true, subtree: true });
});
""".replace("SELECTOR", json.dumps(FIRST_ROW))


def measure(albums, browser, rounds):
    """Loads both in turns, each in its own browser, which has it already: neither starts a process then."""
    (albums.public / "page.html").write_bytes(static_page(albums, browser))
    static = albums.browse(albums.address_of_public + "page.html")
    for each in [browser, static]:
        each.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": OBSERVER})
        each.driver.set_script_timeout(60)

    def ours():
        time = paint_time(browser)
        albums.wait_until_counted(browser)
        return time

    found = medians(rounds, {"ours": ours, "limit": lambda: paint_time(static)})
    return Figure("dashboard-first-paint", found["ours"], found["limit"], factor=3)


def paint_time(browser):
    """Loads the page anew, and returns the milliseconds from the request to the paint of the first row."""
    browser.driver.refresh()
    return browser.driver.execute_async_script("firstRowPainted.then(arguments[0])")


def static_page(albums, browser):
    """A page with the bytes of all files that the dashboard has loaded, and after them the rows that it fetches first."""
    addresses = browser.driver.execute_script(
        "return [location.origin + location.pathname, ...performance.getEntriesByType('resource').map(({ name }) => name)]")
    mount = albums.server.address
    files = sorted({each for each in addresses if each.startswith(mount) and not each.startswith(mount + "api/")})
    content = "\n".join(read(each) for each in files)
    rows = albums.server.ask("GET", f"/classes/{CLASS}?limit=100&order=objectId", is_master=True)["results"]
    cells = "\n".join(
        '<tr class="grid-row">' + "".join(f"<td>{html.escape(text(value))}</td>" for value in row.values()) + "</tr>"
        for row in rows)
    # The browser reads it and runs nothing of it.
    inert = '<script type="text/plain">' + content.replace("</script", "<\\/script") + "</script>"
    return f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Rows</title>{inert}<table>{cells}</table>'.encode()


def read(address):
    with urllib.request.urlopen(address, timeout=10) as reply:
        return reply.read().decode()


def text(value):
    return value["iso"] if isinstance(value, dict) else str(value)
