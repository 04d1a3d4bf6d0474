"""Searching the grid of the dashboard by words, and counting its objects."""

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

    def search(self, browser, words, *titles):
        browser.type(".words", words)
        browser.press(Keys.ENTER)
        self.wait_for_titles(browser, *titles)

    def test_found_words_are_marked(self):
        text = "<b>Déjà vu</b> &amp; RAIN"
        self.server.ask("POST", "/classes/Song", {"title": text, "lyrics": "bluemoon", "year": 2001, "note": "rain"})
        browser = self.signed_in("#/Song?search=moon")
        for words, titles, marks in [
            ("moon", ["Blue moon", "Waiting"], ["moon", "moon", "moon"]),
            # Whole words, unless the search asks for more; in the searched fields only.
            ("rain -it", [text], ["RAIN"]),
            ("WAI*", ["Waiting"], ["Waiting", "wait"]),
            ('"a moon"', ["Waiting"], ["a moon"]),
            ("deja vu", [text], ["Déjà", "vu"]),
        ]:
            self.search(browser, words, *titles)
            self.assertEqual(sorted(browser.texts(".grid-body mark")), sorted(marks), words)
        self.assert_accessible(browser)
        browser.prefer("dark")
        self.assert_accessible(browser)
        browser.screenshot("dashboard-search-marks")
        browser.click('.search-box [aria-label="Clear the search"]')
        self.wait_for_titles(browser, "Waiting", "Rain", "Blue moon", text)
        self.assertEqual(browser.all(".grid-body mark"), [])

    def test_chinese_is_marked_within_a_text_without_spaces(self):
        self.server.ask("POST", "/classes/Song", {"title": "月亮代表我的心", "lyrics": "你问我爱你有多深，Python的月亮"})
        browser = self.signed_in("#/Song?search=代表 python", language="zh-CN")
        self.wait_for_titles(browser, "月亮代表我的心")
        self.assertEqual(browser.texts(".grid-body mark"), ["代表", "Python"])
        self.search(browser, "爱你 OR 月亮", "月亮代表我的心")
        self.assertEqual(browser.texts(".grid-body mark"), ["月亮", "爱你", "月亮"])

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


class Counting(DashboardTest):
    def prepare(self):
        self.server.sql(
            "CREATE TABLE Track (id INTEGER PRIMARY KEY, title TEXT NOT NULL)",
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250) "
            "INSERT INTO Track SELECT i, 'Track ' || i FROM n",
            "CREATE TABLE Album (id INTEGER PRIMARY KEY, title TEXT NOT NULL)",
            "INSERT INTO Album VALUES (1, 'One')",
            "ANALYZE",
            # The statistics of a larger table.
            "UPDATE sqlite_stat1 SET stat = '1234567' WHERE tbl = 'Track'")

    def wait_for_count(self, browser, text):
        browser.wait(lambda: browser.one_text(".status-count") == text, text)

    def class_counts(self, browser):
        return dict(text.split("\n") for text in browser.texts(".classes li") if "\n" in text)

    def test_a_large_class_has_an_estimate_until_somebody_counts(self):
        browser = self.signed_in("#/Track")
        browser.wait_for_text(".status-count", "≈ 1.2 million objects")
        browser.wait(lambda: self.class_counts(browser) == {"Album": "1", "Track": "≈ 1.2M"}, "the numbers of objects")
        self.assert_accessible(browser)
        browser.screenshot("dashboard-estimate")
        browser.tab_to(".status-count button")
        browser.press(Keys.ENTER)
        self.wait_for_count(browser, "250 objects")
        # The keys are the grid's again.
        browser.chord(Keys.CONTROL, Keys.END)
        browser.wait(lambda: self.active(browser) == "Track 250", "the last object")
        browser.click(".classes button.count")
        browser.wait(lambda: self.class_counts(browser) == {"Album": "1", "Track": "250"}, "the exact number")

    def test_a_grid_that_is_not_counted_grows_to_its_end(self):
        browser = self.signed_in("#/Track", language="zh-CN")
        browser.wait_for_text(".status-count", "≈ 120万 个对象")
        browser.tab_to(".grid-scroller")
        for last in ["Track 101", "Track 201", "Track 250"]:
            browser.chord(Keys.CONTROL, Keys.END)
            browser.wait(lambda: self.active(browser) == last, last)
        self.wait_for_count(browser, "250 个对象")

    def test_objects_that_meet_a_condition_are_counted(self):
        browser = self.signed_in("#/Track?predicate=id > 40")
        self.wait_for_count(browser, "210 objects")

    def test_counting_that_takes_long_is_given_up_until_somebody_asks(self):
        browser = self.browse()
        # Every time limit has passed at once.
        browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {
            "source": "AbortSignal.timeout = () => AbortSignal.abort(new DOMException('', 'TimeoutError'));"})
        browser.open("about:blank")
        browser.open(self.server.address + "#token=" + self.server.token)
        browser.wait(lambda: self.class_counts(browser) == {"Album": "≈ 1", "Track": "≈ 1.2M"}, "estimates")
        browser.open(self.server.address + "#/Track?predicate=id > 40")
        browser.wait_for_text(".status-count", "at least 100 objects")
        browser.click(".status-count button")
        self.wait_for_count(browser, "210 objects")
        # The end of full pages is found, too.
        browser.open(self.server.address + "#/Track?predicate=id < 201")
        browser.wait_for_text(".grid-body", "Track 1")
        browser.tab_to(".grid-scroller")
        browser.chord(Keys.CONTROL, Keys.END)
        browser.wait(lambda: self.active(browser) == "Track 101", "the second page")
        browser.chord(Keys.CONTROL, Keys.END)
        self.wait_for_count(browser, "200 objects")


if __name__ == "__main__":
    unittest.main()
