"""The files of the store in the dashboard of `relata serve`."""

import base64
import json
import os
import unittest
import urllib.request

from dashboard import KEY, DashboardTest
from support import Keys

PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==")


class Files(DashboardTest):
    def setUp(self):
        super().setUp()
        self.server.stop()
        self.start()

    def start(self, *options):
        self.server.start("--files", os.path.join(self.server.folder.name, "library.files"), *options)

    def upload(self, name, text="hello"):
        """Uploads a file as another client, and returns its name on the server."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.server.port}/parse/files/{name}", method="POST", data=text.encode(),
            headers={"X-Parse-Application-Id": "app", "X-Parse-Master-Key": KEY})
        with urllib.request.urlopen(request, timeout=10) as reply:
            return json.load(reply)["name"]

    def attach(self, name):
        return self.server.ask("POST", "/classes/Letter", {"title": "Dear", "scan": {"__type": "File", "name": name}})["objectId"]

    def at_page(self, **options):
        browser = self.signed_in("#/Book", **options)
        browser.open(self.server.address + "#//files")
        browser.one("#unused-only")
        browser.wait(lambda: browser.all('.files[aria-busy="false"]'), "the files")
        return browser

    def lines(self, browser):
        """The name of each file, and its uses."""
        cells = [text.split("\t") for text in browser.texts(".plain-table tbody tr")]
        return {line[0]: line[4].strip() for line in cells}

    def opened(self, browser, action):
        """The content of the tab that an action opens."""
        first = browser.driver.current_window_handle
        action()
        browser.wait(lambda: len(browser.driver.window_handles) == 2, "another tab")
        browser.driver.switch_to.window(next(each for each in browser.driver.window_handles if each != first))
        browser.wait_for_text("body", "hello")
        browser.driver.close()
        browser.driver.switch_to.window(first)

    def test_files_are_listed_with_their_uses_and_opened(self):
        used, spare = self.upload("scan.txt"), self.upload("spare.png")
        self.attach(used)
        self.attach(used)
        browser = self.at_page()
        self.assertEqual(self.lines(browser), {"scan.txt": "2 objects refer to it", "spare.png": "no object yet; stays"})
        browser.wait_for_text(".plain-table", "text/plain")
        browser.wait_for_text(".plain-table", "5 bytes")
        self.assert_accessible(browser)
        self.opened(browser, browser.one(f'[title="{used}"]').click)
        # By keyboard alone.
        browser.tab_to("#unused-only")
        browser.press(Keys.SPACE)
        browser.wait(lambda: list(self.lines(browser)) == ["spare.png"], "the unused file alone")
        browser.tab_to(f'[title="{spare}"]')

    def test_a_file_in_use_is_deleted_only_by_force(self):
        used, spare = self.upload("scan.txt"), self.upload("spare.png")
        letter = self.attach(used)
        browser = self.at_page()
        browser.click('[aria-label="Delete the file spare.png?"]')
        browser.wait_for_text("dialog", "No object refers to it.")
        browser.press(Keys.ENTER)
        browser.wait(lambda: list(self.lines(browser)) == ["scan.txt"], "the file to go")
        browser.click('[aria-label="Delete the file scan.txt?"]')
        browser.wait_for_text("dialog", "1 object refers to it.")
        browser.click("dialog .danger")
        browser.wait_for_text("dialog [role=alert]", f"Letter {letter}")
        self.assert_accessible(browser)
        self.assertEqual(self.server.value("SELECT count(*) FROM _File"), 1)
        browser.wait_for_text("dialog .danger", "Delete anyway")
        browser.click("dialog .danger")
        browser.wait_for_text(".files", "There are no files.")
        self.assertEqual(self.server.value("SELECT count(*) FROM _File"), 0)
        self.assertEqual(self.server.ask("GET", f"/classes/Letter/{letter}")["scan"]["name"], used)

    def test_a_cell_shows_the_name_of_its_file_and_opens_it(self):
        self.attach(self.upload("scan.txt"))
        browser = self.signed_in("#/Letter")
        browser.wait(lambda: browser.texts(".grid-row [data-follow=scan]") == ["scan.txt"], "the name of the file")
        self.opened(browser, browser.one("[data-follow=scan]").click)
        # The panel also opens the file.
        browser.click(".grid-row .id")
        browser.wait_for_text("relata-inspector dl", "scan.txt")
        self.opened(browser, browser.one("relata-inspector dd [data-follow=scan]").click)

    def at_file(self, **options):
        """The editor of the only letter's file."""
        browser = self.signed_in("#/Letter", **options)
        browser.wait(lambda: len(self.rows(browser)) == 1, "the letter")
        self.edit_file(browser)
        return browser

    def edit_file(self, browser):
        browser.tab_to(".grid-scroller")
        browser.chord(Keys.CONTROL, Keys.HOME)
        browser.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.F2)
        browser.one(".file-editor")

    def local_file(self, name, content=PICTURE):
        path = os.path.join(self.server.folder.name, name)
        with open(path, "wb") as file:
            file.write(content)
        return path

    def choose(self, browser, path):
        browser.one(".editor [type=file]").send_keys(path)
        browser.wait_for_text(".chosen-file", os.path.basename(path))

    def is_picture_shown(self, browser, place):
        browser.wait(lambda: browser.driver.execute_script(
            "return document.querySelector(arguments[0] + ' img.preview')?.naturalWidth > 0", place), f"the picture in {place}")

    def scan(self, letter):
        return self.server.ask("GET", f"/classes/Letter/{letter}").get("scan", {}).get("name")

    def test_a_chosen_file_is_uploaded_when_all_is_saved(self):
        letter = self.attach(self.upload("scan.txt"))
        browser = self.at_file()
        self.opened(browser, browser.one(".chosen-file .link").click)
        self.choose(browser, self.local_file("my photo (1).png"))
        self.is_picture_shown(browser, ".editor")
        self.assert_accessible(browser)
        browser.tab_to(".editor .primary")
        browser.press(Keys.ENTER)
        browser.wait(lambda: browser.texts(".grid-row [data-follow=scan]") == ["my photo (1).png"], "the name of the new file")
        browser.wait_for_text(".page-title", "1 change")
        self.assertEqual(self.server.value("SELECT count(*) FROM _File"), 1)
        self.save(browser)
        name = self.scan(letter)
        self.assertTrue(name.endswith("_my photo _1_.png"), name)
        self.assertEqual(self.server.value("SELECT size FROM _File WHERE name = ?", name), len(PICTURE))
        # The panel shows the stored picture, as the editor does.
        browser.wait(lambda: browser.texts(".grid-row [data-follow=scan]") == ["my photo _1_.png"], "the stored file")
        browser.click(".grid-row .id")
        self.is_picture_shown(browser, "relata-inspector")
        browser.click('relata-inspector [aria-label="Edit scan"]')
        self.is_picture_shown(browser, ".editor")

    def test_a_file_is_dropped_and_taken_away(self):
        letter = self.attach(self.upload("scan.txt"))
        browser = self.at_file(language="zh-CN", dark=True)
        browser.driver.execute_script(
            "const dataTransfer = new DataTransfer(); dataTransfer.items.add(new File(['dropped'], '图.txt'));"
            "document.querySelector('.file-editor').dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }))")
        browser.wait_for_text(".chosen-file", "图.txt")
        self.assert_accessible(browser)
        browser.click(".editor .primary")
        browser.wait(lambda: browser.texts(".grid-row [data-follow=scan]") == ["图.txt"], "the name of the new file")
        browser.chord(Keys.CONTROL, "s")
        browser.wait(lambda: (self.scan(letter) or "").endswith("_.txt"), "the new file")
        browser.wait(lambda: browser.texts(".grid-row [data-follow=scan]") == ["_.txt"], "the stored file")
        self.edit_file(browser)
        browser.click(".chosen-file .square")
        self.assertEqual(browser.focused().get_attribute("type"), "file")
        browser.click(".editor .primary")
        browser.wait(lambda: browser.texts(".grid-row [data-follow=scan]") == [], "the file to go")
        browser.chord(Keys.CONTROL, "s")
        browser.wait(lambda: self.scan(letter) is None, "the letter without a file")

    def test_a_refused_upload_is_told_and_kept(self):
        letter = self.attach(self.upload("scan.txt"))
        browser = self.at_file()
        self.choose(browser, self.local_file("empty.png", b""))
        browser.click(".editor .primary")
        browser.wait_for_text(".page-title", "1 change")
        browser.chord(Keys.CONTROL, "s")
        browser.wait_for_text(".notice.problem", "Invalid file upload")
        browser.wait_for_text(".page-title", "1 change")
        self.assertTrue(self.scan(letter).endswith("_scan.txt"))

    def test_further_files_are_loaded_on_demand(self):
        for number in range(53):
            self.upload(f"{number}.txt")
        browser = self.at_page()
        self.assertEqual(len(self.lines(browser)), 50)
        browser.click(".page-scroll > button")
        browser.wait(lambda: len(self.lines(browser)) == 53, "the rest of the files")
        self.assertEqual(browser.texts(".page-scroll > button"), [])
        self.assertIn("link", browser.focused().get_attribute("class"))

    def test_a_read_only_dashboard_deletes_no_files(self):
        self.server.stop()
        self.start("--dashboard", "read-only")
        self.upload("scan.txt")
        browser = self.at_page(language="zh-CN", dark=True)
        self.assertEqual(self.lines(browser), {"scan.txt": "尚无对象引用；保留"})
        self.assertEqual(browser.all(".files td button.square"), [])
        self.assert_accessible(browser)

    def test_a_server_without_files_shows_a_message(self):
        self.server.stop()
        self.server.start()
        browser = self.at_page()
        browser.wait_for_text(".files", "This server stores no files")


if __name__ == "__main__":
    unittest.main()
