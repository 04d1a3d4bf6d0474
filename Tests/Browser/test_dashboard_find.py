"""Searching the grid of the dashboard by words."""

import unittest

from dashboard import DashboardTest
from support import Keys


class Searching(DashboardTest):
    def setUp(self):
        super().setUp()
        # The best match comes last by its id.
        for title, lyrics, year in [
            ("Waiting", "I wait for love under a sky that has neither a sun nor a moon nor any star at all", 1999),
            ("Rain", "It rains", 1980), ("Blue moon", "moon", 1934),
        ]:
            self.server.ask("POST", "/classes/Song", {"title": title, "lyrics": lyrics, "year": year})
        self.server.ask("PUT", "/schemas/Song", {"indexes": {"words": {"title": "text", "lyrics": "text"}}}, is_master=True)

    def wait_for_titles(self, browser, *titles):
        browser.wait(lambda: self.column(browser, 1) == list(titles), f"the songs {titles}")

    def test_words_find_objects_best_matches_first_and_the_address_has_them(self):
        browser = self.signed_in("#/Song")
        self.wait_for_titles(browser, "Waiting", "Rain", "Blue moon")
        browser.tab_to(".words")
        browser.press("moon", Keys.ENTER)
        self.wait_for_titles(browser, "Blue moon", "Waiting")
        browser.wait_for_text(".status-count", "2 objects")
        self.assertIn("search=moon", browser.driver.current_url)
        browser.driver.refresh()
        self.wait_for_titles(browser, "Blue moon", "Waiting")
        self.assertEqual(browser.one(".words").get_attribute("value"), "moon")
        self.assert_accessible(browser)

    def test_a_search_is_combined_with_a_condition_and_an_order(self):
        browser = self.signed_in("#/Song?search=moon&sort=-title")
        self.wait_for_titles(browser, "Waiting", "Blue moon")
        browser.type(".predicate", "year > 1950")
        browser.press(Keys.ENTER)
        self.wait_for_titles(browser, "Waiting")
        browser.click('.search-box [aria-label="Clear the search"]')
        self.wait_for_titles(browser, "Waiting", "Rain")
        browser.type(".words", "nothing")
        browser.press(Keys.ENTER)
        browser.wait_for_text(".cover", "No object meets the condition.")
        browser.click(".cover button")
        # A new search has its own order.
        self.wait_for_titles(browser, "Waiting", "Rain", "Blue moon")
        self.assertEqual(browser.one(".words").get_attribute("value"), "")

    def test_escape_restores_the_words(self):
        browser = self.signed_in("#/Song?search=rain")
        self.wait_for_titles(browser, "Rain")
        browser.type(".words", "moon")
        browser.press(Keys.ESCAPE)
        self.assertEqual(browser.one(".words").get_attribute("value"), "rain")

    def test_a_class_without_a_search_offers_none(self):
        browser = self.signed_in("#/Book?search=mort")
        browser.wait_for_text(".status-count", "9 objects")
        browser.one(".predicate")
        self.assertEqual([each for each in browser.all(".words") if each.is_displayed()], [])

    def test_the_search_fits_narrow_windows_and_is_in_both_languages(self):
        browser = self.signed_in("#/Song?search=moon", language="zh-CN", width=400)
        self.wait_for_titles(browser, "Blue moon", "Waiting")
        self.assertIn("搜索 title", browser.one(".words").get_attribute("placeholder"))
        self.assert_accessible(browser)
        self.assertFalse(browser.is_wider_than_its_window())
        browser.screenshot("dashboard-search-narrow")


if __name__ == "__main__":
    unittest.main()
