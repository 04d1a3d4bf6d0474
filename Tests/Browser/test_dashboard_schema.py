"""The schema as a file in the dashboard of `relata serve`: saved, compared and deployed."""

import json
import subprocess
import unittest

from dashboard import HOSTILE, FolderTest
from support import Keys

COMPARE = ".page-head .move-line button:nth-of-type(1)"
SAVE = ".page-head .move-line button:nth-of-type(2)"
DEPLOY = "dialog button.primary"


class SchemaFile(FolderTest):
    def at_page(self, **options):
        browser = self.signed_in("#/Book", **options)
        browser.open(self.server.address + "#//schema")
        browser.one(".class-card")
        return browser

    def exported(self):
        """The output of the command-line tool."""
        return subprocess.run(
            [self.server.tool, "schema", "export", self.server.database], check=True, capture_output=True, text=True).stdout

    def changed(self, name, change):
        """Writes the schema with a change, and returns the path of the file."""
        classes = json.loads(self.exported())
        change({each["className"]: each for each in classes}, classes)
        return self.file(name, json.dumps(classes))

    def choose(self, browser, path):
        browser.one("#schema-file").send_keys(path)

    def is_enabled(self, browser):
        return browser.one(DEPLOY).is_enabled()

    def test_the_saved_schema_is_the_file_of_the_tool_and_differs_in_nothing(self):
        browser = self.at_page()
        browser.click(SAVE)
        self.assertEqual(self.downloaded(browser, "library.sqlite.schema.json"), self.exported())
        browser.click(COMPARE)
        self.choose(browser, str(self.folder / "library.sqlite.schema.json"))
        browser.wait_for_text("dialog", "The schema is that of the file.")
        self.assertFalse(self.is_enabled(browser))
        browser.press(Keys.ESCAPE)
        browser.wait(lambda: not browser.all("dialog"), "the dialog to close")

    def test_a_file_is_compared_and_deployed_by_keyboard(self):
        def change(by_name, classes):
            by_name["Book"]["fields"]["note"] = {"type": "String", "defaultValue": HOSTILE[0]}
            classes.append({"className": "Shelf", "fields": {"room": {"type": "String"}}})

        browser = self.at_page()
        browser.tab_to(COMPARE)
        browser.press(Keys.ENTER)
        self.choose(browser, self.changed("wanted.json", change))
        browser.wait_for_text("dialog", "2 differences")
        rows = [text.split("\t") for text in browser.texts("dialog tbody tr")]
        self.assertEqual([row[0] for row in rows], ["Book", "Shelf"])
        self.assertEqual(rows[0][2], "None")
        self.assertIn(HOSTILE[0], rows[0][3])
        self.assertEqual(rows[1][1:], ["Class", "None", "room"])
        browser.wait_for_text("dialog", "add the class Shelf")
        browser.wait_for_text("dialog", "add Shelf.room: String")
        self.assertIsNone(self.server.value("SELECT 1 FROM sqlite_schema WHERE name = 'Shelf'"))
        self.assert_accessible(browser)
        browser.tab_to(DEPLOY)
        browser.press(Keys.ENTER)
        browser.one('.class-card[aria-label="Shelf"]')
        browser.wait_for_text(".classes", "Shelf")
        self.assertEqual(self.server.value("SELECT 1 FROM sqlite_schema WHERE name = 'Shelf'"), 1)
        self.assertIsNone(browser.driver.execute_script("return window.harmed ?? null"))
        browser.open(self.server.address + "#//inside")
        browser.wait_for_text('[aria-labelledby="audit-title"]', "POST /schema/deployment")
        browser.wait_for_text('[aria-labelledby="audit-title"]', "add the class Shelf")
        self.assertNotIn("harmed", browser.one_text('[aria-labelledby="audit-title"]'))

    def test_a_class_that_the_file_lacks_is_removed_only_if_asked_for_and_empty(self):
        self.server.sql("CREATE TABLE Spare (id INTEGER PRIMARY KEY, name TEXT)")

        def change(_, classes):
            classes[:] = [each for each in classes if each["className"] not in ("Spare", "Review")]

        browser = self.at_page()
        browser.click(COMPARE)
        self.choose(browser, self.changed("fewer.json", change))
        browser.wait_for_text("dialog", "2 differences")
        self.assertFalse(self.is_enabled(browser))
        browser.tab_to("#schema-removes")
        browser.press(Keys.SPACE)
        browser.wait_for_text("dialog", "remove the class Spare")
        browser.wait_for_text("dialog", "keep the class Review: it holds objects")
        browser.tab_to(DEPLOY)
        browser.press(Keys.ENTER)
        browser.wait(lambda: not browser.all("dialog"), "the deployment")
        browser.wait(lambda: not browser.all('.class-card[aria-label="Spare"]'), "the class to go")
        self.assertTrue(browser.all('.class-card[aria-label="Review"]'))

    def test_a_schema_that_cannot_be_deployed_and_an_invalid_one_are_refused(self):
        def change(by_name, _):
            by_name["Book"]["fields"]["title"] = {"type": "Number"}

        browser = self.at_page()
        browser.click(COMPARE)
        self.choose(browser, self.changed("other.json", change))
        browser.wait_for_text("dialog .form-problem", "can't deploy Book.title")
        self.assertFalse(self.is_enabled(browser))
        for name, text, words in [("a.json", "{", "This is no JSON"), ("b.json", "{}", "a schema is an array of classes")]:
            self.choose(browser, self.file(name, text))
            browser.wait_for_text("dialog footer .form-problem", words)
            self.assertFalse(self.is_enabled(browser))

    def test_a_plan_that_is_no_longer_true_is_not_deployed(self):
        browser = self.at_page()
        browser.click(COMPARE)
        self.choose(browser, self.changed("wanted.json", lambda _, classes: classes.extend([
            {"className": "Shelf"}, {"className": "Room"}])))
        browser.wait_for_text("dialog", "add the class Room")
        self.server.sql("CREATE TABLE Room (id INTEGER PRIMARY KEY)")
        browser.wait(lambda: self.is_enabled(browser), "the button")
        browser.click(DEPLOY)
        browser.wait_for_text("dialog footer .form-problem", "the plan is different now")
        browser.wait_for_text("dialog", "add the class Shelf")
        self.assertNotIn("add the class Room", browser.one_text("dialog"))
        browser.click(DEPLOY)
        browser.one('.class-card[aria-label="Shelf"]')

    def test_a_dashboard_that_only_reads_compares_only(self):
        path = self.changed("wanted.json", lambda _, classes: classes.append({"className": "Shelf"}))
        self.server.stop()
        self.server.start("--dashboard", "read-only")
        browser = self.at_page()
        browser.click(COMPARE)
        self.choose(browser, path)
        browser.wait_for_text("dialog", "1 difference")
        self.assertEqual(browser.all("#schema-removes") + browser.all(DEPLOY), [])

    def test_the_comparison_is_accessible_in_both_languages_and_schemes_wide_and_narrow(self):
        def change(by_name, _):
            by_name["Book"]["fields"]["pages"] = {"type": "Number", "required": True}
            by_name["Book"]["fields"]["title"] = {"type": "Number"}

        path = self.changed("wanted.json", change)
        for language, width, dark, words in [("en", 1280, False, "2 differences"), ("zh-CN", 400, True, "2 处不同")]:
            with self.subTest(language=language, width=width):
                browser = self.at_page(language=language, width=width, dark=dark)
                self.assertFalse(browser.is_wider_than_its_window())
                browser.click(COMPARE)
                self.choose(browser, path)
                browser.wait_for_text("dialog", words)
                self.assert_accessible(browser)
                self.assertFalse(browser.is_wider_than_its_window())
                browser.screenshot(f"dashboard-schema-file-{language}-{width}")


if __name__ == "__main__":
    unittest.main()
