"""The durations of frames while somebody scrolls through all rows of a class."""

from figures import Figure, medians, percentile

# At the speed of a fast wheel, 350 rows in a second; and then the bar is dragged from the top to the bottom.
SCROLL = """
const [half, done] = arguments;
const grid = document.querySelector('.grid-scroller');
const frames = [];
let start = null;
let before = null;
function frame(now) {
  start ??= now;
  if (before !== null) frames.push(now - before);
  const time = now - start;
  if (time >= 2 * half) grid.scrollTop = grid.scrollHeight;
  else if (time >= half) grid.scrollTop = grid.scrollHeight * (time - half) / half;
  else if (before !== null) grid.scrollTop += Math.min(12 * (now - before), grid.clientHeight);
  if (time >= 2 * half) return done(frames);
  before = now;
  requestAnimationFrame(frame);
}
requestAnimationFrame(frame);
"""
# The milliseconds for each of the two.
HALF = 5000


def measure(albums, browser, rounds):
    browser.driver.set_script_timeout(60)

    def slow_frame():
        # None of the rows is there before.
        browser.driver.refresh()
        albums.wait_until_counted(browser)
        frames = browser.driver.execute_async_script(SCROLL, HALF)
        # A bar that was dragged ends some rows before the last one, which the wheel then reaches.
        near_the_end = str(albums.count - 1)[:-2]
        browser.one(f'.grid-row[aria-rowindex^="{near_the_end}"]:not(.waiting)')
        return percentile(frames, 0.95)

    return Figure("dashboard-scroll", medians(rounds, {"ours": slow_frame})["ours"], 50)
