"""Chromium, which Debian has."""

import contextlib
import shutil

import pytest
from playwright.sync_api import sync_playwright


@contextlib.contextmanager
def chromium(*flags):
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if not path:
        pytest.fail("chromium is missing; Scripts/packages campaign installs it")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", *flags])
        yield browser
        browser.close()
