"""Exports and imports in the dashboard of `relata serve`."""

import json
import os
import unittest

from dashboard import HOSTILE, FolderTest
from support import Keys


class Moving(FolderTest):
    def at_page(self, **options):
        browser = self.signed_in("#/Book", **options)
        browser.open(self.server.address + "#//move")
        browser.one("#export-format")
        return browser

    def bring(self, browser, *paths):
        browser.one("#import-files").send_keys("\n".join(paths))

    def test_exports_are_imported_elsewhere_with_their_relationships(self):
        browser = self.at_page()
        browser.tab_to("#import-class")  # everything is reached by keyboard
        browser.click('.card [type="submit"]')
        browser.wait_for_text('[aria-labelledby="export-title"]', "51 rows were exported")
        text = self.downloaded(browser, "library.sqlite.jsonl")
        self.assertEqual(len(text.splitlines()), 51)
        self.assertEqual(json.loads(text.splitlines()[0])["@class"], "Publisher")
        self.assert_accessible(browser)
        links = "SELECT group_concat(link) FROM (SELECT bookId || '-' || authorId AS link FROM Book_authors ORDER BY bookId, authorId)"
        before = self.server.value(links)
        self.server.sql(*(f"DELETE FROM {name}" for name in ["Loan", "Card", "Review", "Book_authors", "Book", "Author", "Reader", "Genre", "Publisher"]))
        self.bring(browser, str(self.folder / "library.sqlite.jsonl"))
        browser.click('[value="import"]')
        browser.wait_for_text('[aria-labelledby="import-title"]', "Imported.")
        self.assertEqual(self.server.value("SELECT count(*) FROM Book"), 9)
        self.assertEqual(self.server.value(links), before)
        self.assertEqual(self.server.value("SELECT Genre.name FROM Book JOIN Genre ON Genre.id = genreId WHERE title = 'Mort'"), "Fantasy")

    def test_classes_are_exported_as_csv_files(self):
        browser = self.at_page()
        browser.click(".card .plain")
        browser.click("#export-Book")
        browser.click("#export-Author")
        browser.driver.execute_script("document.querySelector('#export-format').value = 'csv'")
        browser.click('.card [type="submit"]')
        browser.wait(lambda: browser.texts(".file-list button") == ["Author.csv", "Book.authors.csv", "Book.csv"], "three files")
        browser.click(".file-list li:last-child button")
        self.assertTrue(self.downloaded(browser, "Book.csv").startswith("id,title,year"))

    def test_bad_rows_are_listed_with_their_lines_and_nothing_is_imported(self):
        browser = self.at_page()
        self.bring(browser, self.file("Author.csv", f'id,name,born\n7,Ann,1970\neight,"{HOSTILE[0]}",\n1,Cy,\n'))
        browser.tab_to('[value="import"]')
        browser.press(Keys.ENTER)
        browser.wait_for_text('[aria-labelledby="import-title"]', "Nothing was imported: 2 bad rows.")
        rows = [text.split("\t") for text in browser.texts(".plain-table:first-of-type tbody tr")]
        self.assertEqual([row[:3] for row in rows[:2]], [["Author.csv", "3", "id"], ["Author.csv", "4", ""]])
        self.assert_accessible(browser)
        self.assertEqual(self.server.value("SELECT count(*) FROM Author"), 6)
        self.assertIsNone(browser.driver.execute_script("return window.harmed ?? null"))

    def test_a_file_is_checked_before_it_is_imported_into_a_chosen_class(self):
        browser = self.at_page(language="zh-CN", dark=True)
        self.bring(browser, self.file("people.csv", "id,name\n7,Ann\n"))
        browser.driver.execute_script("document.querySelector('#import-class').value = 'Author'")
        browser.click('[value="check"]')
        browser.wait_for_text('[aria-labelledby="import-title"]', "所有行均有效")
        self.assertEqual(self.server.value("SELECT count(*) FROM Author"), 6)
        browser.click('[value="import"]')
        browser.wait_for_text('[aria-labelledby="import-title"]', "导入完成")
        self.assertEqual(self.server.value("SELECT name FROM Author WHERE id = 7"), "Ann")
        self.assert_accessible(browser)

    def test_a_large_file_is_sent_in_pieces_and_resumed(self):
        browser = self.at_page()
        count = 60_000
        lines = (json.dumps({"id": number, "name": f"Author {number} " + "x" * 150}) for number in range(100, 100 + count))
        path = self.file("Author.jsonl", "\n".join(lines) + "\n")
        self.assertGreater(os.path.getsize(path), 8 << 20)
        # A piece that fails on its way is sent again.
        browser.driver.execute_script("""
            const send = window.fetch;
            window.puts = [];
            window.fetch = (address, options) => {
                if (options?.method !== 'PUT') return send(address, options);
                window.puts.push(String(address));
                return window.puts.length === 2 ? Promise.reject(new TypeError('lost')) : send(address, options);
            };""")
        self.bring(browser, path)
        browser.click('[value="import"]')
        browser.wait_for_text('[aria-labelledby="import-title"]', "Imported.")
        self.assertEqual(self.server.value("SELECT count(*) FROM Author"), 6 + count)
        offsets = [int(address.split("offset=")[1]) for address in browser.driver.execute_script("return window.puts")]
        self.assertEqual(offsets[:4], [0, 4 << 20, 4 << 20, 8 << 20])

    def test_a_read_only_dashboard_offers_only_exports(self):
        self.server.stop()
        self.server.start("--dashboard", "read-only")
        browser = self.at_page()
        browser.click('.card [type="submit"]')
        browser.wait_for_text('[aria-labelledby="export-title"]', "51 rows were exported")
        self.assertEqual(browser.all("#import-files"), [])


if __name__ == "__main__":
    unittest.main()
