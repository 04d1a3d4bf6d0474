# Chromium for scripts, and a Python environment that drives it: sourced, not run.

# Installs both if they are missing. `python` is the environment's; CHROMIUM and CHROMEDRIVER are exported. If that isn't
# possible, `browser_error` is the reason.
prepare_browser() {
    # The tests are known to work with these versions; another one is a deliberate choice.
    local packages=(selenium==4.51.0 axe-core-python==0.1.0)
    local folder=$root/.build/browser needs=()
    works chromium --version || needs+=(chromium)
    works chromedriver --version || needs+=(chromium-driver)
    works python3 -c 'import ensurepip' || needs+=(python3-venv)
    if ((${#needs[@]})) && ! (install_needs "${needs[@]}"); then
        browser_error="${needs[*]} can't be installed"
        return 1
    fi
    if ! works chromium --version || ! works chromedriver --version; then
        browser_error="Chromium doesn't start"
        return 1
    fi
    python=$folder/bin/python
    if ! works "$python" -c 'import selenium, axe_core_python' \
        && ! { python3 -m venv "$folder" \
            && "$folder/bin/pip" install --quiet --disable-pip-version-check "${packages[@]}"; }; then
        browser_error="${packages[*]} can't be installed"
        return 1
    fi
    export PYTHONDONTWRITEBYTECODE=1 CHROMIUM=$(command -v chromium) CHROMEDRIVER=$(command -v chromedriver)
}

works() { "$@" >/dev/null 2>&1; }
