"""Is a page well-formed and self-contained? check_page.py PAGE...: exit 1 and a line per fault."""
import html.parser
import re
import sys

VOID = {"meta", "link", "br", "hr", "img", "input", "col"}
LINKS = {"src", "href", "xlink:href", "action", "data", "poster", "srcset", "background"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.faults, self.ids, self.targets = [], [], set(), set()
        self.headings, self.columns, self.cells = [], None, 0

    def handle_startendtag(self, tag, attrs):
        self.attributes(tag, attrs)

    def handle_starttag(self, tag, attrs):
        self.attributes(tag, attrs)
        if tag in VOID:
            return
        self.open.append(tag)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag == "table":
            self.columns = None
        if tag == "tr":
            self.cells = 0
        if tag in ("td", "th"):
            self.cells += 1

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.faults.append(f"</{tag}> closes {self.open[-1:] or 'nothing'}")
            return
        self.open.pop()
        if tag == "tr":
            if self.columns not in (None, self.cells):
                self.faults.append(f"a row has {self.cells} cells instead of {self.columns}")
            self.columns = self.cells

    def attributes(self, tag, attrs):
        names = [name for name, _ in attrs]
        if len(names) != len(set(names)):
            self.faults.append(f"<{tag}> has an attribute twice")
        if tag in ("script", "iframe", "object", "embed"):
            self.faults.append(f"<{tag}> is not allowed")
        if tag == "th" and "scope" not in names:
            self.faults.append("<th> without scope")
        for name, value in attrs:
            value = value or ""
            if name == "id":
                if value in self.ids:
                    self.faults.append(f"id {value} is given twice")
                self.ids.add(value)
            if name in LINKS:
                if value.startswith("#"):
                    self.targets.add(value[1:])
                elif not value.startswith("data:"):
                    self.faults.append(f"<{tag} {name}> leads to {value}")
            if name.startswith("on"):
                self.faults.append(f"<{tag}> has {name}")

    def handle_data(self, data):
        if self.open and self.open[-1] == "style" and re.search(r"url\(|@import|https?:", data):
            self.faults.append("the style sheet loads something")

    def finish(self):
        self.close()
        if self.open:
            self.faults.append(f"left open: {self.open}")
        self.faults += [f"#{t} leads nowhere" for t in sorted(self.targets - self.ids)]
        if self.headings.count(1) != 1:
            self.faults.append("not exactly one h1")
        if any(b > a + 1 for a, b in zip(self.headings, self.headings[1:])):
            self.faults.append("a level of headings is left out")
        return self.faults


def faults_of(text):
    page = Page()
    page.feed(text)
    faults = page.finish()
    for wanted in ("<!DOCTYPE html>", '<html lang="', 'charset="utf-8"', 'name="viewport"', "<title>"):
        if wanted not in text:
            faults.append(f"{wanted} is missing")
    return faults


def main():
    bad = False
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8", errors="strict") as file:
            for fault in faults_of(file.read()):
                print(f"{path}: {fault}")
                bad = True
    return 1 if bad or len(sys.argv) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
