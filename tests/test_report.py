"""The report: one page that needs nothing else, and shows a round that moves."""

import html
import re
from pathlib import Path

import pytest

from godojo.games.tag.settings import TagSettings
from godojo.runs.folder import RunFolder
from godojo.show.report.page import write_report
from tests.browser import browser, chromium
from tests.shown_runs import shown_run

SIGHT = "document.querySelector('#viewer canvas')"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> tuple[RunFolder, Path]:
    run = shown_run(tmp_path_factory.mktemp("runs"), rounds=400)
    path = run.path / "report.html"
    write_report(run, path, rounds=16, progress=lambda *_: None)
    return run, path


def test_it_holds_everything_and_asks_for_nothing(page: tuple[RunFolder, Path]) -> None:
    run, path = page
    text = path.read_text(encoding="utf-8")
    assert run.run_id in text
    for word in ("seeker wins against", "sighted", "95 % confidence", "ticks_per_decision", f"report {run.name}"):
        assert word in text, word
    assert text.count("data:image/png;base64,") >= 7
    outside = re.findall(r"""(?:src|href)=["'](?!data:)[^"']+""", text)
    assert not outside
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert "default-src 'none'" in text


def test_it_leads_with_who_wins_how_often_against_whom(page: tuple[RunFolder, Path]) -> None:
    text = page[1].read_text(encoding="utf-8")
    places = [text.index(f"<h2>{title}</h2>") for title in ("Results", "Rounds", "Learning curves", "Settings")]
    assert places == sorted(places)
    results = html.unescape(re.sub(r"<[^>]+>", " ", text[places[0] : places[1]]))
    interval = r"\d+\.\d % +\(\d+\.\d to \d+\.\d\)"
    assert re.search(rf"seeker wins {interval.replace(' +', ' *')}", results)
    for opponent in ("random", "sighted", "this run's hider", "this run's seeker"):
        assert re.search(rf"{opponent} +{interval}", results), opponent


@pytest.mark.slow
@pytest.mark.rendering
@pytest.mark.skipif(chromium() is None, reason="there is no Chromium here (apt install chromium)")
def test_its_round_plays_in_a_browser(page: tuple[RunFolder, Path]) -> None:
    _, path = page
    with browser() as new_tab:
        tab = new_tab()
        tab.size(1000, 800)
        tab.open(path.as_uri())
        tab.wait(f"{SIGHT} && {SIGHT}.width > 300")
        tabs = tab.run("[...document.querySelectorAll('.rounds button')].map(one => one.textContent)")
        assert {"start", "final"} <= set(tabs)
        clock = "document.querySelector('.clock').textContent"
        tab.run("[...document.querySelectorAll('.rounds button')].find(one => one.textContent === 'final').click()")
        before = tab.wait(clock)
        tab.wait(f"{clock} !== '{before}'")
        tab.run("document.querySelector('.play').click()")
        scrub = "const bar = document.querySelector('.scrub'); bar.value = 0.5; bar.dispatchEvent(new Event('input'))"
        tab.run(f"(() => {{ {scrub} }})()")
        tab.wait(f"{clock} === '{TagSettings.defaults().rules.round_s - 0.5:.1f} s left'")
        colours = """(() => {
          const canvas = document.querySelector('#viewer canvas'), copy = document.createElement('canvas');
          copy.width = canvas.width; copy.height = canvas.height;
          const pen = copy.getContext('2d');
          return new Promise((done) => requestAnimationFrame(() => {
            pen.drawImage(canvas, 0, 0);
            const data = pen.getImageData(0, 0, copy.width, copy.height).data;
            let orange = 0, blue = 0;
            for (let at = 0; at < data.length; at += 4) {
              const [r, g, b] = [data[at], data[at + 1], data[at + 2]];
              if (r > 180 && g > 70 && g < 170 && b < 70) orange++;
              if (b > 120 && r < 70 && g < 120) blue++;
            }
            done([orange, blue]);
          }));
        })()"""
        orange, blue = tab.run(colours)
        assert orange > 100
        assert blue > 100
        rays = "document.querySelector('.all-rays')"
        assert tab.run(f"{rays}.checked") is False
        assert "s left" in tab.run("document.querySelector('#viewer .top').innerText")
        tab.size(390, 844, mobile=True)
        assert tab.run("document.documentElement.scrollWidth") <= 390
        assert not tab.said
