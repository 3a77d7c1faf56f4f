"""Adds the pages beside README.md to the site.

On GitHub a page of docs/ links to `../CHANGELOG.md` and back to `docs/film.md`; on the site both are in one folder.
"""

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
PAGES = ("CHANGELOG.md", "CONTRIBUTING.md", "REWARD_NOTES.md", "SECURITY.md")
_OUT_OF_DOCS = re.compile(r"(\]\((?:\.\./)*)\.\./(?=(?:{})[)#])".format("|".join(map(re.escape, PAGES))))


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for name in PAGES:
        text = (ROOT / name).read_text(encoding="utf-8").replace("](docs/", "](")
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    return _OUT_OF_DOCS.sub(r"\1", markdown)
