"""The texts of the apps in each language."""

import re
import unittest

from support import APPS

LANGUAGES = ["en", "zh-Hans"]


class Strings(unittest.TestCase):
    def strings(self, app, language):
        text = (APPS / app / "strings" / f"{language}.js").read_text()
        return dict(re.findall(r'^  "?([\w-]+)"?: "(.*)",$', text, re.MULTILINE))

    def test_all_languages_have_the_same_strings_and_placeholders(self):
        for app in ["bookshelf", "notes"]:
            english, chinese = (self.strings(app, language) for language in LANGUAGES)
            self.assertEqual(list(english), list(chinese), app)
            for key, text in english.items():
                values = sorted(re.findall(r"\{\w+\}", text))
                self.assertEqual(values, sorted(re.findall(r"\{\w+\}", chinese[key])), f"{app}: {key}")
                self.assertTrue(text and chinese[key], f"{app}: {key}")

    def test_every_string_is_used_and_every_used_string_exists(self):
        for app in ["bookshelf", "notes"]:
            folder = APPS / app
            files = [*folder.glob("*.html"), *folder.glob("*.js"), APPS / "shared" / "page.js"]
            sources = "".join(each.read_text() for each in files)
            # Keys are in quotes; some are composed, such as `new${className}`.
            quoted = set(re.findall(r"\"([\w-]+)\"", sources))
            begun = tuple(re.findall(r"`([\w-]+)\$\{", sources))
            strings = self.strings(app, "en")
            unused = [key for key in strings if key not in quoted and not key.startswith(begun)]
            self.assertEqual(unused, [], app)
            named = re.findall(r'(?:data-(?:text|label|hint)="|\btext\(")([\w-]+)"', sources)
            self.assertEqual([key for key in named if key not in strings], [], app)


if __name__ == "__main__":
    unittest.main()
