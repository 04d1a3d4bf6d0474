"""The order of a relation's objects in the dashboard of `relata serve`."""

import json
import unittest
import urllib.parse

from selenium.webdriver.common.action_chains import ActionChains

from dashboard import DashboardTest
from support import Keys

TRACKS = ["Dawn", "Harbour", "Lanterns", "Rain"]
ITEM = "relata-inspector .tree [draggable]"


class Order(DashboardTest):
    def setUp(self):
        super().setUp()
        self.tracks = {title: self.new_track(title) for title in TRACKS}
        tracks = {"__op": "AddRelation", "objects": list(self.tracks.values())}
        self.album = self.server.ask("POST", "/classes/Album", {"title": "Evening", "tracks": tracks})["objectId"]

    def new_track(self, title):
        return self.server.pointer("Track", self.server.ask("POST", "/classes/Track", {"title": title})["objectId"])

    def change(self, operation, track):
        """Changes the tracks as another client."""
        self.server.ask("PUT", f"/classes/Album/{self.album}", {"tracks": {"__op": operation, "objects": [track]}})

    def stored(self):
        """The tracks in their order, as the server has them."""
        album = self.server.pointer("Album", self.album)
        where = urllib.parse.quote(json.dumps({"$relatedTo": {"object": album, "key": "tracks"}}))
        return [each["title"] for each in self.server.ask("GET", f"/classes/Track?where={where}")["results"]]

    def shown(self, browser):
        return browser.texts(f"{ITEM} .link")

    def at_tracks(self, **options):
        """The panel of the album, with its tracks."""
        browser = self.signed_in(f"#/Album?open=Album/{self.album}", **options)
        browser.click('relata-inspector .twist[aria-label^="tracks"]')
        browser.wait(lambda: self.shown(browser) == TRACKS, "the tracks")
        return browser

    def move_last_to_front(self, browser):
        browser.tab_to(f"{ITEM}:last-of-type .link")
        for _ in range(3):
            browser.chord(Keys.ALT, Keys.ARROW_UP)
        self.assertEqual(self.shown(browser), ["Rain", "Dawn", "Harbour", "Lanterns"])

    def test_members_are_moved_by_keyboard_and_saved_together(self):
        browser = self.at_tracks()
        self.move_last_to_front(browser)
        browser.wait_for_text("relata-inspector [role=status]", "Rain is number 1 of 4.")
        self.assertEqual(browser.focused().text, "Rain")
        browser.wait_for_text(".staged-line", "tracks: another order")
        self.assert_accessible(browser)
        # The list stays open when a step is taken back.
        browser.chord(Keys.CONTROL, "z")
        browser.wait(lambda: self.shown(browser) == ["Dawn", "Rain", "Harbour", "Lanterns"], "the step before")
        self.assertEqual(self.stored(), TRACKS)
        browser.click(".page-title button.primary")
        browser.wait_for_text("dialog del", "Dawn, Harbour, Lanterns, Rain")
        browser.wait_for_text("dialog ins", "Dawn, Rain, Harbour, Lanterns")
        browser.press(Keys.ESCAPE)
        self.save(browser)
        self.assertEqual(self.stored(), ["Dawn", "Rain", "Harbour", "Lanterns"])
        browser.wait(lambda: self.shown(browser) == self.stored(), "the tracks as they were saved")

    def test_members_are_dragged_and_moved_by_buttons(self):
        browser = self.at_tracks()
        items = browser.all(f"{ITEM} > .branch")
        ActionChains(browser.driver).drag_and_drop(items[0], items[2]).perform()
        browser.wait(lambda: self.shown(browser) == ["Harbour", "Lanterns", "Dawn", "Rain"], "the track to be dropped")
        browser.click('[aria-label="Move Dawn down"]')
        browser.click('[aria-label="Move Harbour down"]')
        self.assertEqual(self.shown(browser), ["Lanterns", "Harbour", "Rain", "Dawn"])
        # Back to where they were, nothing is changed.
        for name, step in [("Dawn", "up"), ("Dawn", "up"), ("Dawn", "up"), ("Harbour", "up")]:
            browser.click(f'[aria-label="Move {name} {step}"]')
        self.assertEqual(self.shown(browser), TRACKS)
        self.assertNotIn("change", browser.one_text(".page-title"))

    def test_a_track_that_somebody_else_adds_at_the_end_is_no_conflict(self):
        browser = self.at_tracks()
        self.move_last_to_front(browser)
        browser.click('[aria-label^="Dawn: Take out"]')
        browser.wait_for_text(".staged-line", "tracks − Dawn")
        self.change("AddRelation", self.new_track("Snow"))
        self.save(browser)
        self.assertEqual(self.stored(), ["Rain", "Harbour", "Lanterns", "Snow"])

    def test_somebody_elses_order_is_shown_beside_ones_own(self):
        browser = self.at_tracks(language="zh-CN")
        self.move_last_to_front(browser)
        self.change("RemoveRelation", self.tracks["Harbour"])
        self.change("AddRelation", self.tracks["Harbour"])
        self.change("RemoveRelation", self.tracks["Dawn"])
        browser.chord(Keys.CONTROL, "s")
        browser.wait_for_text("dialog", "Lanterns, Rain, Harbour")
        browser.wait_for_text("dialog", "Rain, Dawn, Harbour, Lanterns")
        self.assert_accessible(browser)
        self.assertEqual(self.stored(), ["Lanterns", "Rain", "Harbour"])
        browser.tab_to("dialog [type=radio]")
        browser.press(Keys.ARROW_DOWN)
        browser.tab_to("dialog footer button.primary")
        browser.press(Keys.ENTER)
        # One's own order, of those that are still there.
        browser.wait(lambda: self.stored() == ["Rain", "Harbour", "Lanterns"], "one's own order")

    def test_a_relation_without_an_order_is_not_moved(self):
        browser = self.signed_in("#/Book?open=Book/5")
        browser.click('relata-inspector .twist[aria-label^="authors"]')
        browser.wait(lambda: len(browser.texts("relata-inspector .tree ul .link")) > 1, "the authors")
        self.assertEqual(browser.all(ITEM), [])

    def test_a_dashboard_that_only_reads_moves_nothing(self):
        self.server.stop()
        self.server.start("--dashboard", "read-only")
        browser = self.signed_in(f"#/Album?open=Album/{self.album}")
        browser.click('relata-inspector .twist[aria-label^="tracks"]')
        browser.wait_for_text("relata-inspector .tree", "Rain")
        self.assertEqual(browser.all(ITEM), [])


if __name__ == "__main__":
    unittest.main()
