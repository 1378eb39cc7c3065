"""What tests of pages do in a browser: open, find, press, and read what was requested."""

import json
import time

HOSTILE = "</script><img src=x onerror=document.title='hacked'>"
DESKTOP, PHONE = (1280, 900), (390, 844)


def open_at(browser, address, size, **media):
    """Open an address at a window size, without storage; `media` are what the system prefers."""
    browser.get("about:blank")
    for log in ("browser", "performance"):
        browser.get_log(log)
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {
            "width": size[0], "height": size[1], "deviceScaleFactor": 1,
            "mobile": size[0] < 500,
        },
    )  # fmt: skip
    features = [{"name": n.replace("_", "-"), "value": v} for n, v in media.items()]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.get(address)
    browser.execute_script("try { localStorage.clear() } catch {}")
    browser.refresh()


def get(browser, selector):
    return browser.find_element("css selector", selector)


def texts(browser, selector):
    """Return the texts of elements, also of those that are out of view."""
    found = browser.find_elements("css selector", selector)
    return [element.get_attribute("textContent") for element in found]


def wait_for(condition, seconds=10):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def press(browser, *keys):
    from selenium.webdriver import ActionChains  # where it is missing, there is no browser

    ActionChains(browser).send_keys(*keys).perform()


def focused(browser):
    return browser.execute_script("return document.activeElement.id")


def heading(browser, of="#topic"):
    return get(browser, f"{of} h2").text


def requests(browser):
    """Return the addresses that the page asked for since it was opened."""
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [m["params"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    return [p["request"]["url"] for p in sent]
