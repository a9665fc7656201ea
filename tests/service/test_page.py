"""The page, in Chromium: what is typed is tagged and parsed."""

import os
import shutil

import pytest
import requests
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

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

    def type(self, text):
        self.one("#text").clear()
        self.one("#text").send_keys(text)


@pytest.fixture
def page(browser, service):
    page = Page(browser, service.url)
    yield page
    assert [entry["message"] for entry in browser.get_log("browser")] == []


def test_a_sentence_is_typed_and_its_tags_are_read(page, direct):
    assert page.browser.switch_to.active_element.get_attribute("id") == "text"
    page.type("The dog barks." + Keys.ENTER)
    page.wait(lambda: page.all(".token"))
    words = ["The", "dog", "barks", "."]
    assert page.texts(".word") == words
    [answer] = direct["tagger"].answer([words], direct["tagger"].answers)
    assert page.texts(".token .tag") == answer["tags"]
    shown = page.texts(".sure")
    assert shown == [f"{100 * p:.1f}%" for p in answer["probabilities"]]
    assert page.one("#status").text.startswith("4 tokens in ")
    labels = [node.get_attribute("aria-label") for node in page.all(".token")]
    assert labels[1] == f"dog: {answer['tags'][1]}, {shown[1]}"


def test_the_five_best_by_keyboard_and_by_mouse(page, direct):
    page.one("#split").click()
    page.type("The dog." + Keys.ENTER)
    page.wait(lambda: page.all(".token"))
    [answer] = direct["tagger"].answer([["The", "dog."]], direct["tagger"].answers)
    assert not page.one("#best").is_displayed()
    keys = page.one("#text")
    for _ in range(4):  # punctuation, button, first word, second word
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


def test_a_tree(page, direct):
    page.choose("parser")
    page.type("The dog barks" + Keys.ENTER)
    page.wait(lambda: page.all(".tree svg"))
    words = ["The", "dog", "barks"]
    [tree] = direct["parser"].answer([words], ["heads", "deprels"])
    assert page.texts(".tree .w") == words
    assert page.texts(".tree .deprel") == tree["deprels"]
    assert len(page.all(".tree path")) == 3
    page.one("summary").click()
    heads = ["root" if h < 1 else f"{h} {words[h - 1]}" for h in tree["heads"]]
    assert page.texts("td:last-child") == heads
    assert "barks: " in page.one(".tree svg").get_attribute("aria-label")


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


def test_on_a_phone(page):
    metrics = {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True}
    command = page.browser.execute_cdp_cmd
    command("Emulation.setDeviceMetricsOverride", metrics)
    try:
        for model in ("tagger", "parser"):
            page.choose(model)
            page.type(" ".join(["Donaudampfschifffahrtsgesellschaft", "dog"] * 8))
            page.one("#run").click()
            page.wait(lambda: page.all(".sentence"))
            script = "return document.documentElement.scrollWidth"
            assert page.browser.execute_script(script) == 360
    finally:
        command("Emulation.clearDeviceMetricsOverride", {})


def test_nothing_leaves_the_machine(page, browser):
    page.type("The dog" + Keys.ENTER)
    page.wait(lambda: page.all(".token"))
    script = "return performance.getEntries().map((e) => e.name)"
    addresses = [name for name in browser.execute_script(script) if ":" in name]
    assert addresses and all(a.startswith(page.url) for a in addresses)
    found = requests.get(page.url, timeout=20)
    policy = found.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert "http" not in found.text.replace("http://www.w3.org/2000/svg", "")


def test_a_text_is_annotated(browser, whole):
    page = Page(browser, whole.url)
    assert page.one("#given").text == "Text" and page.one("#run").text == "Annotate"
    assert not page.one("#split").is_displayed()
    page.type("Dogs bark." + Keys.ENTER)
    page.wait(lambda: page.all(".tree svg"))
    answer = whole.post("/annotate", {"text": "Dogs bark."}).json()["sentences"]
    words = [w for s in answer for t in s["tokens"] for w in t["words"]]
    assert page.texts(".tree .w") == [word["text"] for word in words]
    assert page.texts(".tree .p") == [word["upos"] for word in words]
    assert page.texts(".tree .deprel") == [word["deprel"] for word in words]
    titles = ["", "Word", "Tag", "Lemma", "XPOS", "Entity", "Relation", "Head"]
    assert page.texts("th") == titles * len(answer)
    assert page.texts("td:nth-child(4)") == [word["lemma"] for word in words]
    spans = [span for s in answer for span in s["spans"]]
    assert spans and page.texts("mark span") == [span["label"] for span in spans]
    marked = [f"{span['text']} {span['label']}" for span in spans]
    assert page.texts("mark") == marked
    assert page.one("mark").get_attribute("title").endswith("%")
    counted = "1 sentence in" if len(answer) == 1 else f"{len(answer)} sentences in"
    assert page.one("#status").text.startswith(counted)
    page.type(" " + Keys.ENTER)
    error = page.wait(lambda: page.one("#error").text)
    assert error == "Type a text first."
    assert browser.get_log("browser") == []
