"""The page of the dashboard of `relata serve` about the server itself."""

import unittest

from dashboard import HOSTILE, DashboardTest
from support import Keys


class Inside(DashboardTest):
    def at_page(self, **options):
        browser = self.signed_in("#/Book", **options)
        browser.open(self.server.address + "#//inside")
        browser.wait(lambda: len(browser.all(".chart-line")) == 6, "the charts")
        return browser

    def card(self, name):
        return f'[aria-labelledby="{name}-title"]'

    def test_a_request_shows_its_reply_sql_and_duration(self):
        browser = self.at_page()
        card = self.card("console")
        browser.tab_to(f"{card} input")
        browser.press(Keys.END, 'Book?predicate=genre.name == "Fantasy"&limit=1', Keys.ENTER)
        browser.wait_for_text(card, "Good Omens")
        browser.wait_for_text(card, "SELECT")
        browser.wait_for_text(card, "ms")
        self.assert_accessible(browser)
        browser.type(f"{card} input", "/classes/Nothing/x")
        browser.press(Keys.ENTER)
        browser.wait_for_text(f"{card} .kind", "404")
        browser.driver.execute_script("document.querySelector(arguments[0]).focus()", f"{card} select")
        browser.press("P")
        browser.type(f"{card} input", "/classes/Genre")
        browser.one(f"{card} textarea").send_keys('{"name": "Horror"}')
        browser.chord(Keys.CONTROL, Keys.ENTER)
        browser.wait_for_text(f"{card} .kind", "201")
        self.assertEqual(self.server.value("SELECT count(*) FROM Genre WHERE name = 'Horror'"), 1)

    def test_changes_are_shown_as_they_happen(self):
        browser = self.at_page()
        card = self.card("liveChanges")
        browser.one(f"{card} [data-epoch]")
        self.server.ask("PUT", "/classes/Book/6", {"title": HOSTILE[0]})
        browser.wait_for_text(card, "Book")
        self.assertIn("changed", browser.one_text(card))
        self.assertIn("title", browser.one_text(card))
        browser.click(f"{card} a")
        browser.wait_for_text("relata-inspector h2", HOSTILE[0])

    def test_changes_by_the_dashboard_are_in_the_audit_log(self):
        browser = self.at_page()
        browser.driver.execute_script("document.querySelector(arguments[0]).focus()", f"{self.card('console')} select")
        browser.press("D")
        browser.type(f"{self.card('console')} input", "/classes/Review/1")
        browser.press(Keys.ENTER)
        browser.wait_for_text(f"{self.card('console')} .kind", "200")
        browser.click(f"{self.card('audit')} button")
        browser.wait_for_text(self.card("audit"), "DELETE /parse/classes/Review/1")

    def test_contradictions_of_the_schema_are_listed_with_their_fixes(self):
        browser = self.at_page(language="zh-CN", dark=True)
        card = self.card("integrity")
        browser.click(f"{card} button")
        browser.wait_for_text(card, "没有与结构矛盾的数据")
        self.server.sql("PRAGMA foreign_keys = OFF", "UPDATE Book SET genreId = 99 WHERE id = 6")
        browser.click(f"{card} button")
        browser.wait_for_text(f"{card} .finding", "Book.genre")
        browser.wait_for_text(f"{card} .finding code", "UPDATE")
        self.assert_accessible(browser)

    def test_slow_requests_are_listed(self):
        self.server.sql(
            "CREATE TABLE Track (id INTEGER PRIMARY KEY, title TEXT)",
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500000) "
            "INSERT INTO Track SELECT i, 'Track ' || i FROM n")
        browser = self.signed_in("#/Track?predicate=title ENDSWITH[c] \"99999\"")
        browser.wait(lambda: self.rows(browser), "tracks")
        browser.open(self.server.address + "#//inside")
        browser.wait_for_text(self.card("slowRequests"), "/classes/Track")
        self.assertNotIn("99999", browser.one_text(self.card("slowRequests")))

    def test_the_page_is_accessible_in_all_languages_colours_and_widths(self):
        for language, width, dark in [("en", 1280, False), ("zh-CN", 400, True)]:
            with self.subTest(language=language, width=width):
                browser = self.at_page(language=language, width=width, dark=dark)
                for place in ["#//inside", "#//move"]:
                    browser.open(self.server.address + place)
                    browser.one(".card")
                    self.assert_accessible(browser)
                    self.assertFalse(browser.is_wider_than_its_window())
                    browser.screenshot(f"dashboard-{place[3:]}-{language}-{width}")


if __name__ == "__main__":
    unittest.main()
