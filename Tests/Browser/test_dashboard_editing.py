"""Changing objects in the dashboard of `relata serve`."""

import unittest

from dashboard import KEY, DashboardTest
from support import Keys


class Editing(DashboardTest):
    def at_cell(self, browser, row, column):
        """Moves to a cell of the grid by keyboard."""
        browser.wait(lambda: len(self.rows(browser)) > row, "the row")
        browser.tab_to(".grid-scroller")
        browser.chord(Keys.CONTROL, Keys.HOME)
        browser.press(*[Keys.ARROW_DOWN] * row, *[Keys.ARROW_RIGHT] * column)

    def edit(self, browser, text):
        """Opens the editor of the cell, and replaces its content by a text."""
        browser.press(Keys.F2)
        browser.one(".editor")
        browser.chord(Keys.CONTROL, "a")
        browser.press(text)

    def test_values_are_edited_in_place_by_keyboard_and_saved_together(self):
        browser = self.signed_in("#/Book")
        self.at_cell(browser, 5, 1)
        self.edit(browser, "Mort!")
        browser.press(Keys.ENTER)
        browser.press(Keys.ARROW_RIGHT)
        self.edit(browser, "soon")
        browser.press(Keys.ENTER)
        browser.wait_for_text(".editor", "no number")
        browser.chord(Keys.CONTROL, "a")
        browser.press("1988", Keys.ENTER)
        browser.press(Keys.ARROW_RIGHT)
        self.edit(browser, "cha")
        browser.wait_for_text(".choices", "Chatto")
        browser.press(Keys.ARROW_DOWN, Keys.ENTER)
        browser.wait(lambda: ["6", "Mort!", "1988", "Chatto & Windus"] in [row[:4] for row in self.rows(browser)], "what is to be saved")
        browser.wait_for_text(".page-title", "1 change")
        self.assertEqual(self.server.value("SELECT title FROM Book WHERE id = 6"), "Mort")
        browser.tab_to(".page-title button.primary")
        browser.press(Keys.ENTER)
        browser.wait_for_text("dialog", "Mort!")
        self.assertIn("1987", browser.one_text("dialog del"))
        self.assert_accessible(browser)
        browser.tab_to("dialog footer button.primary")
        browser.press(Keys.ENTER)
        browser.wait_for_text(".notices", "1 change was saved")
        self.assertEqual(self.server.value("SELECT title || year || publisherId FROM Book WHERE id = 6"), "Mort!19884")

    def test_unsaved_edits_are_undone_step_by_step(self):
        browser = self.signed_in("#/Book")
        self.at_cell(browser, 0, 1)
        for title in ["One", "Two"]:
            self.edit(browser, title)
            browser.press(Keys.ENTER)
            browser.wait(lambda: self.column(browser, 1)[:1] == [title], title)
        for title in ["One", "The Left Hand of Darkness"]:
            browser.chord(Keys.CONTROL, "z")
            browser.wait(lambda: self.column(browser, 1)[:1] == [title], title)
        self.assertNotIn("change", browser.one_text(".page-title"))

    def test_undone_edits_are_redone_until_the_next_edit(self):
        browser = self.signed_in("#/Book")
        self.at_cell(browser, 0, 1)
        undo, redo = (Keys.CONTROL, "z"), (Keys.CONTROL, Keys.SHIFT, "z")

        def edit(title):
            self.edit(browser, title)
            browser.press(Keys.ENTER)
            browser.wait(lambda: self.column(browser, 1)[:1] == [title], title)

        def step(keys, title):
            browser.chord(*keys)
            browser.wait(lambda: self.column(browser, 1)[:1] == [title], title)

        edit("One")
        edit("Two")
        step(undo, "One")
        step(undo, "The Left Hand of Darkness")
        step(redo, "One")
        step((Keys.CONTROL, "y"), "Two")
        step(undo, "One")
        edit("Three")
        # There is nothing to redo any more, so that undoing leads behind the last edit.
        browser.chord(*redo)
        step(undo, "One")
        self.save(browser)
        browser.chord(*redo)
        self.at_cell(browser, 0, 1)
        edit("Four")
        step(undo, "One")
        self.assertNotIn("change", browser.one_text(".page-title"))
        self.assertEqual(self.server.value("SELECT title FROM Book WHERE id = 1"), "One")

    def test_new_objects_deletions_and_members_are_undone_and_redone(self):
        browser = self.signed_in("#/Genre")
        self.stage(browser, "Genre", {"name": "Solarpunk"})
        browser.open(self.server.address + "#/Book?open=Book/5")
        self.at_cell(browser, 5, 0)
        browser.press(Keys.DELETE)
        browser.wait(lambda: browser.one("dialog button.danger").is_enabled(), "the plan")
        browser.press(Keys.ENTER)
        browser.wait_for_text(".page-title", "2 changes")
        browser.click('relata-inspector .twist[aria-label^="authors"]')
        browser.click('[aria-label^="Terry Pratchett: Take out"]')
        browser.wait_for_text(".page-title", "3 changes")
        for count in ["2 changes", "1 change"]:
            browser.chord(Keys.CONTROL, "z")
            browser.wait_for_text(".page-title", count)
        self.assertEqual(browser.all(".grid-row.deleted"), [])
        browser.chord(Keys.CONTROL, "z")
        browser.wait(lambda: "change" not in browser.one_text(".page-title"), "no changes")
        for count in ["1 change", "2 changes", "3 changes"]:
            browser.chord(Keys.CONTROL, "y")
            browser.wait_for_text(".page-title", count)
        browser.one(".grid-row.deleted")
        self.save(browser)
        self.assertEqual(self.server.value("SELECT count(*) FROM Genre WHERE name = 'Solarpunk'"), 1)
        self.assertIsNone(self.server.value("SELECT id FROM Book WHERE id = 6"))
        self.assertEqual(self.server.value("SELECT group_concat(authorId) FROM Book_authors WHERE bookId = 5"), "3")

    def paste(self, browser, text):
        """Pastes a text into the focused element, as Ctrl+V does."""
        browser.driver.execute_script(
            "const clipboardData = new DataTransfer(); clipboardData.setData('text/plain', arguments[0]);"
            "document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))", text)

    def test_spreadsheet_cells_are_pasted_into_the_grid(self):
        browser = self.signed_in("#/Book")
        self.at_cell(browser, 4, 1)
        self.paste(browser, 'One\t2001\tChatto & Windus\tFantasy\r\n"Two\nlines"\t2002\tGollancz\t\r\n')
        browser.wait_for_text(".notices", "8 cells were pasted")
        browser.wait_for_text(".page-title", "2 changes")
        self.save(browser)
        browser.wait(lambda: self.server.value("SELECT title || year || publisherId FROM Book WHERE id = 5") == "One20014", "the first row")
        self.assertEqual(self.server.value("SELECT title || year || ifnull(genreId, '-') FROM Book WHERE id = 6"), "Two\nlines2002-")

    def test_a_paste_is_undone_and_redone_in_the_list_of_changes(self):
        browser = self.signed_in("#/Book")
        self.at_cell(browser, 4, 1)
        self.paste(browser, "One\t2001\nTwo\t2002\n")
        browser.wait_for_text(".page-title", "2 changes")
        browser.click(".page-title button.primary")
        browser.wait_for_text("dialog", "Two")
        undo, redo = browser.all("dialog footer button")[:2]
        self.assertEqual([undo.text, redo.text], ["Undo", "Redo"])
        self.assertFalse(redo.is_enabled())
        undo.click()
        browser.wait_for_text("dialog", "Nothing is changed")
        self.assertFalse(undo.is_enabled())
        self.assert_accessible(browser)
        redo.click()
        browser.wait_for_text("dialog", "Two")
        self.assertFalse(redo.is_enabled())
        browser.press(Keys.ESCAPE)
        browser.wait(lambda: [row[1:3] for row in self.rows(browser)[4:6]] == [["One", "2001"], ["Two", "2002"]], "both rows")

    def test_invalid_pastes_change_nothing(self):
        browser = self.signed_in("#/Book")
        self.at_cell(browser, 4, 1)
        for text, problem in [("One\tsoon\n", "no number"), ("One\t2001\tNobody\n", "No Publisher is called Nobody"),
                              ("One\t2001\tGollancz\tFantasy\t7", "no cell here"), ("\t2001", "title needs a value")]:
            self.paste(browser, text)
            browser.wait_for_text(".notice.problem:last-child", problem)
        self.assertNotIn("change", browser.one_text(".page-title"))

    def test_a_conflicting_change_is_shown_beside_the_edit(self):
        browser = self.signed_in("#/Book")
        self.at_cell(browser, 5, 1)
        self.edit(browser, "Mine")
        browser.press(Keys.ENTER)
        browser.wait_for_text(".page-title", "1 change")
        self.server.sql("UPDATE Book SET title = 'Theirs' WHERE id = 6")
        browser.chord(Keys.CONTROL, "s")
        browser.wait_for_text("dialog", "Somebody else changed the same")
        self.assertIn("Theirs", browser.one_text("dialog"))
        self.assertIn("Mine", browser.one_text("dialog"))
        self.assert_accessible(browser)
        self.assertEqual(self.server.value("SELECT title FROM Book WHERE id = 6"), "Theirs")
        browser.tab_to("dialog [type=radio]")
        browser.press(Keys.ARROW_DOWN)
        browser.tab_to("dialog footer button.primary")
        browser.press(Keys.ENTER)
        browser.wait_for_text(".notices", "1 change was saved")
        self.assertEqual(self.server.value("SELECT title FROM Book WHERE id = 6"), "Mine")

    def test_a_deletion_shows_its_plan_first(self):
        browser = self.signed_in("#/Book")
        self.at_cell(browser, 0, 0)
        browser.press(Keys.DELETE)
        browser.wait_for_text("dialog", "The deletion is denied")
        browser.wait_for_text("dialog", "2026-11-03")
        self.assert_accessible(browser)
        self.assertFalse(browser.one("dialog button.danger").is_enabled())
        browser.press(Keys.ESCAPE)
        self.at_cell(browser, 5, 0)
        browser.press(Keys.DELETE)
        browser.wait_for_text("dialog", "3 objects go")
        browser.wait_for_text("dialog", "DEATH LIKES THIS.")
        browser.wait(lambda: browser.one("dialog button.danger").is_enabled(), "the plan")
        browser.press(Keys.ENTER)
        browser.wait(lambda: browser.all(".grid-row.deleted"), "the row to be struck out")
        self.assertIsNotNone(self.server.value("SELECT id FROM Book WHERE id = 6"))
        self.save(browser)
        browser.wait(lambda: len(self.rows(browser)) == 8, "eight books")
        self.assertIsNone(self.server.value("SELECT id FROM Book WHERE id = 6"))
        self.assertEqual(self.server.value("SELECT count(*) FROM Review WHERE bookId = 6"), 0)

    def test_the_plan_of_a_deletion_is_a_tree_of_dependent_objects(self):
        browser = self.signed_in("#/Publisher")
        self.at_cell(browser, 0, 0)
        browser.press(Keys.DELETE)
        root = ".plan > .tree > li"
        browser.wait_for_text(f"{root} > .branch", "Publisher")
        names = [text for text in browser.texts(f"{root} > ul > li > .branch") if text]
        self.assertTrue(any("Book" in text for text in names), names)
        self.assertTrue(browser.texts(".plan-counts .badge"))
        # A line opens to its objects by keyboard.
        browser.tab_to(".plan .twist")
        browser.press(Keys.ENTER)
        browser.one('.plan .twist[aria-expanded="false"]')
        browser.press(Keys.ENTER)
        browser.wait_for_text(f"{root} > ul:not([hidden]) .named", "Ace Books")
        self.assert_accessible(browser)
        browser.press(Keys.ESCAPE)
        browser.wait(lambda: not browser.all("dialog"), "the plan to close")

    def test_dependent_objects_are_shown_below_the_deleted_object(self):
        browser = self.signed_in("#/Book")
        self.at_cell(browser, 5, 0)
        browser.press(Keys.DELETE)
        below = ".plan > .tree > li > ul > li"
        browser.wait_for_text(below, "Review")
        texts = " ".join(browser.texts(below))
        self.assertIn("2 objects go", texts)
        self.assertIn("Book.authors", texts)

    def stage(self, browser, class_name, fields, new={}, stored={}):
        """Creates an object by the form, without saving it."""
        browser.open(f"{self.server.address}#/{class_name}")
        browser.click(f'[aria-label="New {class_name}"]')
        for name, text in fields.items():
            browser.type(f"#new-{name}", text)
        for name, text in [*new.items(), *stored.items()]:
            browser.one(f"#new-{name}").click()
            browser.press(text)
            browser.one(f"#choices-{name} .{'kind' if name in new else 'type'}")
            browser.wait(lambda: [line.lower()[:len(text)] for line in browser.texts(f"#choices-{name} li")] == [text], text)
            browser.press(Keys.ARROW_DOWN, Keys.ENTER)
        browser.tab_to("dialog button.primary")
        browser.press(Keys.ENTER)
        browser.wait(lambda: not browser.all("dialog"), "the form to close")

    def test_new_objects_point_at_each_other_and_are_saved_together(self):
        browser = self.signed_in("#/Author")
        self.stage(browser, "Author", {"name": "Becky Chambers"})
        self.stage(browser, "Genre", {"name": "Solarpunk"})
        self.stage(browser, "Book", {"title": "A Psalm", "year": "2021"}, {"genre": "solar", "authors": "becky"}, {"publisher": "chatto"})
        browser.wait_for_text(".page-title", "3 changes")
        browser.click(".page-title button.primary")
        browser.wait_for_text("dialog", "Solarpunk")
        browser.wait_for_text("dialog ins", "+ Becky Chambers")
        self.assert_accessible(browser)
        browser.press(Keys.ESCAPE)
        browser.tab_to(".grid-scroller")
        # A stored object also gets the new one.
        self.at_cell(browser, 0, 4)
        self.edit(browser, "solar")
        browser.wait_for_text(".choices .kind", "new")
        browser.press(Keys.ARROW_DOWN, Keys.ENTER)
        browser.wait_for_text(".grid-body", "Solarpunk")
        self.save(browser)
        browser.wait(lambda: self.server.value(
            "SELECT group_concat(Book.title, ', ') FROM Book JOIN Genre ON Genre.id = genreId WHERE Genre.name = 'Solarpunk'")
            == "The Left Hand of Darkness, A Psalm", "both books")
        self.assertEqual(self.server.value(
            "SELECT Author.name FROM Book_authors JOIN Author ON Author.id = authorId JOIN Book ON Book.id = bookId "
            "WHERE title = 'A Psalm'"), "Becky Chambers")

    def test_undoing_a_new_object_unsets_pointers_to_it(self):
        browser = self.signed_in("#/Genre")
        self.stage(browser, "Genre", {"name": "Solarpunk"})
        self.stage(browser, "Book", {"title": "A Psalm", "year": "2021"}, {"genre": "solar"}, {"publisher": "chatto"})
        browser.click(".page-title button.primary")
        browser.click('dialog [aria-label="Take back the change of Solarpunk"]')
        browser.wait(lambda: "Solarpunk" not in browser.one_text("dialog"), "the genre to go")
        browser.press(Keys.ESCAPE)
        browser.tab_to(".grid-scroller")
        self.save(browser)
        browser.wait(lambda: self.server.value("SELECT count(*) FROM Book WHERE title = 'A Psalm' AND genreId IS NULL") == 1, "the book")

    def test_objects_are_created_and_added_to_relations(self):
        browser = self.signed_in("#/Author")
        browser.click('[aria-label="New Author"]')
        browser.tab_to("dialog button.primary")
        browser.press(Keys.ENTER)
        browser.wait_for_text("dialog", "name needs a value")
        browser.press("Octavia E. Butler")
        browser.tab_to("dialog button.primary")
        browser.press(Keys.ENTER)
        browser.wait_for_text(".page-title", "1 change")
        self.save(browser)
        browser.wait(lambda: len(self.rows(browser)) == 7, "seven authors")
        browser.open(self.server.address + "#/Book?open=Book/6")
        browser.click('[aria-label="Add to authors"]')
        browser.press("octavia")
        browser.wait_for_text(".choices", "Octavia")
        browser.press(Keys.ARROW_DOWN, Keys.ENTER)
        browser.wait_for_text("relata-inspector", "authors + Octavia E. Butler")
        browser.click('relata-inspector .twist[aria-label^="authors"]')
        browser.click('[aria-label^="Terry Pratchett: Take out"]')
        browser.wait_for_text("relata-inspector", "authors − Terry Pratchett")
        self.save(browser)
        browser.wait(lambda: self.server.value("SELECT group_concat(authorId) FROM Book_authors WHERE bookId = 6") == "7", "the other author")

    def test_refused_edits_are_reported_and_kept(self):
        browser = self.signed_in("#/Publisher")
        self.at_cell(browser, 0, 1)
        self.edit(browser, "Gollancz")
        browser.press(Keys.ENTER)
        browser.wait_for_text(".page-title", "1 change")
        browser.chord(Keys.CONTROL, "s")
        browser.wait_for_text(".notice.problem", "duplicate")
        browser.wait_for_text(".page-title", "1 change")

    def test_unsaved_edits_survive_the_end_of_the_session(self):
        browser = self.signed_in("#/Book")
        self.at_cell(browser, 5, 1)
        self.edit(browser, "Mort!")
        browser.press(Keys.ENTER)
        browser.driver.execute_cdp_cmd("Network.clearBrowserCookies", {})
        browser.wait_for_text(".form-problem", "The session has ended")
        browser.type("#key", KEY)
        browser.press(Keys.ENTER)
        browser.wait_for_text(".page-title", "1 change")
        browser.tab_to(".grid-scroller")
        self.save(browser)
        browser.wait(lambda: self.server.value("SELECT title FROM Book WHERE id = 6") == "Mort!", "the title")


class ReadOnly(DashboardTest):
    def test_read_only_dashboards_cannot_change_anything(self):
        self.server.stop()
        self.server.start("--dashboard", "read-only")
        browser = self.signed_in("#/Book?open=Book/6")
        browser.wait_for_text(".side", "Read only")
        browser.wait_for_text("relata-inspector h2", "Mort")
        self.assertEqual(browser.all('[aria-label^="Edit"], [aria-label^="Add to"], [aria-label^="New"], [aria-label="Delete"]'), [])
        browser.tab_to(".grid-scroller")
        browser.press(Keys.ARROW_RIGHT, Keys.F2, Keys.DELETE)
        self.assertEqual(browser.all(".editor, dialog"), [])


if __name__ == "__main__":
    unittest.main()
