"""Examples/Apps/bookshelf, used as by a person."""

import unittest

from support import AppTest, Keys

HOSTILE = [
    "<script>window.harmed = 1</script>",
    "<img src=x onerror='window.harmed = 1'>",
    "\"><svg onload=window.harmed=1>",
    "javascript:window.harmed=1",
    "{{constructor.constructor('window.harmed=1')()}} ${window.harmed=1} {title}",
    "'; DROP TABLE Book; --",
    "$& $1 $` \\ \u202eevil \u0007 👩‍👩‍👧 中文",
]


class Bookshelf(AppTest):
    app = "bookshelf"

    def fill(self, browser, title="Mort", year="1987", genre="Fantasy", isbn="9780575041714"):
        for name, value in [("title", title), ("year", year), ("isbn", isbn)]:
            browser.type(f'#new-book [name="{name}"]', value)
        for option in browser.all('#new-book [name="genre"] option'):
            if option.text == genre:
                option.click()

    def submit(self, browser):
        browser.click("#new-book button.main")

    def with_examples(self, **options):
        browser = self.browse(**options)
        browser.click("#examples")
        browser.wait(lambda: len(browser.all("#books li")) == 2, "two books")
        return browser

    def add_name(self, browser, kind, name):
        browser.click("#menu summary")
        browser.click(f'#menu button[value="{kind}"]')
        browser.type("#naming input", name)
        browser.click("#naming button.main")

    def test_a_book_is_added_by_keyboard(self):
        browser = self.browse()
        browser.one("#empty")
        for place, (kind, name) in enumerate([("Genre", "Fantasy"), ("Publisher", "Gollancz"), ("Author", "Terry Pratchett")]):
            browser.tab_to("#menu summary")
            browser.press(Keys.ENTER, *[Keys.TAB] * (place + 1), Keys.ENTER)
            browser.one("#naming")
            browser.press(name, Keys.ENTER)
            browser.wait_for_text("#status", name)
            browser.wait(lambda: browser.focused().tag_name == "summary", "the menu to have the focus again")
        browser.tab_to('[name="title"]')
        browser.press("Mort", Keys.TAB, "1987", Keys.TAB, "F", Keys.TAB, "978-0-575-04171-4", Keys.ENTER)
        browser.wait_for_text("#books", "Mort\nISBN 9780575041714")
        browser.tab_to("#books button")
        browser.press(Keys.ENTER)
        browser.one("#details")
        browser.tab_to("#authors input")
        browser.press(Keys.SPACE)
        browser.tab_to("#publishers input")
        browser.press(Keys.SPACE)
        browser.press(Keys.ESCAPE)
        browser.wait(lambda: not browser.one_text("#details[open]"), "the details to close")
        book = self.server.find("Book", include="genre,isbn")[0]
        self.assertEqual(
            (book["title"], book["publishingYear"], book["genre"]["name"], book["isbn"]["value"]),
            ("Mort", 1987, "Fantasy", "9780575041714"))
        browser.tab_to("#books button")
        browser.press(Keys.ENTER)
        browser.one("#details")
        checked = browser.wait(lambda: browser.texts("#details label:has(:checked)"), "what is related")
        self.assertEqual(checked, ["Terry Pratchett", "Gollancz"])
        browser.tab_to("#delete")
        browser.press(Keys.ENTER)
        browser.wait_for_text("dialog.message", "Delete “Mort” and its ISBN?")
        browser.press(Keys.ENTER)
        browser.one("#empty")
        self.assertEqual((self.server.find("Book"), self.server.find("ISBN")), ([], []))

    def test_the_menu_is_closed_by_escape_and_by_a_click_elsewhere(self):
        browser = self.browse()
        browser.tab_to("#menu summary")
        browser.press(Keys.ENTER, Keys.TAB, Keys.ESCAPE)
        browser.wait(lambda: not browser.all("#menu[open]"), "the menu to close")
        browser.wait(lambda: browser.focused().tag_name == "summary", "the menu to have the focus again")
        browser.click("#menu summary")
        browser.click("h1")
        browser.wait(lambda: not browser.all("#menu[open]"), "the menu to close")

    def test_duplicates_and_invalid_input_are_reported_in_both_languages(self):
        messages = {
            "en": [
                "A book needs a title.", "The year must be a whole number, not “nineteen”.", "Choose a genre first.",
                "“12345” isn’t an ISBN", "ISBN 9780575048003 already belongs to “Good Omens”.",
                "There is already a genre called Fantasy.", "There is already a publisher called Gollancz.",
                "There is already an author called Neil Gaiman.", "A name is missing.",
            ],
            "zh-CN": [
                "图书必须有书名。", "年份必须是整数，不能是“nineteen”。", "请先选择类型。", "“12345”不是 ISBN",
                "ISBN 9780575048003 已经属于《Good Omens》。", "已经有名为Fantasy的类型。",
                "已经有名为Gollancz的出版社。", "已经有名为Neil Gaiman的作者。", "请输入名称。",
            ],
        }
        bad = [
            ("title", {"title": "  "}), ("year", {"year": "nineteen"}), ("genre", {"genre": None}),
            ("isbn", {"isbn": "12345"}), ("isbn", {"isbn": "978-0-575-04800-3"}),
        ]
        names = [("Genre", "Fantasy"), ("Publisher", "Gollancz"), ("Author", "Neil Gaiman"), ("Author", " ")]
        for language, expected in messages.items():
            browser = self.browse(language=language)
            if language == "en":
                browser.click("#examples")
            browser.wait(lambda: len(browser.all("#books li")) == 2, "two books")
            for (field, fields), message in zip(bad, expected):
                browser.driver.refresh()
                browser.wait(lambda: len(browser.all('[name="genre"] option')) == 3, "the genres")
                self.fill(browser, **fields)
                self.submit(browser)
                browser.answer(message, "ok")
                browser.wait(lambda: browser.focused().get_attribute("name") == field, f"the focus of {field}")
                self.assertEqual(browser.focused().get_attribute("aria-invalid"), "true")
            for (kind, name), message in zip(names, expected[len(bad):]):
                self.add_name(browser, kind, name)
                browser.answer(message, "ok")
                browser.wait(lambda: browser.focused().get_attribute("name") == "name", "the focus of the name")
                browser.press(Keys.ESCAPE)
                browser.wait(lambda: not browser.all("#naming[open]"), "the form to close")
        counts = [len(self.server.find(each)) for each in ["Book", "ISBN", "Genre", "Publisher", "Author"]]
        self.assertEqual(counts, [2, 2, 2, 2, 3])

    def test_the_list_shows_isbns_and_the_details_show_related_objects(self):
        browser = self.with_examples()
        self.assertEqual(
            browser.texts("#books li"), ["Good Omens\nISBN 9780575048003", "The Dispossessed\nISBN 9780060125639"])
        browser.click("#books li:nth-child(2) button")
        browser.wait_for_text("#details", "The Dispossessed")
        self.assertEqual(browser.texts("#details dd"), ["1974", "Science fiction", "9780060125639"])
        self.assertEqual(
            browser.texts("#details label:has(:checked)"), ["Ursula K. Le Guin", "Gollancz", "Harper & Row"])
        browser.click("#authors label:nth-child(1) input")
        browser.click("#publishers label:nth-child(1) input")
        browser.click("#details [data-closes]")
        book = self.server.pointer("Book", self.server.find("Book", order="title")[1]["objectId"])
        for class_name, key, expected in [
            ("Author", "authors", ["Neil Gaiman", "Ursula K. Le Guin"]), ("Publisher", "publishers", ["Harper & Row"])
        ]:
            where = f'{{"$relatedTo": {{"object": {str(book).replace(chr(39), chr(34))}, "key": "{key}"}}}}'
            browser.wait(
                lambda: [each["name"] for each in self.server.find(class_name, where=where, order="name")] == expected,
                f"{key} to be stored")

    def test_further_pages_of_books_are_loaded_on_demand(self):
        genre = self.server.pointer("Genre", self.server.create("Genre", name="Novel"))
        for number in range(105):
            isbn = self.server.pointer("ISBN", self.server.create("ISBN", value=str(number)))
            self.server.create("Book", title=f"Book {number:03}", publishingYear=2000, genre=genre, isbn=isbn)
        browser = self.browse()
        browser.click("#more")
        browser.wait(lambda: len(browser.all("#books li")) == 105, "all books")
        self.assertFalse(browser.all("#more")[0].is_displayed())

    def test_changes_appear_in_other_browsers(self):
        first, second = self.with_examples(), self.browse()
        second.wait_for_text("#books", "Good Omens")
        second.tab_to("#books li:nth-child(2) button")
        self.fill(first)
        self.fill(second, title="Mort, again")
        second.tab_to("#books li:nth-child(2) button")
        self.submit(first)
        second.wait_for_text("#books", "Mort\n")
        # A new item of the list doesn't move the focus, and doesn't empty the form.
        second.wait(lambda: "The Dispossessed" in second.focused().text, "the focus of the book")
        self.submit(second)
        second.answer("ISBN 9780575041714 already belongs to “Mort”.", "ok")
        self.assertEqual(second.one('[name="title"]').get_attribute("value"), "Mort, again")
        second.click("#books li:nth-child(2) button")
        second.wait_for_text("#details", "Mort")
        first.click("#books li:nth-child(2) button")
        first.click("#delete")
        first.answer("Delete “Mort” and its ISBN?", "deleteBook")
        second.click("#authors input")
        second.answer("Somebody else has deleted this in the meantime.", "ok")
        second.wait(lambda: len(second.all("#books li")) == 2, "the book to go")
        self.assertEqual(len(self.server.find("ISBN")), 2)

    def test_a_stopped_server_is_reported_and_typed_text_is_kept(self):
        self.expects_lost_connections = True
        browser = self.with_examples()
        self.fill(browser)
        self.server.stop()
        browser.wait_for_text("#offline", "The server can’t be reached.")
        self.assertEqual(len(browser.all("#books li")), 2)
        self.submit(browser)
        browser.answer("so this wasn’t done", "ok")
        self.server.start()
        browser.wait(lambda: not browser.all("#offline")[0].is_displayed(), "the page to recover")
        self.assertEqual(browser.one('[name="title"]').get_attribute("value"), "Mort")
        self.submit(browser)
        browser.wait_for_text("#books", "Mort\n")
        self.assertEqual(len(self.server.find("Book")), 3)

    def test_the_reason_is_shown_if_the_server_refuses_the_app(self):
        browser = self.browse()
        browser.open(f"{self.server.origin}/notes/")
        browser.wait_for_text("#status", "unauthorized")

    def test_the_reason_is_shown_if_a_live_query_is_refused(self):
        browser = self.browse()
        error = browser.driver.execute_async_script("""
            const done = arguments[0];
            import("/shared/parse.js").then(({ Client, ParseError }) => new Client({ applicationId: "another" }).follow(
                "Book", (error) => done([error instanceof ParseError, error.code, error.message])));
        """)
        self.assertEqual(error, [True, 4, "Key in request is not valid"])

    def test_markup_in_texts_is_shown_as_text(self):
        browser = self.browse()
        for place, text in enumerate(HOSTILE):
            genre = self.server.pointer("Genre", self.server.create("Genre", name=text))
            isbn = self.server.pointer("ISBN", self.server.create("ISBN", value=f"{place} {text}"))
            for class_name in ["Author", "Publisher"]:
                self.server.create(class_name, name=text)
            self.server.create("Book", title=f"{place} {text}", publishingYear=2000, genre=genre, isbn=isbn)
        browser.wait(lambda: len(browser.all("#books li")) == len(HOSTILE), "all books")
        shown = browser.driver.execute_script(
            "return Array.from(document.querySelectorAll('#books button'), (each) => each.firstChild.data)")
        self.assertEqual(shown, [f"{place} {text}" for place, text in enumerate(HOSTILE)])
        for place, text in enumerate(HOSTILE):
            browser.click(f"#books li:nth-child({place + 1}) button")
            browser.wait(lambda: browser.driver.execute_script(
                "return document.querySelector('#details-heading').textContent") == f"{place} {text}", "the details")
            browser.click("#delete")
            browser.wait_for_text("dialog.message", "Delete “")
            message = browser.driver.execute_script("return document.querySelector('dialog.message p').textContent")
            self.assertEqual(message, f"Delete “{place} {text}” and its ISBN?")
            browser.click('dialog.message button[value="cancel"]')
            browser.click("#details [data-closes]")
        # They can also be typed.
        self.add_name(browser, "Author", "<b onmouseover=window.harmed=1>x</b>")
        browser.wait_for_text("#status", "<b onmouseover")
        self.assertFalse(browser.driver.execute_script("return window.harmed"))
        self.assertEqual(browser.all("main script, main img, main svg, main b, dialog script, dialog img, dialog b"), [])
        self.assertFalse(browser.is_wider_than_its_window())

    def test_the_page_is_accessible_in_all_languages_colours_and_widths(self):
        for language, width, dark in [("en", 1100, False), ("zh-CN", 1100, True), ("en", 360, True), ("zh-CN", 360, False)]:
            browser = self.browse(language=language, width=width, dark=dark)
            name = f"bookshelf-{language}-{width}"
            self.assert_accessible(browser)
            if browser.all("#examples")[0].is_displayed():
                browser.click("#examples")
            browser.wait(lambda: len(browser.all("#books li")) == 2, "two books")
            self.assert_accessible(browser)
            browser.screenshot(name)
            self.submit(browser)
            browser.one("dialog.message")
            self.assert_accessible(browser)
            browser.screenshot(f"{name}-message")
            browser.click("dialog.message button")
            browser.click("#menu summary")
            self.assert_accessible(browser)
            browser.screenshot(f"{name}-menu")
            browser.click("#menu button")
            browser.one("#naming")
            self.assert_accessible(browser)
            browser.press(Keys.ESCAPE)
            browser.click("#books button")
            browser.one("#details")
            self.assert_accessible(browser)
            browser.screenshot(f"{name}-details")
            self.assertFalse(browser.is_wider_than_its_window(), name)

    def test_the_default_language_is_the_browsers(self):
        browser = self.browse(language="zh-CN")
        browser.wait_for_text("h1", "书架")
        self.assertEqual(browser.driver.title, "书架")
        browser.click("#language")
        browser.wait_for_text("h1", "Bookshelf")
        browser.driver.refresh()
        browser.wait_for_text("h1", "Bookshelf")
        self.assertEqual(browser.driver.execute_script("return document.documentElement.lang"), "en")
        other = self.browse(language="de")
        other.wait_for_text("h1", "Bookshelf")


if __name__ == "__main__":
    unittest.main()
