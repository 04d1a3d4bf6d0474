"""Examples/Apps/notes, used as by a person."""

import base64
import contextlib
import pathlib
import sqlite3
import struct
import tempfile
import unittest
import urllib.request
import zlib

from support import ActionChains, AppTest, Keys
from test_bookshelf import HOSTILE


def picture(width, height):
    """A blue PNG."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = (b"\0" + b"\x20\x60\xc0" * width) * height
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


class Notes(AppTest):
    app = "notes"

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / "lake.png"
        self.file.write_bytes(picture(800, 400))
        self.other_file = pathlib.Path(folder.name) / "letter.txt"
        self.other_file.write_text("no picture")

    def write(self, browser, title, text):
        browser.click("#new")
        browser.type('[name="title"]', title)
        browser.type('[name="text"]', text)
        self.save(browser)

    def save(self, browser):
        browser.click("#note button.main")
        browser.wait(lambda: not browser.texts("#unsaved"), "everything to be saved")
        time = self.stored()[0]["updatedAt"]
        browser.wait(
            lambda: any(time in each.get_attribute("data-state") for each in browser.all("#notes li")[:1]),
            "the list to follow")

    def titles(self, browser):
        return browser.driver.execute_script(
            "return Array.from(document.querySelectorAll('#notes button'), (each) => each.firstChild.data)")

    def wait_for_titles(self, browser, *titles):
        browser.wait(lambda: self.titles(browser) == list(titles), f"{titles} in the list, not {self.titles(browser)}")

    def open(self, browser, title):
        for button in browser.all("#notes button"):
            if button.text.startswith(title):
                button.click()
        browser.wait(lambda: self.value(browser, "title") == title, f"{title} in the editor")

    def value(self, browser, name):
        return browser.driver.execute_script("return document.forms[0].elements[arguments[0]].value", name)

    def place(self, browser):
        return browser.driver.execute_script(
            "const { left, top } = document.querySelector('#images button').style; return [left, top]")

    def natural_width(self, browser):
        """The width of the first picture, if it is shown."""
        return browser.driver.execute_script("return document.querySelector('#images img')?.naturalWidth")

    def files(self):
        """The files of the server, and the number of objects that refer to each."""
        with contextlib.closing(sqlite3.connect(self.server.database)) as connection:
            names = [name for name, in connection.execute("SELECT name FROM _File ORDER BY createdAt")]
            # The relation is created with the first reference.
            links = connection.execute('SELECT * FROM "_Join:_files:NoteImage"').fetchall()
            return [sum(name in link for link in links) for name in names]

    def stored(self, class_name="Note"):
        return self.server.find(class_name, order="-updatedAt")

    def test_a_note_is_written_changed_and_deleted_by_keyboard(self):
        browser = self.browse()
        browser.one("#empty")
        browser.tab_to("#new")
        browser.press(Keys.ENTER, "Shopping")
        browser.tab_to('[name="text"]')
        browser.press("Rice, tea")
        browser.chord(Keys.CONTROL, "s")
        self.wait_for_titles(browser, "Shopping")
        browser.tab_to("#new")
        browser.press(Keys.ENTER, "Walk", Keys.ENTER)
        browser.wait_for_text("dialog.message", "A note needs a text.")
        browser.press(Keys.ENTER)
        browser.wait(lambda: browser.focused().get_attribute("name") == "text", "the focus to be in the text")
        browser.press("Start at the mill.")
        browser.tab_to("#note button.main")
        browser.press(Keys.ENTER)
        self.wait_for_titles(browser, "Walk", "Shopping")
        # A changed note moves to the top.
        browser.tab_to("#notes button")
        browser.press(Keys.ARROW_DOWN, Keys.ENTER)
        browser.wait(lambda: self.value(browser, "text") == "Rice, tea", "the note in the editor")
        browser.tab_to('[name="fontName"]')
        browser.press("C")
        browser.tab_to('[name="fontSize"]')
        browser.press(Keys.ARROW_UP, Keys.ARROW_UP)
        browser.tab_to('[name="text"]')
        browser.chord(Keys.CONTROL, Keys.END)
        browser.press(", lamp oil")
        browser.chord(Keys.CONTROL, "s")
        self.wait_for_titles(browser, "Shopping", "Walk")
        note = self.stored()[0]
        self.assertEqual(
            (note["text"], note["fontName"], note["fontSize"]), ("Rice, tea, lamp oil", "Courier New", 18))
        browser.tab_to("#new")
        browser.tab_to("#notes button")
        browser.press(Keys.DELETE)
        browser.wait_for_text("dialog.message", "Delete “Shopping”?")
        browser.press(Keys.ESCAPE)
        browser.wait(lambda: not browser.all("dialog.message"), "the message to close")
        self.assertEqual(self.titles(browser), ["Shopping", "Walk"])
        browser.press(Keys.DELETE)
        browser.wait_for_text("dialog.message", "Delete “Shopping”?")
        browser.press(Keys.ENTER)
        self.wait_for_titles(browser, "Walk")
        browser.wait(lambda: browser.focused().text.startswith("Walk"), "the focus on the next note")
        browser.press(Keys.BACKSPACE)
        browser.wait_for_text("dialog.message", "Delete “Walk”?")
        browser.press(Keys.ENTER)
        browser.one("#empty")
        self.assertEqual([self.stored(each) for each in ["Note", "NoteVersion", "NoteImage"]], [[], [], []])

    def test_the_list_scrolls_to_the_top_after_an_edit(self):
        for number in range(120):
            note = f"note{number}"
            self.server.create("Note", objectId=note, title=f"Note {number}", text="text", version=1)
            self.server.create("NoteVersion", objectId=f"{note}-1", note=self.server.pointer("Note", note))
        browser = self.browse()
        browser.click("#more")
        browser.wait(lambda: len(browser.all("#notes li")) == 120, "all notes")
        last = browser.all("#notes button")[-1]
        browser.driver.execute_script("arguments[0].scrollIntoView()", last)
        scroll = "return document.querySelector('#notes').scrollTop"
        self.assertGreater(browser.driver.execute_script(scroll), 1000)
        last.click()
        browser.wait(lambda: self.value(browser, "title") == "Note 0", "the note in the editor")
        browser.type('[name="text"]', "another text")
        self.save(browser)
        self.assertEqual((self.titles(browser)[:2], len(self.titles(browser))), (["Note 0", "Note 119"], 120))
        self.assertEqual(browser.driver.execute_script(scroll), 0)

    def test_font_size_and_colour_are_shown_and_stored(self):
        browser = self.browse()
        self.write(browser, "Walk", "Start at the mill.")
        for option in browser.all('[name="fontName"] option'):
            if option.text == "Verdana":
                option.click()
        browser.type('[name="fontSize"]', "24")
        browser.driver.execute_script(
            "const field = document.forms[0].elements.textColor; field.value = '#8a1c1c';"
            "field.dispatchEvent(new Event('input', { bubbles: true }))")
        look = "const { fontFamily, fontSize, color } = getComputedStyle(document.forms[0].elements.text);" \
            "return [fontFamily, fontSize, color]"
        expected = ["Verdana, serif", "24px", "rgb(138, 28, 28)"]
        self.assertEqual(browser.driver.execute_script(look), expected)
        self.save(browser)
        browser.driver.refresh()
        self.wait_for_titles(browser, "Walk")
        self.open(browser, "Walk")
        self.assertEqual(browser.driver.execute_script(look), expected)
        browser.type('[name="fontSize"]', "500")
        browser.click("#note button.main")
        browser.answer("The size must be a whole number from 8 to 72.", "ok")
        browser.wait(lambda: browser.focused().get_attribute("name") == "fontSize", "the focus of the size")
        self.assertEqual(self.stored()[0]["fontSize"], 24)
        browser.type('[name="fontSize"]', "24")
        self.save(browser)

    def test_images_are_added_moved_and_removed(self):
        browser = self.browse()
        self.write(browser, "Lake", "Start at the boathouse.")
        browser.all("#file")[0].send_keys(str(self.other_file))
        browser.answer("“letter.txt” isn’t a picture.", "ok")
        browser.all("#file")[0].send_keys(str(self.file))
        image = browser.one("#images button")
        self.assertIn("lake.png", image.get_attribute("aria-label"))
        browser.wait(lambda: self.natural_width(browser) == 640, "the picture, scaled down")
        ActionChains(browser.driver).drag_and_drop_by_offset(image, 70, 55).perform()
        self.assertEqual(self.place(browser), ["90px", "75px"])
        self.save(browser)
        self.assertEqual([(each["x"], each["y"]) for each in self.stored("NoteImage")], [(90, 75)])
        file = self.stored("NoteImage")[0]["file"]
        self.assertTrue(file["name"].endswith("_image.webp"), file)
        with urllib.request.urlopen(file["url"], timeout=10) as reply:
            self.assertEqual(reply.headers["Content-Type"], "image/webp")
            self.assertLess(len(reply.read()), 20_000)
        browser.tab_to("#images button")
        browser.press(Keys.ARROW_LEFT, Keys.ARROW_DOWN)
        browser.chord(Keys.SHIFT, Keys.ARROW_DOWN)
        browser.wait_for_text("#unsaved", "Not saved yet")
        self.save(browser)
        browser.driver.refresh()
        self.wait_for_titles(browser, "Lake")
        self.open(browser, "Lake")
        browser.one("#images button")
        self.assertEqual(self.place(browser), ["80px", "86px"])
        browser.wait(lambda: self.natural_width(browser) == 640, "the picture, from the server")
        self.assertEqual(self.files(), [1])
        # The image stays on the paper.
        ActionChains(browser.driver).drag_and_drop_by_offset(browser.one("#images button"), -300, -300).perform()
        self.assertEqual(self.place(browser), ["0px", "0px"])
        browser.tab_to("#images button")
        browser.press(Keys.DELETE)
        browser.wait(lambda: not browser.all("#images button"), "the image to go")
        self.assertEqual(len(self.stored("NoteImage")), 1)
        self.save(browser)
        self.assertEqual(self.stored("NoteImage"), [])
        # Nothing refers to the file any more, so the server deletes it after a day.
        self.assertEqual(self.files(), [0])

    def test_an_image_stored_by_an_older_version_becomes_a_file_when_saved(self):
        note = self.server.create("Note", objectId="old", title="Lake", text="Start", version=1)
        self.server.create("NoteVersion", objectId="old-1", note=self.server.pointer("Note", note))
        self.server.create(
            "NoteImage", note=self.server.pointer("Note", note), name="lake.png", x=10, y=20, width=200, height=100,
            data={"__type": "Bytes", "base64": base64.b64encode(picture(80, 40)).decode()})
        browser = self.browse()
        self.wait_for_titles(browser, "Lake")
        self.open(browser, "Lake")
        browser.wait(lambda: self.natural_width(browser) == 80, "the picture in the note")
        browser.type('[name="text"]', "Start at the mill")
        self.save(browser)
        image = self.stored("NoteImage")[0]
        self.assertNotIn("data", image)
        self.assertTrue(image["file"]["name"].endswith("_image.png"), image)
        with urllib.request.urlopen(image["file"]["url"], timeout=10) as reply:
            self.assertEqual(reply.read(), picture(80, 40))
        self.assertEqual(self.files(), [1])
        # After another save, the image keeps its file.
        browser.type('[name="text"]', "Start at the boathouse")
        self.save(browser)
        self.assertEqual(self.files(), [1])

    def test_swiping_deletes_a_note_and_its_images(self):
        browser = self.browse()
        self.write(browser, "Shopping", "Rice")
        self.write(browser, "Lake", "Start")
        browser.all("#file")[0].send_keys(str(self.file))
        browser.one("#images button")
        self.save(browser)
        item = browser.one("#notes button")
        # A short swipe does nothing, and doesn't count as a click either.
        self.open(browser, "Shopping")
        ActionChains(browser.driver).drag_and_drop_by_offset(item, -40, 3).perform()
        self.assertEqual(browser.all("dialog.message"), [])
        self.assertEqual(self.value(browser, "title"), "Shopping")
        self.assertEqual(browser.driver.execute_script("return arguments[0].style.translate", item), "")
        ActionChains(browser.driver).drag_and_drop_by_offset(item, -160, 3).perform()
        browser.answer("Delete “Lake” and its images (1)?", "cancel")
        self.assertEqual(len(self.stored()), 2)
        browser.one("#notes button").send_keys(Keys.ENTER)
        browser.wait(lambda: self.value(browser, "title") == "Lake", "the note in the editor")
        ActionChains(browser.driver).drag_and_drop_by_offset(browser.one("#notes button"), -160, 3).perform()
        browser.answer("Delete “Lake” and its images (1)?", "deleteNote")
        self.wait_for_titles(browser, "Shopping")
        self.assertEqual([len(self.stored(each)) for each in ["Note", "NoteVersion", "NoteImage"]], [1, 1, 0])

    def test_swiping_works_by_touch(self):
        browser = self.browse(width=400, touch=True)
        self.write(browser, "Shopping", "Rice")
        browser.click("#back")
        box = browser.one("#notes button").rect
        x, y = box["x"] + box["width"] - 20, box["y"] + box["height"] / 2
        touch = lambda kind, *points: browser.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {
            "type": kind, "touchPoints": [{"x": place, "y": y} for place in points]})
        touch("touchStart", x)
        for step in range(1, 11):
            touch("touchMove", x - 20 * step)
        browser.screenshot("notes-swipe")
        touch("touchEnd")
        browser.answer("Delete “Shopping”?", "deleteNote")
        browser.one("#empty")
        self.assertEqual(self.stored(), [])

    def test_changes_by_others_appear_automatically(self):
        first, second = self.browse(), self.browse()
        self.write(first, "Shopping", "Rice")
        self.write(first, "Walk", "Start at the mill.")
        self.wait_for_titles(second, "Walk", "Shopping")
        self.open(second, "Shopping")
        self.open(first, "Shopping")
        first.type('[name="text"]', "Rice, tea")
        self.save(first)
        self.wait_for_titles(second, "Shopping", "Walk")
        second.wait(lambda: self.value(second, "text") == "Rice, tea", "the text to follow")
        first.click("#delete")
        first.answer("Delete “Shopping”?", "deleteNote")
        second.wait_for_text("#status", "Somebody else has deleted this note.")
        self.assertFalse(second.all("#note")[0].is_displayed())

    def conflict(self):
        """Two people who have changed the same note, of whom the first has saved."""
        first, second = self.browse(), self.browse()
        self.write(first, "Shopping", "Rice")
        self.wait_for_titles(second, "Shopping")
        self.open(second, "Shopping")
        second.type('[name="text"]', "Lamp oil")
        second.all("#file")[0].send_keys(str(self.file))
        second.one("#images button")
        first.type('[name="text"]', "Rice, tea")
        self.save(first)
        second.wait_for_text("#notice", "Somebody else has changed this note in the meantime.")
        self.assertEqual(self.value(second, "text"), "Lamp oil")
        second.click("#note button.main")
        return first, second

    def test_after_a_conflict_the_own_version_can_be_kept(self):
        first, second = self.conflict()
        second.answer("It now reads: “Shopping” – Rice, tea", "cancel")
        self.assertEqual((self.stored()[0]["text"], self.stored("NoteImage")), ("Rice, tea", []))
        second.wait_for_text("#unsaved", "Not saved yet")
        second.click("#note button.main")
        second.answer("It now reads: “Shopping” – Rice, tea", "keepMine")
        second.wait(lambda: not second.texts("#unsaved"), "everything to be saved")
        self.assertEqual((self.stored()[0]["text"], self.stored()[0]["version"]), ("Lamp oil", 3))
        self.assertEqual((len(self.stored("NoteImage")), len(self.stored("NoteVersion"))), (1, 1))
        first.wait(lambda: self.value(first, "text") == "Lamp oil", "the text to follow")
        first.one("#images button")

    def test_after_a_conflict_the_other_version_can_be_taken(self):
        _, second = self.conflict()
        second.answer("It now reads: “Shopping” – Rice, tea", "takeTheirs")
        second.wait(lambda: self.value(second, "text") == "Rice, tea", "the other text")
        self.assertEqual(second.all("#images button"), [])
        second.type('[name="text"]', "Rice, tea, oil")
        self.save(second)
        self.assertEqual((self.stored()[0]["text"], self.stored()[0]["version"]), ("Rice, tea, oil", 3))

    def test_a_note_deleted_by_somebody_else_can_be_kept(self):
        first, second = self.browse(), self.browse()
        self.write(first, "Shopping", "Rice")
        self.wait_for_titles(second, "Shopping")
        self.open(second, "Shopping")
        second.type('[name="text"]', "Lamp oil")
        first.click("#delete")
        first.answer("Delete “Shopping”?", "deleteNote")
        second.wait_for_text("#notice", "Somebody else has deleted this note.")
        second.click("#note button.main")
        second.answer("Somebody else has deleted this note.", "keepMine")
        self.wait_for_titles(first, "Shopping")
        self.assertEqual([each["text"] for each in self.stored()], ["Lamp oil"])

    def test_leaving_an_unsaved_note_asks_what_to_do(self):
        browser = self.browse()
        self.write(browser, "Shopping", "Rice")
        self.write(browser, "Walk", "Start at the mill.")
        browser.type('[name="text"]', "Start at the lake.")
        # Choosing the note that is already in the editor changes nothing.
        browser.click("#notes li:nth-child(1) button")
        self.assertEqual((browser.all("dialog.message"), self.value(browser, "text")), ([], "Start at the lake."))
        for button, value, title in [("cancel", "Start at the lake.", "Walk"), ("discard", "Rice", "Shopping")]:
            browser.click("#notes li:nth-child(2) button")
            browser.answer("Your changes aren’t saved yet.", button)
            browser.wait(lambda: self.value(browser, "text") == value, value)
            self.assertEqual(self.value(browser, "title"), title)
        browser.type('[name="text"]', "Rice, tea")
        browser.click("#notes li:nth-child(1) button")
        browser.answer("Your changes aren’t saved yet.", "save")
        browser.wait(lambda: self.value(browser, "title") == "Walk", "the other note")
        self.assertEqual([(each["title"], each["text"]) for each in self.stored()],
                         [("Shopping", "Rice, tea"), ("Walk", "Start at the mill.")])

    def test_a_stopped_server_is_reported_and_written_text_is_kept(self):
        self.expects_lost_connections = True
        browser = self.browse(width=600, height=500)
        self.write(browser, "Shopping", "Rice")
        self.server.stop()
        browser.wait_for_text("#offline", "The server can’t be reached.")
        # It is visible regardless of the scroll position.
        place = browser.driver.execute_script(
            "document.querySelector('#delete').scrollIntoView(); scrollBy(0, 10000);"
            "return [scrollY, document.querySelector('#offline').getBoundingClientRect().top]")
        self.assertTrue(place[0] > 50 and place[1] >= 0, place)
        browser.type('[name="text"]', "Rice, tea")
        browser.click("#note button.main")
        browser.answer("so this wasn’t done", "ok")
        browser.wait_for_text("#unsaved", "Not saved yet")
        self.server.start()
        browser.wait(lambda: not browser.texts("#offline"), "the page to recover")
        self.assertEqual(self.value(browser, "text"), "Rice, tea")
        self.save(browser)
        self.assertEqual([(each["text"], each["version"]) for each in self.stored()], [("Rice, tea", 2)])

    def test_markup_in_texts_is_shown_as_text(self):
        for place, text in enumerate(HOSTILE):
            note = f"note{place}"
            self.server.create(
                "Note", objectId=note, title=f"{place} {text}", text=text, fontName=text, textColor=text, version=1)
            self.server.create("NoteVersion", objectId=f"{note}-1", note=self.server.pointer("Note", note))
            self.server.create(
                "NoteImage", note=self.server.pointer("Note", note), name=text, x=-9e9, y=9e9, width=9e9, height=-5,
                data={"__type": "Bytes", "base64": base64.b64encode(
                    b"<svg xmlns='http://www.w3.org/2000/svg' onload='window.harmed=1'/>").decode()})
        browser = self.browse()
        expected = [f"{place} {text}" for place, text in enumerate(HOSTILE)]
        browser.wait(lambda: sorted(self.titles(browser)) == expected, "all notes")
        for place, title in enumerate(reversed(expected)):
            browser.click(f"#notes li:nth-child({place + 1}) button")
            browser.wait(lambda: self.value(browser, "text") == title[2:], title)
            image = browser.one("#images button")
            self.assertIn(title[2:], image.get_attribute("aria-label"))
            self.assertTrue(0 <= image.rect["x"] < 1100 and image.rect["width"] < 1100)
        self.assertFalse(browser.driver.execute_script("return window.harmed"))
        self.assertEqual(browser.all("main script, main svg, main a, dialog script"), [])
        self.assertFalse(browser.is_wider_than_its_window())

    def test_the_page_is_accessible_in_all_languages_colours_and_widths(self):
        for language, width, dark in [("en", 1100, False), ("zh-CN", 1100, True), ("en", 360, True), ("zh-CN", 360, False)]:
            browser = self.browse(language=language, width=width, dark=dark)
            name = f"notes-{language}-{width}"
            browser.one("#overview")
            self.assert_accessible(browser)
            self.write(browser, "Walk round the lake", "Start at the mill, the boathouse is closed.")
            browser.all("#file")[0].send_keys(str(self.file))
            browser.one("#images button")
            self.assert_accessible(browser)
            browser.screenshot(f"{name}-editor")
            self.assertFalse(browser.is_wider_than_its_window(), name)
            self.save(browser)
            if width < 700:
                browser.click("#back")
                browser.wait(lambda: browser.focused().text.startswith("Walk"), "the focus of the note")
            self.assert_accessible(browser)
            browser.screenshot(name)
            browser.one("#notes button").send_keys(Keys.DELETE)
            browser.one("dialog.message")
            self.assert_accessible(browser)
            self.assertFalse(browser.is_wider_than_its_window(), name)

    def test_the_page_is_available_in_both_languages(self):
        browser = self.browse(language="zh-CN")
        browser.wait_for_text("#empty", "还没有笔记。")
        browser.click("#new")
        browser.click("#note button.main")
        browser.answer("笔记必须有标题。", "ok")
        browser.type('[name="title"]', "购物")
        browser.type('[name="text"]', "米、茶")
        self.save(browser)
        browser.wait_for_text("#status", "已保存“购物”。")
        browser.click("#language")
        browser.wait_for_text("h1", "Notes")
        self.assertEqual(browser.one('[name="text"]').get_attribute("aria-label"), "Text")
        self.assertEqual(self.value(browser, "text"), "米、茶")


if __name__ == "__main__":
    unittest.main()
