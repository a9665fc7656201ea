"""The page, in Chromium: what is typed is tagged and parsed."""

import json
import os
import shutil
from contextlib import contextmanager
from xml.etree import ElementTree

import pytest
import requests
from derivations import GOLD
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

from keras_tagging import runtime
from keras_tagging.ccg import Derivation, Leaf, Node
from keras_tagging.ccg.auto import escaped
from keras_tagging.data import Sentence, Span
from keras_tagging.data.annotation import ConlluWriter, as_object
from keras_tagging.data.surface import Surface

PROGRAMS = ("chromium", "chromedriver")
OPTIONS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync "
    "--disable-dev-shm-usage --window-size=1000,900"
).split()


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing:
        told = (
            f"no {' and no '.join(missing)}: apt-get install chromium chromium-driver"
        )
        (pytest.fail if os.environ.get("CI") else pytest.skip)(told)
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    folder = tmp_path_factory.mktemp("profile")
    for option in (*OPTIONS, f"--user-data-dir={folder}"):
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.ChromeService(shutil.which("chromedriver"))
    with webdriver.Chrome(options, driver) as browser:
        yield browser


class Page:
    def __init__(self, browser, url):
        self.browser, self.url = browser, url
        browser.get(url)
        self.wait(lambda: self.all("#model option"))

    def wait(self, condition):
        return WebDriverWait(self.browser, 20).until(lambda _: condition())

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def texts(self, selector):
        return [node.get_attribute("textContent") for node in self.all(selector)]

    def choose(self, model):
        Select(self.one("#model")).select_by_value(model)

    def answers(self, sentences):
        """Has the service answer this to what is typed."""
        rows = [s if isinstance(s, dict) else as_object(s) for s in sentences]
        found = {"sentences": rows, "milliseconds": 1}
        script = "const [a] = arguments; fetch = async () => new Response(a)"
        self.browser.execute_script(script, json.dumps(found))

    def run(self, text):
        script = "document.getElementById('text').value = arguments[0]"
        self.browser.execute_script(script, text)
        self.one("#run").click()
        self.wait(lambda: self.one("#run").is_enabled() and self.all(".sentence"))

    @contextmanager
    def sized(self, width):
        """With a window of this width, which nothing exceeds in the end."""
        metrics = {"width": width, "height": 800, "deviceScaleFactor": 1}
        command = self.browser.execute_cdp_cmd
        command("Emulation.setDeviceMetricsOverride", metrics | {"mobile": True})
        try:
            yield
            script = "return document.documentElement.scrollWidth"
            assert self.browser.execute_script(script) == width
        finally:
            command("Emulation.clearDeviceMetricsOverride", {})

    def saved(self, button, path):
        """The text of the file that a button saves."""
        about = {"behavior": "allow", "downloadPath": str(path.parent)}
        self.browser.execute_cdp_cmd("Browser.setDownloadBehavior", about)
        self.one(button).click()
        self.wait(path.exists)
        return path.read_text("utf-8")

    def type(self, text):
        self.one("#text").clear()
        self.one("#text").send_keys(text)


@pytest.fixture
def page(browser, service):
    """The page of taggers and parsers."""
    yield Page(browser, service.url)
    assert [entry["message"] for entry in browser.get_log("browser")] == []


@pytest.fixture
def annotator(browser, whole):
    """The page of a pipeline."""
    yield Page(browser, whole.url)
    assert [entry["message"] for entry in browser.get_log("browser")] == []


def test_a_sentence_is_typed_and_its_tags_are_read(page, direct):
    assert page.browser.switch_to.active_element.get_attribute("id") == "text"
    page.type("The dog barks." + Keys.ENTER)
    page.wait(lambda: page.all(".token"))
    words = ["The", "dog", "barks", "."]
    assert page.texts(".word") == words
    [answer] = direct["tagger"].predict_rows([words], direct["tagger"].served_outputs)
    assert page.texts(".token .tag") == answer["tags"]
    shown = page.texts(".sure")
    assert shown == [f"{100 * p:.1f}%" for p in answer["probabilities"]]
    assert page.one("#status").text.startswith("4 tokens in ")
    named = page.all(".token")[1].accessible_name
    assert named == f"dog {answer['tags'][1]} {shown[1]}"


def test_the_five_best_by_keyboard_and_by_mouse(page, direct):
    page.one("#split").click()
    page.type("The dog." + Keys.ENTER)
    page.wait(lambda: page.all(".token"))
    [answer] = direct["tagger"].predict_rows(
        [["The", "dog."]], direct["tagger"].served_outputs
    )
    assert not page.one("#best").is_displayed()
    keys = page.one("#text")
    # button, example, punctuation, probabilities, JSON, link, two words
    for _ in range(8):
        keys.send_keys(Keys.TAB)
        keys = page.browser.switch_to.active_element
    assert page.one("#best").is_displayed()
    assert page.texts("#best .tag") == answer["top_tags"][1]
    assert page.texts("#best caption") == ["dog."]
    keys.send_keys(Keys.ESCAPE)
    assert not page.one("#best").is_displayed()
    ActionChains(page.browser).move_to_element(page.all(".token")[0]).perform()
    page.wait(lambda: page.one("#best").is_displayed())
    assert page.texts("#best .tag") == answer["top_tags"][0]


def test_a_tree(page, direct, tmp_path):
    page.choose("parser")
    page.type("The dog barks" + Keys.ENTER)
    page.wait(lambda: page.all(".tree svg"))
    words = ["The", "dog", "barks"]
    names = ["upos", "heads", "deprels"]
    [tree] = direct["parser"].predict_rows([words], names)
    assert page.texts(".tree .w") == words
    assert page.texts(".tree .deprel") == tree["deprels"]
    assert len(page.all(".tree path")) == 3
    page.one(".fields summary").click()
    page.wait(lambda: page.all("td"))
    heads = [f"{h} {'root' if h < 1 else words[h - 1]}" for h in tree["heads"]]
    assert page.texts("td:nth-child(3)") == tree["upos"]
    assert page.texts("td:nth-child(4)") == heads
    assert page.texts("td:last-child") == tree["deprels"]
    assert "barks: " in page.one(".tree svg").get_attribute("aria-label")
    columns = {"pos": tree["upos"], "deprel": tree["deprels"]}
    columns["head"] = [*map(str, tree["heads"])]
    expected = ConlluWriter().write(Sentence(words, None, columns))
    assert page.saved("#conllu", tmp_path / "parser.conllu") == expected


def test_columns_and_errors(page):
    page.choose("gold")
    assert page.one("label[for=column-pos]").text == "pos"
    page.type("The dog" + Keys.ENTER)
    error = page.wait(lambda: page.one("#error").text)
    assert error == "pos: 0 for the 2 words of “The dog”: give one for each."
    assert page.one("#error").get_attribute("role") == "alert"
    page.one("#column-pos").send_keys("DT NN" + Keys.ENTER)
    page.wait(lambda: page.all(".tree svg"))
    assert not page.one("#error").is_displayed()
    page.choose("parser")
    page.type(" ".join(["word"] * 150) + " " + " ".join(["word"] * 151))
    page.one("#run").click()
    assert "send at most 300" in page.wait(lambda: page.one("#error").text)
    # the browser logs each answer of 4xx
    [entry] = page.browser.get_log("browser")
    assert "413" in entry["message"]


def test_text_is_never_markup(page):
    page.type('<img/src=x/onerror="document.title=1"> </script>')
    page.one("#run").click()
    page.wait(lambda: page.all(".token"))
    assert page.all("img") == [] and page.browser.title == "keras_tagging"


def test_nothing_leaves_the_machine(page, browser):
    page.type("The dog" + Keys.ENTER)
    page.wait(lambda: page.all(".token"))
    script = "return performance.getEntries().map((e) => e.name)"
    addresses = [name for name in browser.execute_script(script) if ":" in name]
    assert addresses and all(a.startswith(page.url) for a in addresses)
    found = requests.get(page.url, timeout=20)
    policy = found.headers["Content-Security-Policy"]
    assert "default-src 'none'; script-src 'self';" in policy and "unsafe" not in policy
    assert "require-trusted-types-for" in policy
    files = [found, *(requests.get(a, timeout=20) for a in addresses if "static" in a)]
    assert len(files) == 7
    for file in files:
        assert file.headers["X-Content-Type-Options"] == "nosniff"
        assert "http" not in file.text.replace("http://www.w3.org/2000/svg", "")


def test_a_text_is_annotated(annotator, whole, tmp_path):
    assert annotator.one("#given").text == "Text"
    assert annotator.one("#run").text == "Annotate"
    assert not annotator.one("#split").is_displayed()
    annotator.type("Dogs bark." + Keys.ENTER)
    annotator.wait(lambda: annotator.all(".tree svg"))
    body = {"text": "Dogs bark.", "probabilities": True}
    answer = whole.post("/annotate", body).json()["sentences"]
    words = [w for s in answer for t in s["tokens"] for w in t["words"]]
    assert annotator.texts(".tree .w") == [word["text"] for word in words]
    assert annotator.texts(".tree .p") == [word["upos"] for word in words]
    assert annotator.texts(".tree .deprel") == [word["deprel"] for word in words]
    for summary in annotator.all(".fields summary"):
        summary.click()
    annotator.wait(lambda: len(annotator.all("table")) == len(answer))
    titles = ["ID", "FORM", "Entity", "LEMMA", "POS", "XPOS", "HEAD", "DEPREL"]
    assert annotator.texts("th") == titles * len(answer)
    assert annotator.texts("td:nth-child(4)") == [word["lemma"] for word in words]
    spans = [span for s in answer for span in s["spans"]]
    assert spans and annotator.texts("mark span") == [span["label"] for span in spans]
    marked = [f"{span['text']}\u00a0{span['label']}" for span in spans]
    assert annotator.texts("mark") == marked
    assert {p.get_attribute("lang") for p in annotator.all(".marked")} == {"en"}
    saved = json.loads(annotator.saved("#json", tmp_path / "whole.json"))
    assert saved["sentences"] == answer
    counted = "1 sentence in" if len(answer) == 1 else f"{len(answer)} sentences in"
    assert annotator.one("#status").text.startswith(counted)
    annotator.type(" " + Keys.ENTER)
    error = annotator.wait(lambda: annotator.one("#error").text)
    assert error == "Type a text first."


def test_conllu_is_what_annotate_writes(annotator, folder, tmp_path):
    text = " Don't,\tSir!\n\nIt\u00a0 works |x|\\  \U0001f600.\n \nEnd. "
    annotator.run(text)
    write = ConlluWriter().write
    expected = "".join(map(write, runtime.load(folder, threads=1).annotate(text)))
    assert expected.count("# newpar") == 3 and "SpacesAfter" in expected
    assert annotator.saved("#conllu", tmp_path / "whole.conllu") == expected


def test_a_derivation(annotator):
    sentences = [GOLD[2], in_fragments()]
    annotator.answers(sentences)
    annotator.run("the cat sees a dog .")
    annotator.wait(lambda: len(annotator.all(".derivation")) == 2)
    shown = annotator.all(".derivation")
    for table, sentence in zip(shown, sentences, strict=True):
        rows = [
            [
                (cell.get_attribute("colSpan"), cell.get_attribute("textContent"))
                for cell in row.find_elements(By.CSS_SELECTOR, "td")
            ]
            for row in table.find_elements(By.CSS_SELECTOR, "tr")
        ]
        markup = sentence.derivation.html(style=False).replace("class=step", "")
        drawn = ElementTree.fromstring(markup)
        assert rows == [
            [(cell.get("colspan", "1"), "".join(cell.itertext())) for cell in row]
            for row in drawn.iter("tr")
        ]
    assert annotator.texts(".derivation .word")[-2:] == ["(", "a b"]


def in_fragments():
    words = [("NP", "she"), ("NP", "("), ("X/X", "a b")]
    leaves = (Leaf(tag, "X", "X", escaped(word), tag) for tag, word in words)
    derivation = Derivation(Node("FRAG", 0, tuple(leaves)))
    return Sentence([w for _, w in words], [t for t, _ in words], derivation=derivation)


def spoken(words, label, probability):
    """A sentence whose first word is the root, and an entity."""
    heads = {"head": ["0", *"1" * (len(words) - 1)], "deprel": ["dep"] * len(words)}
    ends = [sum(map(len, words[: i + 1])) + i for i in range(len(words))]
    places = [(end - len(word), end) for word, end in zip(words, ends, strict=True)]
    surface = Surface(" ".join(words), places, [1] * len(words))
    span = Span(words[0], label, *places[0], probability, (0, 1))
    return Sentence(words, None, heads, surface, [span])


def test_right_to_left(annotator):
    annotator.answers(
        [spoken(["הכלב", "רץ", "Tel"], "PER", 0.9), spoken(["a", "b"], "X", 0.9)]
    )
    annotator.run("הכלב")
    annotator.all(".fields summary")[0].click()
    annotator.wait(lambda: annotator.all("td"))

    def places(selector):
        return [node.rect["x"] for node in annotator.all(selector)]

    words = "section:nth-child({}) .w"
    assert places(words.format(1)) == sorted(places(words.format(1)), reverse=True)
    assert places(words.format(2)) == sorted(places(words.format(2)))
    assert places("th") == sorted(places("th"), reverse=True)
    directions = [node.get_attribute("dir") for node in annotator.all(".marked")]
    assert directions == ["rtl", "ltr"]


def test_probabilities_of_entities(annotator):
    annotator.answers([spoken(["Ada", "ran"], "PER", 0.95), spoken(["Bo"], "ORG", 0.4)])
    annotator.run("Ada")
    sure, unsure = annotator.all("mark")

    def shown(node):
        script = "return getComputedStyle(arguments[0], '::after').content"
        return annotator.browser.execute_script(script, node)

    assert shown(sure) == "none" and "40.0%" in shown(unsure)
    annotator.browser.execute_script("arguments[0].focus()", sure)
    best = annotator.texts("#best caption, #best .tag, #best .p")
    assert best == ["Ada", "PER", "95.0%"]
    annotator.one("#probabilities").click()
    assert "95.0%" in shown(sure) and not annotator.one("#best").is_displayed()


def test_probabilities_of_words(annotator):
    columns = {"pos": ["NOUN", "VERB"], "lemma": ["dog", "7"], "feats": ["_", "_"]}
    columns |= {"head": ["2", "0"], "deprel": ["nsubj", "root"]}
    values = {"pos": [0.6912, 0.9996], "lemma": [0.95, 0.0]}
    tree = Sentence(["Dogs", "7"], None, columns, probabilities=values)
    tags = Sentence(["a", "b"], ["X", "Y"], probabilities={"tags": [0.5, 0.75]})
    annotator.answers([tree, tags])
    annotator.run("Dogs 7")
    words = annotator.all("svg .known")
    names = [word.accessible_name for word in words]
    assert names == ["Dogs NOUN 69.1%", "7 VERB > 99.9%"]

    def shown():
        return [node.is_displayed() for node in annotator.all(".sure")]

    assert shown() == [True, False, True, True]  # the last is one pixel wide
    ActionChains(annotator.browser).move_to_element(words[0]).perform()
    annotator.wait(lambda: annotator.one("#best").is_displayed())
    best = "#best caption, #best .tag, #best .p"
    expected = ["Dogs", "LEMMA dog", "95.0%", "UPOS NOUN", "69.1%"]
    assert annotator.texts(best) == expected
    annotator.browser.execute_script("arguments[0].focus()", words[1])
    assert annotator.texts(best) == ["7", "LEMMA 7", "by rule", "UPOS VERB", "> 99.9%"]
    for summary in annotator.all(".fields summary"):
        summary.click()
    annotator.wait(lambda: len(annotator.all("td[data-p]")) == 6)
    assert annotator.texts(".scroll th")[:3] == ["ID", "FORM", "LEMMA"]
    told = [cell.get_attribute("data-p") for cell in annotator.all("td[data-p]")]
    assert told == ["95.0%", "69.1%", "by rule", "> 99.9%", "50.0%", "75.0%"]
    assert annotator.texts("td.unsure") == ["NOUN", "X"]
    classes = [b.get_attribute("class") for b in annotator.all("button.token")]
    assert classes == ["token unsure", "token"]
    annotator.one("#probabilities").click()
    assert shown() == [True] * 4


def test_trees_of_many_sentences_are_drawn_when_they_are_opened(annotator):
    """On a phone, and so that 5,000 characters fit."""
    words = ["Donaudampfschifffahrtsgesellschaft", *["Wien", "liegt", "dort"] * 30]
    sentences = [spoken(words, "ORG", 0.6)] * 11
    sentences[0].columns["upos"] = ["X"] * len(words)
    assert sum(len(s.surface.text) for s in sentences) > 5000
    with annotator.sized(360):
        annotator.answers(sentences)
        annotator.run("Wien")
        assert len(annotator.all(".marked")) == 11
        annotator.wait(lambda: len(annotator.all("svg")) == 1)
        assert len(annotator.all(".sentence > ol")) == 10  # of the folded ones
        annotator.all(".tree summary")[1].click()
        annotator.wait(lambda: len(annotator.all("svg")) == 2)
        annotator.one("#probabilities").click()
        annotator.one("#trees").click()
        annotator.wait(lambda: len(annotator.all("svg")) == 11)
    annotator.answers(sentences[:10])
    annotator.one("#run").click()
    annotator.wait(lambda: len(annotator.all("svg")) == 10)
    assert not annotator.one("#trees").is_displayed()


def test_an_example_and_an_address_to_share(page, service):
    page.one("#example").click()
    page.wait(lambda: page.all(".token"))
    words = page.texts(".word")
    assert words[:2] == ["Ada", "Lovelace"]
    page.choose("parser")
    page.run("Ben & Cy <b> #1 100% \u00e9")
    assert page.one("#most").text.startswith("At most ")
    page.one("#share").click()
    page.wait(lambda: "holds the text" in page.one("#status").text)
    address = page.browser.current_url
    assert address.startswith(f"{service.url}/#model=parser&text=Ben")
    page.browser.get("about:blank")
    page.browser.get(address)
    page.wait(lambda: page.all(".tree .w"))
    assert page.texts(".tree .w") == "Ben & Cy <b> #1 100% \u00e9".split()
    page.run(f"{'a' * 1000} {'a' * 1000}")  # 2,001 characters
    page.one("#share").click()
    told = "A link holds at most 2,000 characters, and this text has 2,001"
    page.wait(lambda: page.one("#status").text.startswith(told))
    page.browser.get(f"{service.url}/#model=other&text=a")
    error = page.wait(lambda: page.one("#error").text)
    assert error == "The link is for the model “other”, which does not run here."
