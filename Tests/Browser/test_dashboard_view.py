"""The dashboard of `relata serve`, viewed as somebody else."""

import unittest

from dashboard import HOSTILE, DashboardTest
from support import Keys

EVERYBODY = {"*": True}


class ViewingAs(DashboardTest):
    def setUp(self):
        super().setUp()
        self.mei = self.master("POST", "/users", {"username": "mei", "password": "a secret"})["objectId"]
        self.master("POST", "/users", {"username": "sam", "password": "a secret"})
        self.master("POST", "/roles", {"name": "Editors", "ACL": {"*": {"read": True}}})
        owner = self.server.pointer("_User", self.mei)
        for fields in [
            {"title": "a", "price": "price of a", "cost": "cost of a", "owner": owner}, {"title": "b", "price": "price of b", "cost": "cost of b"},
            {"title": "c", "price": "price of c", "cost": "cost of c", "ACL": {"role:Editors": {"read": True}}},
        ]:
            self.last = self.master("POST", "/classes/Note", fields)["objectId"]
        self.master("PUT", "/schemas/Note", {"classLevelPermissions": {
            "find": EVERYBODY, "get": EVERYBODY, "update": {"pointerFields": ["owner"]},
            "protectedFields": {"*": ["price", "cost"], "userField:owner": ["cost"]}}})

    def master(self, method, path, body):
        return self.server.ask(method, path, body, is_master=True)

    def view_as(self, browser, item, name=None):
        browser.click(".viewer")
        browser.wait(lambda: browser.all('.menu [role="menuitemradio"]'), "the menu")
        for choice in browser.all('.menu [role="menuitemradio"]'):
            if choice.text == item:
                choice.click()
                break
        else:
            self.fail(f"no item {item}")
        if name:
            browser.one("dialog input")
            browser.press(name, Keys.ENTER)

    def titles(self, browser):
        return sorted(text for row in self.rows(browser) for text in row if text in ("a", "b", "c"))

    def test_the_grid_shows_only_objects_visible_to_the_viewer(self):
        browser = self.signed_in("#/Note?sort=title")
        browser.wait(lambda: self.titles(browser) == ["a", "b", "c"], "all notes")
        self.view_as(browser, "Nobody")
        browser.wait_for_text(".access-line", "As Nobody")
        browser.wait(lambda: self.titles(browser) == ["a", "b"], "the open notes")
        self.assertIn("find: allowed", browser.one_text(".access-line"))
        self.assertIn("create: denied", browser.one_text(".access-line"))
        grid = browser.one_text("relata-grid")
        for hidden in ("price", "cost"):
            self.assertNotIn(hidden, grid)
        self.assert_accessible(browser)
        # The user sees more fields of their own objects.
        self.view_as(browser, "A user …", "mei")
        browser.wait_for_text(".access-line", "As mei")
        browser.wait(lambda: "price of a" in browser.one_text("relata-grid"), "the price of her note")
        self.assertEqual(self.titles(browser), ["a", "b"])
        for hidden in ("cost", "price of b"):
            self.assertNotIn(hidden, browser.one_text("relata-grid"))
        self.view_as(browser, "A role …", "Editors")
        browser.wait(lambda: self.titles(browser) == ["a", "b", "c"], "the notes of the editors")
        self.assertNotIn("price of", browser.one_text("relata-grid"))
        self.view_as(browser, "The master key")
        browser.wait(lambda: "price of c" in browser.one_text("relata-grid"), "everything")
        self.assertEqual(browser.all(".access-line"), [])

    def test_the_panel_explains_the_viewers_rights(self):
        browser = self.signed_in(f"#/Note?open=Note/{self.last}")
        browser.wait_for_text("relata-inspector h2", "c")
        self.view_as(browser, "A user …", self.mei)
        browser.wait_for_text("relata-inspector", "no such object for this caller")
        browser.wait_for_text("relata-inspector .why", "its access list allows reading to role:Editors")
        why = browser.one_text("relata-inspector .why")
        self.assertIn("the user mei", why)
        self.assertIn("the class allows it to the users in owner", why)
        self.assertIn("Hidden fields: cost, price", why)
        self.assert_accessible(browser)
        browser.click(".access-line button")
        browser.wait_for_text("dialog", "Fields that only some objects show: price")
        browser.press(Keys.ESCAPE)

    def test_nothing_can_be_changed_while_viewing_as_another_user(self):
        browser = self.signed_in("#/Note?sort=title")
        browser.wait(lambda: self.titles(browser) == ["a", "b", "c"], "all notes")
        self.assertTrue(browser.all('[aria-label="New Note"], [aria-label^="New"]'))
        self.view_as(browser, "A user …", "mei")
        browser.wait(lambda: self.titles(browser) == ["a", "b"], "her notes")
        self.assertFalse(browser.all('[aria-label="New Note"], [aria-label^="New"]'))
        # The server also refuses requests that the page doesn't offer.
        status = browser.driver.execute_async_script("""
            const done = arguments[arguments.length - 1];
            import('./api.js').then(({ server }) => server.ask('PUT', '/classes/Note/' + arguments[0], '{"title": "x"}'))
              .then(({ status }) => done(status), (error) => done(String(error)));
            """, self.last)
        self.assertEqual(status, 403)
        self.assertEqual(self.server.value('SELECT count(*) FROM "Note" WHERE title = ?', "x"), 0)

    def test_an_unknown_viewer_is_reported(self):
        browser = self.signed_in("#/Note")
        for text in ("nobody@here", HOSTILE[0]):
            self.view_as(browser, "A user …", text)
            browser.wait_for_text("dialog .form-problem", text)
            browser.press(Keys.ESCAPE)
            browser.wait(lambda: not browser.all("dialog"), "the dialog to close")
        self.assertEqual(browser.all(".access-line"), [])


if __name__ == "__main__":
    unittest.main()
