"""The dashboard of `relata serve`, used as by a person."""

import sqlite3
import unittest

from dashboard import HOSTILE, KEY, DashboardTest
from support import Keys


class SigningIn(DashboardTest):
    def test_the_printed_address_signs_in_only_once(self):
        browser = self.browse()
        browser.open(self.server.address + "#token=" + self.server.token)
        browser.one(".classes a")
        self.assertNotIn("token", browser.driver.current_url)
        other = self.browse()
        other.open(self.server.address + "#token=" + self.server.token)
        other.wait_for_text(".form-problem", "This token was used")

    def test_a_wrong_key_is_reported_and_the_right_one_opens_the_requested_page(self):
        browser = self.browse()
        browser.open(self.server.address + "#/Author?sort=-born")
        browser.one("#key")
        browser.press("guess", Keys.ENTER)
        browser.wait_for_text(".form-problem", "neither the master key")
        browser.press(KEY, Keys.ENTER)
        browser.wait_for_text("h1", "Author")
        browser.wait(lambda: self.column(browser, 1)[:1] == ["Neil Gaiman"], "the youngest author first")

    def test_signing_in_again_returns_to_the_same_page(self):
        browser = self.signed_in("#/Genre")
        browser.driver.execute_cdp_cmd("Network.clearBrowserCookies", {})
        browser.wait_for_text(".form-problem", "The session has ended")
        browser.type("#key", KEY)
        browser.press(Keys.ENTER)
        browser.wait_for_text("h1", "Genre")
        browser.click('.side-buttons [aria-label="Sign out"]')
        browser.one("#key")
        browser.driver.refresh()
        browser.one("#key")


class Browsing(DashboardTest):
    def test_everything_is_usable_by_keyboard(self):
        browser = self.signed_in()
        browser.wait_for_text("h1", "Author")
        browser.tab_to(".side input")
        browser.press("boo", Keys.ARROW_DOWN, Keys.ENTER)
        browser.wait_for_text("h1", "Book")
        browser.wait(lambda: len(self.rows(browser)) == 9, "nine books")
        browser.tab_to(".grid-scroller")
        browser.press(Keys.ARROW_RIGHT, Keys.ARROW_DOWN, Keys.ARROW_DOWN)
        self.assertEqual(self.active(browser), "The Dispossessed")
        # A pointer is followed to the panel.
        browser.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
        self.assertEqual(self.active(browser), "Science fiction")
        browser.press(Keys.ENTER)
        browser.wait_for_text("relata-inspector h2", "Science fiction")
        browser.wait_for_text("relata-inspector .crumb", "The Dispossessed")
        browser.press(Keys.ESCAPE)
        browser.wait(lambda: not browser.one_text("relata-inspector"), "the panel to close")
        # A relation opens in the grid, and the breadcrumbs lead back.
        self.assertEqual(self.active(browser), "Science fiction")
        browser.press(Keys.END)
        browser.wait(lambda: self.active(browser) == "1", "the number of authors")
        browser.press(Keys.ENTER)
        browser.wait_for_text("h1", "authors")
        browser.wait_for_text(".owner", "The Dispossessed")
        browser.wait(lambda: [row[1] for row in self.rows(browser)] == ["Ursula K. Le Guin"], "the author")
        browser.tab_to(".page-title a.crumb")
        browser.press(Keys.ENTER)
        browser.wait_for_text("h1", "Book")
        # The header sorts and resizes columns.
        browser.tab_to(".grid-scroller")
        browser.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_UP, Keys.ENTER)
        browser.wait(lambda: self.column(browser, 1)[:1] == ["Brave New World"], "the oldest book first")
        self.assertIn("sort=year", browser.driver.current_url)
        browser.driver.back()
        browser.wait(lambda: self.column(browser, 1)[:1] == ["The Left Hand of Darkness"], "the order before")

    def test_pointers_are_shown_as_names_and_relations_as_counts(self):
        browser = self.signed_in("#/Genre")
        browser.wait(lambda: ["1", "Science fiction", "6"] in self.rows(browser), "the count of books")
        self.assertIn("Relation<Book>", browser.one_text(".grid-head"))
        browser.open(self.server.address + "#/Review")
        browser.wait(lambda: any("The Dispossessed" in row for row in self.rows(browser)), "the name of a book")
        self.assertIn("Pointer<Book>", browser.one_text(".grid-head"))

    def test_the_panel_shows_related_objects_level_by_level(self):
        browser = self.signed_in("#/Publisher?open=Publisher/1")
        for branch, shown in [("books", "City of Illusions"), ("The Left Hand of Darkness", "authors"), ("authors", "Ursula K. Le Guin")]:
            browser.wait(lambda: any(branch in (each.get_attribute("aria-label") or "") for each in browser.all(".twist")), branch)
            next(each for each in browser.all(".twist[aria-expanded=false]") if branch in each.get_attribute("aria-label")).click()
            browser.wait_for_text(".tree", shown)
        next(each for each in browser.all(".tree .link") if each.text == "Ursula K. Le Guin").click()
        browser.wait_for_text("relata-inspector h2", "Ursula K. Le Guin")
        self.assertEqual(len(browser.all("relata-inspector .crumb")), 2)

    def test_hidden_and_moved_columns_are_remembered(self):
        browser = self.signed_in("#/Book")
        browser.click(".page-title button:last-of-type")
        browser.one("dialog")
        browser.click('[data-check="2"]')
        browser.click('[data-move="1.-1"]')
        browser.press(Keys.ESCAPE)
        browser.wait(lambda: [row[:2] for row in self.rows(browser)][:1] == [["The Left Hand of Darkness", "1"]], "the title first")
        browser.driver.refresh()
        browser.wait(lambda: [row[:2] for row in self.rows(browser)][:1] == [["The Left Hand of Darkness", "1"]], "the same after loading")
        self.assertNotIn("year", browser.one_text(".grid-head"))

    def test_a_link_opens_the_same_view_in_another_browser(self):
        browser = self.signed_in('#/Book?predicate=genre.name == "Fantasy"&sort=-year&open=Book/6')
        browser.wait_for_text("relata-inspector h2", "Mort")
        link = browser.driver.current_url
        other = self.signed_in(link.removeprefix(self.server.address), language="zh-CN", dark=True)
        other.wait_for_text("relata-inspector h2", "Mort")
        self.assertEqual([row[1] for row in self.rows(other)], ["Good Omens", "Mort"])

    def test_an_invalid_condition_is_reported_with_its_column(self):
        browser = self.signed_in("#/Book")
        browser.type(".predicate", "year > 1980 AND titel = 'x'")
        browser.press(Keys.ENTER)
        browser.wait_for_text(".predicate-problem", "Column 17:")
        browser.type(".predicate", "year > 1980")
        browser.press(Keys.ENTER)
        browser.wait(lambda: len(self.rows(browser)) == 2, "two books")
        self.assertEqual(browser.one_text(".predicate-problem"), "")

    def test_the_builder_writes_a_condition(self):
        browser = self.signed_in("#/Book")
        browser.tab_to(".filter-line > button")
        browser.press(Keys.ENTER)
        browser.one(".builder")
        browser.press(Keys.TAB, Keys.TAB, "omens", Keys.ENTER)
        browser.wait(lambda: [row[1] for row in self.rows(browser)] == ["Good Omens"], "the book")
        self.assertEqual(browser.one(".predicate").get_attribute("value"), 'title CONTAINS[cd] "omens"')

    def test_a_query_shows_its_request_sql_and_plan(self):
        browser = self.signed_in('#/Book?predicate=genre.name == "Fantasy"')
        browser.click('[aria-label="The query"]')
        browser.wait_for_text("dialog", "SELECT")
        browser.wait_for_text("dialog", "GET /parse/classes/Book?")
        self.assertIn("Genre", browser.one_text("dialog"))
        self.assert_accessible(browser)

    def test_an_unreachable_server_is_reported_and_reconnected(self):
        self.expects_lost_connections = True
        browser = self.signed_in("#/Book")
        self.server.stop()
        browser.click('.classes [data-class="Genre"]')
        browser.wait_for_text(".cover", "can’t be reached")
        self.server.start()
        browser.click(".cover button")
        # Sessions end with the server.
        browser.wait_for_text(".form-problem", "The session has ended")
        browser.type("#key", KEY)
        browser.press(Keys.ENTER)
        browser.wait_for_text("h1", "Genre")

    def test_pages_are_accessible_in_all_languages_colours_and_widths(self):
        for language, width, dark in [("en", 1280, False), ("zh-CN", 1280, True), ("en", 400, True), ("zh-CN", 400, False)]:
            with self.subTest(language=language, width=width, dark=dark):
                browser = self.browse(language=language, width=width, dark=dark)
                browser.one("#key")
                self.assert_accessible(browser)
                browser.type("#key", KEY)
                browser.press(Keys.ENTER)
                browser.one(".grid-row:not(.waiting)")
                for place in ["#/Book", "#/Book?open=Book/5", "#/Book?predicate=x"]:
                    browser.open(self.server.address + place)
                    browser.wait(lambda: not browser.all("[aria-busy=true]"), "the page")
                    browser.wait(lambda: browser.all(".grid-row:not(.waiting)") or browser.one_text(".cover"), "objects")
                    self.assert_accessible(browser)
                    self.assertFalse(browser.is_wider_than_its_window())
                browser.screenshot(f"dashboard-{language}-{width}")


class Schema(DashboardTest):
    def test_classes_fields_and_indexes_are_shown_and_created(self):
        browser = self.signed_in("#/Book")
        browser.tab_to(".side-link")
        browser.press(Keys.ENTER)
        browser.wait(lambda: browser.driver.execute_script("return document.querySelector('.diagram img')?.naturalWidth > 100"), "the diagram")
        card = '.class-card[aria-label="Book"]'
        browser.wait_for_text(card, "Pointer<Publisher>")
        browser.wait_for_text(card, "delete: cascade")
        self.assert_accessible(browser)
        browser.tab_to(".page-title button")
        browser.press(Keys.ENTER)
        browser.press("Shelf", Keys.ENTER)
        card = '.class-card[aria-label="Shelf"]'
        browser.one(card)
        browser.wait_for_text(".classes", "Shelf")
        browser.click(f"{card} header button:nth-of-type(1)")
        browser.press("room", Keys.ENTER)
        browser.wait_for_text(card, "room")
        browser.click(f"{card} header button:nth-of-type(1)")
        browser.press("genre", Keys.TAB, "P")
        browser.one("#field-target")
        browser.press(Keys.TAB, "G", Keys.ENTER)
        browser.tab_to("dialog button.primary")
        browser.press(Keys.ENTER)
        browser.wait_for_text(card, "Pointer<Genre>")
        browser.click(f"{card} header button:nth-of-type(2)")
        browser.press("one_room")
        browser.tab_to("#index-room")
        browser.press(Keys.SPACE)
        browser.tab_to("#index-unique")
        browser.press(Keys.SPACE)
        browser.tab_to("dialog button.primary")
        browser.press(Keys.ENTER)
        browser.wait_for_text(card, "Unique index")
        browser.click(".notice button")
        browser.click(f'{card} [aria-label="Remove the index one_room"]')
        browser.wait(lambda: "one_room" not in browser.one_text(card), "the index to go")
        browser.click(".notice button")
        browser.click(f'{card} [aria-label="Remove room"]')
        browser.click("dialog button.primary")
        browser.wait(lambda: "room" not in browser.one_text(card), "the field to go")

    def test_invalid_input_is_reported_in_the_form(self):
        browser = self.signed_in("#/Book")
        browser.open(self.server.address + "#//schema")
        browser.click('.class-card[aria-label="Book"] header button:nth-of-type(1)')
        browser.press("title", Keys.ENTER)
        browser.wait_for_text("dialog .form-problem", "title")
        browser.press(Keys.ESCAPE)
        browser.wait(lambda: not browser.all("dialog"), "the form to close")


class Following(DashboardTest):
    def test_changes_by_others_are_shown_in_place(self):
        browser = self.signed_in("#/Book?open=Book/6")
        browser.wait_for_text(".status-count", "9 objects")
        browser.one("relata-grid[data-follows]")
        self.server.ask("PUT", "/classes/Book/6", {"title": "Mort, again"})
        browser.wait_for_text(".grid-body", "Mort, again")
        browser.wait_for_text("relata-inspector h2", "Mort, again")
        self.server.ask("POST", "/classes/Genre", {"name": "Horror"})
        self.server.ask("DELETE", "/classes/Review/1")
        browser.wait(lambda: self.column(browser, 5)[:1] == ["1"], "the number of reviews")
        self.server.sql("UPDATE Publisher SET name = 'Somebody' WHERE id = 1")
        browser.wait_for_text(".grid-body", "Somebody")


class Hostile(DashboardTest):
    def prepare(self):
        names = ['"' + text.replace('"', '""') + '"' for text in HOSTILE[:3]]
        self.server.sql(
            f"CREATE TABLE {names[0]} (id INTEGER PRIMARY KEY, {names[1]} TEXT NOT NULL)",
            f"CREATE TABLE Thing (id INTEGER PRIMARY KEY, name TEXT, {names[2]} INTEGER REFERENCES {names[0]})",
            *((f"INSERT INTO {names[0]} VALUES (?, ?)", (place, text)) for place, text in enumerate(HOSTILE)),
            *(("INSERT INTO Thing VALUES (?, ?, ?)", (place, text, place)) for place, text in enumerate(HOSTILE)))

    def test_texts_and_names_are_never_interpreted_as_markup(self):
        browser = self.signed_in("#/Thing")
        for text in HOSTILE:
            browser.wait_for_text(".grid-body", text)
        browser.driver.execute_script("arguments[0].click()", browser.all(".grid-row .chip")[1])
        browser.wait_for_text("relata-inspector h2", HOSTILE[1])
        browser.click(".crumb")
        for link in browser.all(".classes a"):
            if link.text.startswith("<"):
                link.click()
        browser.wait_for_text("h1", HOSTILE[0])
        browser.click(".page-title button:last-of-type")
        browser.wait_for_text("dialog", "imgSrcX")
        browser.press(Keys.ESCAPE)
        browser.open(self.server.address + "#/<img src=x onerror='window.harmed = 1'>")
        browser.wait_for_text("main", "There is no class")
        self.assertIsNone(browser.driver.execute_script("return window.harmed ?? null"))


class Many(DashboardTest):
    def prepare(self):
        self.server.sql(
            "CREATE TABLE Track (id INTEGER PRIMARY KEY, title TEXT NOT NULL, seconds INTEGER)",
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000) "
            "INSERT INTO Track SELECT i, 'Track ' || (i * 7919 % 1000003), CASE WHEN i % 3 THEN i % 600 END FROM n",
            "CREATE INDEX Track_title ON Track (title)")

    def at(self, browser, row):
        return browser.driver.execute_script(
            "return document.querySelector(`[aria-rowindex=\"${arguments[0] + 1}\"]:not(.waiting)`)?.innerText.split('\\n')[0]", row)

    def wait_until_the_bar_rests(self, browser):
        browser.wait(lambda: browser.driver.execute_script(
            "const grid = document.querySelector('.grid-scroller'); const at = grid.scrollTop;"
            "return new Promise((done) => setTimeout(() => done(grid.scrollTop === at), 300))"), "the bar to rest")

    def test_a_million_objects_can_be_scrolled_and_only_visible_rows_are_in_the_page(self):
        browser = self.signed_in("#/Track")
        browser.wait_for_text(".status-count", "1,000,000 objects")
        browser.tab_to(".grid-scroller")
        browser.chord(Keys.CONTROL, Keys.END)
        browser.wait(lambda: self.at(browser, 1_000_000) == "1000000", "the last object")
        browser.press(Keys.PAGE_UP, Keys.PAGE_UP)
        browser.wait(lambda: self.at(browser, 999_980) == "999980", "an object before")
        for share in [0.5, 0.25, 0.75]:
            self.wait_until_the_bar_rests(browser)
            browser.driver.execute_script(
                "const grid = document.querySelector('.grid-scroller'); grid.scrollTop = grid.scrollHeight * arguments[0]", share)
            row = browser.wait(lambda: next((int(text.split("\n")[0]) for text in browser.texts(".grid-row:not(.waiting)")
                                             if abs(int(text.split("\n")[0]) - share * 1_000_000) < 2000), None), "the middle")
            browser.wait(lambda: self.at(browser, row) == str(row), "an object at its place")
        # Small scroll steps move by the same number of rows, regardless of the number of objects.
        self.wait_until_the_bar_rests(browser)
        first = min(int(text.split("\n")[0]) for text in browser.texts(".grid-row:not(.waiting)"))
        browser.driver.execute_script("document.querySelector('.grid-scroller').scrollTop += 340")
        browser.wait(lambda: min(int(text.split("\n")[0]) for text in browser.texts(".grid-row:not(.waiting)")) == first + 10, "ten objects further")
        self.assertLess(browser.driver.execute_script("return document.querySelectorAll('.grid-row').length"), 60)
        browser.chord(Keys.CONTROL, Keys.HOME)
        browser.wait(lambda: self.at(browser, 1) == "1", "the first object")

    def test_scrolling_is_correct_in_every_sort_order(self):
        connection = sqlite3.connect(self.server.database)
        self.addCleanup(connection.close)
        for sort, order in [("title", "title, id"), ("-seconds", "seconds DESC, id"), ("seconds,-title", "seconds, title DESC, id")]:
            with self.subTest(sort=sort):
                expected = [str(row[0]) for row in connection.execute(f"SELECT id FROM Track ORDER BY {order} LIMIT 250")]
                last = [str(row[0]) for row in connection.execute(f"SELECT id FROM Track ORDER BY {order} LIMIT 30 OFFSET 999970")]
                browser = self.signed_in(f"#/Track?sort={sort}")
                browser.tab_to(".grid-scroller")
                for place in range(1, 250, 13):
                    browser.wait(lambda: self.at(browser, place) == expected[place - 1], f"row {place}")
                    browser.press(*[Keys.ARROW_DOWN] * 13)
                browser.wait_for_text(".status-count", "1,000,000 objects")
                browser.chord(Keys.CONTROL, Keys.END)
                for place in [1_000_000, 999_990]:
                    browser.wait(lambda: self.at(browser, place) == last[place - 999_971], f"row {place}")


if __name__ == "__main__":
    unittest.main()
