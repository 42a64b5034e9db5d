#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: report.py BIN [FOLDER]
Pages of --report in headless Chromium, by its debugging protocol: nothing on its console, nothing loaded;
boxes open by a click, links lead into the picture, names are found, tables sorted and filtered; names that are
markup stay text; the rules of accessibility that can be computed are kept. AXE names axe.min.js of axe-core: then it
finds no violation, either. With FOLDER pictures of the
pages and a PDF stay there. Exit status 77 (skipped) without Chromium."""
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

PATIENCE = 120


class Browser:
    """Chromium at the other end of two pipes; messages end in a zero byte."""

    def __init__(self, program, folder):
        to_read, self.out = os.pipe()
        self.into, to_write = os.pipe()
        command = [program, '--headless=new', '--no-sandbox', '--disable-gpu', '--remote-debugging-pipe',
                   '--no-first-run', '--disable-background-networking', '--user-data-dir=' + folder, 'about:blank']
        # the numbers of the pipes are given by the protocol
        shell = 'exec "$@" 3<&%d 4>&%d' % (to_read, to_write)
        self.process = subprocess.Popen(['bash', '-c', shell, 'sh'] + command, pass_fds=(to_read, to_write),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.rest, self.number, self.session, self.said = b'', 0, None, []
        self.has_loaded = False
        target = [t for t in self.ask('Target.getTargets')['targetInfos'] if t['type'] == 'page'][0]
        self.session = self.ask('Target.attachToTarget', targetId=target['targetId'], flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Log', 'Network'):
            self.ask(domain + '.enable')

    def next(self):
        while b'\0' not in self.rest:
            piece = os.read(self.into, 1 << 20)
            if not piece:
                sys.exit('FAILED: chromium has ended')
            self.rest += piece
        text, self.rest = self.rest.split(b'\0', 1)
        message = json.loads(text)
        method, params = message.get('method'), message.get('params')
        if method == 'Page.loadEventFired':
            self.has_loaded = True
        if method in ('Runtime.consoleAPICalled', 'Runtime.exceptionThrown', 'Log.entryAdded'):
            self.said.append(json.dumps(params)[:400])
        if method == 'Network.requestWillBeSent' and not params['request']['url'].startswith(('file:', 'about:')):
            self.said.append('loads ' + params['request']['url'])
        return message

    def ask(self, method, **params):
        self.number += 1
        message = {'id': self.number, 'method': method, 'params': params}
        if self.session:
            message['sessionId'] = self.session
        os.write(self.out, json.dumps(message).encode() + b'\0')
        end = time.time() + PATIENCE
        while time.time() < end:
            answer = self.next()
            if answer.get('id') == self.number:
                if 'error' in answer:
                    sys.exit('FAILED: %s: %s' % (method, answer['error']))
                return answer['result']
        sys.exit('FAILED: no answer to ' + method)

    def run(self, expression):
        result = self.ask('Runtime.evaluate', expression=expression, returnByValue=True, awaitPromise=True)
        if 'exceptionDetails' in result:
            sys.exit('FAILED: %s: %s' % (expression, result['exceptionDetails']))
        return result['result'].get('value')

    def settle(self):
        """What was begun, as a jump to a mark, is done and drawn."""
        self.run('new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))')

    def open(self, page, width=1280, height=800, scheme='light', with_scripts=True):
        """Seconds until the page is drawn."""
        self.ask('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.ask('Emulation.setEmulatedMedia', media='', features=[{'name': 'prefers-color-scheme', 'value': scheme}])
        self.has_loaded, start = False, time.time()
        self.ask('Page.navigate', url='file://' + page)
        while not self.has_loaded:
            self.next()
        if with_scripts:
            self.settle()
        return time.time() - start

    def click(self, selector):
        x, y = self.run('(() => {let e = document.querySelector(%s); e.scrollIntoView({block: "center"});'
                        'let b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]})()'
                        % json.dumps(selector))
        for kind in ('mousePressed', 'mouseReleased'):
            self.ask('Input.dispatchMouseEvent', type=kind, x=x, y=y, button='left', clickCount=1)
        self.settle()

    def type(self, selector, text):
        self.run('document.querySelector(%s).focus()' % json.dumps(selector))
        self.ask('Input.insertText', text=text)

    def key(self, name):
        for kind in ('keyDown', 'keyUp'):
            self.ask('Input.dispatchKeyEvent', type=kind, key=name, code=name)

    def picture(self, path):
        with open(path, 'wb') as file:
            file.write(base64.b64decode(self.ask('Page.captureScreenshot', format='png')['data']))


def check(truth, what):
    print('ok  ' if truth else 'FAIL', what)
    if not truth:
        check.failed += 1


check.failed = 0


def quiet(browser, what):
    check(not browser.said, what + ': nothing on the console, nothing loaded' + ''.join('\n  ' + s for s in browser.said))
    browser.said = []


def width_fits(browser):
    return browser.run('document.documentElement.scrollWidth <= document.documentElement.clientWidth')


# Contrast of texts (WCAG 1.4.3), names of what is operated, headers of tables, order of headings, ids, language.
RULES = r'''(() => {
  const bad = [], style = e => getComputedStyle(e), say = (rule, e) => bad.push(rule + ": " + e.outerHTML.slice(0, 120));
  const light = c => c.match(/[\d.]+/g).slice(0, 3).map(v => v / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], .05);
  for (const e of document.querySelectorAll("body *")) {
    if (e.closest("svg") || !e.checkVisibility() || ![...e.childNodes].some(n => n.nodeType == 3 && n.data.trim())) continue;
    let behind = e;
    while (behind && style(behind).backgroundColor == "rgba(0, 0, 0, 0)") behind = behind.parentElement;
    const [x, y] = [light(style(e).color), light(behind ? style(behind).backgroundColor : "rgb(255, 255, 255)")];
    if (Math.max(x, y) / Math.min(x, y) < 4.5) say("contrast", e);
  }
  for (const e of document.querySelectorAll("a, button, input, [tabindex], [role=button], [role=group], [role=img]"))
    if (!(e.getAttribute("aria-label") || document.getElementById(e.getAttribute("aria-labelledby")) || e.textContent.trim() ||
          (e.labels && e.labels.length))) say("no name", e);
  for (const e of document.querySelectorAll("th")) if (!e.scope) say("no scope", e);
  let level = 0;
  for (const e of document.querySelectorAll("h1, h2, h3")) {
    if (e.tagName[1] - level > 1) say("a heading is left out", e);
    level = e.tagName[1];
  }
  const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
  if (new Set(ids).size != ids.length) bad.push("an id twice");
  if (!document.documentElement.lang || !document.title || !document.querySelector("main")) bad.push("no language, title or main");
  return bad;
})()'''


def axe(browser, what):
    found = browser.run(RULES)
    check(not found, what + ': no rule is broken' + ''.join('\n  ' + f for f in found[:5]))
    if not os.environ.get('AXE'):
        return
    with open(os.environ['AXE'], encoding='utf-8') as file:
        browser.run(file.read() + '; 0')
    found = browser.run('axe.run().then(r => r.violations.map(v => v.id + ": " + v.nodes.length + " " + '
                        'v.nodes[0].html.slice(0, 200)))')
    check(not found, what + ': axe-core finds nothing' + ''.join('\n  ' + f for f in found))


def folded(browser, page, shots):
    seconds = browser.open(page)
    check(seconds < 20, 'a fabric of pods: drawn after %.2f s, %d bytes' % (seconds, os.path.getsize(page)))
    check(browser.run('document.querySelectorAll(".opens").length') > 4, 'it has pods')
    hidden = 'getComputedStyle(document.querySelector(".opens .in")).display'
    check(browser.run(hidden) == 'none', 'they are folded')
    browser.picture(shots + '/folded.png')
    browser.click('.opens>.cover')
    check(browser.run(hidden) == 'inline', 'a click opens one')
    check(browser.run('[...document.querySelectorAll(".e.open .one")].some(e => e.getBBox().width > 0)'),
          'its cables appear one by one')
    check(browser.run('document.getElementById("map").viewBox.baseVal.width < 1200'), 'and it is enlarged')
    check(width_fits(browser), 'the page is not wider than the window')
    browser.picture(shots + '/opened.png')
    browser.run('document.querySelector(".opens").focus()')
    browser.key('Enter')
    check(browser.run(hidden) == 'none', 'the key Enter folds it')
    browser.type('.tools input', 'leaf-17')
    browser.key('Enter')
    check(browser.run('document.getElementById("says").textContent').startswith('1 of ') and
          browser.run('document.querySelector(".s.found title").textContent').startswith('leaf-17'),
          'a switch is found by name')
    browser.run('var box = document.querySelector(".tools input"); box.value = ""; box.dispatchEvent(new Event("input"))')
    browser.type('.tools input', 'h100')
    check(browser.run('document.querySelector(".s.found").getAttribute("data-h").split(" ").includes("h100")'),
          'and a host')
    browser.click('.tools button:nth-of-type(3)')
    check(browser.run('document.getElementById("map").viewBox.baseVal.x') == 0, 'the whole is shown again')
    axe(browser, 'folded')
    browser.run('document.body.style.color = "#999"')
    check(browser.run(RULES), 'a text of too little contrast is found')
    quiet(browser, 'folded')


def findings(browser, page, shots):
    browser.open(page)
    browser.picture(shots + '/light.png')
    check(browser.run('document.querySelector(".answer").textContent') != '', 'the answer comes first')
    check(browser.run('[...document.querySelectorAll(".marks a")].every(a => document.getElementById(a.hash.slice(1)))'),
          'each finding leads to a mark')
    before = browser.run('document.getElementById("map").viewBox.baseVal.width')
    browser.click('.marks a')
    check(browser.run('location.hash') == '#m1' and
          browser.run('document.getElementById("map").viewBox.baseVal.width') < before, 'a click shows it enlarged')
    browser.click('#m1 circle')
    check(browser.run('location.hash') == '#f1', 'and the mark leads back')
    browser.run('var cells = () => [...document.querySelectorAll("table")].find(t => t.rows.length > 8)')
    column = '[...cells().tBodies[0].rows].map(r => Number(r.cells[1].textContent))'
    browser.run('cells().querySelectorAll("th button")[1].scrollIntoView(); cells().querySelectorAll("th button")[1].click()')
    values = browser.run(column)
    check(values == sorted(values) and len(set(values)) > 1, 'a table is sorted by a click')
    browser.run('cells().querySelectorAll("th button")[1].click()')
    check(browser.run(column) == values[::-1] or browser.run(column) == sorted(values, reverse=True), 'and the other way')
    browser.run('var filter = cells().parentNode.previousElementSibling.querySelector("input"); '
                'filter.value = "sssp-new"; filter.dispatchEvent(new Event("input"))')
    check(browser.run('[...cells().tBodies[0].rows].every(r => r.hidden != r.textContent.includes("sssp-new"))'),
          'rows are filtered')
    axe(browser, 'light')
    browser.open(page, scheme='dark')
    browser.picture(shots + '/dark.png')
    axe(browser, 'dark')
    browser.open(page, 400, 800)
    browser.picture(shots + '/narrow.png')
    check(width_fits(browser), 'no wider than a window of 400 pixels')
    loads = 'getComputedStyle(document.querySelector("#map .l7") || document.querySelector(".l7")).stroke'
    browser.open(page)
    by_day = browser.run(loads)
    browser.ask('Emulation.setEmulatedMedia', media='print', features=[{'name': 'prefers-color-scheme', 'value': 'dark'}])
    check(browser.run(loads) == by_day, 'colours of a dark screen are not printed')
    pdf = base64.b64decode(browser.ask('Page.printToPDF', printBackground=True)['data'])
    with open(shots + '/print.pdf', 'wb') as file:
        file.write(pdf)
    check(pdf.startswith(b'%PDF'), 'it prints')
    quiet(browser, 'findings')
    browser.ask('Emulation.setScriptExecutionDisabled', value=True)
    browser.open(page, with_scripts=False)
    browser.picture(shots + '/noscript.png')
    browser.ask('Emulation.setScriptExecutionDisabled', value=False)
    quiet(browser, 'without scripts')


def loaded(browser, page, name):
    for scheme in ('light', 'dark'):
        browser.open(page, scheme=scheme)
        axe(browser, name + ', ' + scheme)
    check(browser.run('document.querySelectorAll("#map .l7").length') > 0, name + ': cables have colours by load')
    check(browser.run('document.querySelector(".marks a").textContent').startswith('fullest'), name + ': the fullest is marked')
    harmless(browser, name)
    quiet(browser, name)


HOSTILE = ['<script>document.title=`x`</script>', '"><img src=x onerror=alert(1)>', '&lt;b&gt;', "' onmouseover='alert(1)",
           '</title></style><svg onload=alert(1)>', 'a]]>--><!--', '\u202egnp.exe']


def harmless(browser, name):
    check(browser.run('document.title').startswith('fabric-'), name + ': no script has run')
    check(browser.run('document.querySelectorAll("img,iframe,object,[onload],[onerror],[onmouseover]").length') == 0 and
          browser.run('document.querySelectorAll("script").length') == 1, name + ': names made no elements')


def hostile(browser, page):
    browser.open(page)
    harmless(browser, 'hostile names')
    text = browser.run('document.body.textContent')
    for name in HOSTILE[:-1]:
        check(name in text, 'shown as text: ' + name)
    check('\\xe2\\x80\\xaegnp.exe' in text and '\u202e' not in text, 'bidirectional controls are made visible')
    quiet(browser, 'hostile')


def write_hostile(commands, folder):
    text = subprocess.run([commands + '/fabric-topo', 'gen:fattree:radix=8,levels=2', '--to=ibnetdiscover'], check=True,
                          stdout=subprocess.PIPE).stdout.decode()
    for i, name in enumerate(HOSTILE):
        # a quote ends a description
        text = text.replace('"leaf-%d"' % i, '"%s"' % name.replace('"', "'"))
        text = text.replace('"h%d HCA-1"' % (4 * i), '"%s"' % name.replace('"', "'"))
    path = folder + '/hostile.txt'
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)
    return path


def main():
    commands = os.path.abspath(sys.argv[1])
    program = shutil.which('chromium') or shutil.which('chromium-browser') or shutil.which('google-chrome')
    if not program:
        print('no chromium')
        sys.exit(77)
    HOSTILE[1] = HOSTILE[1].replace('"', "'")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        shots = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else folder
        pages, names = {}, write_hostile(commands, folder)
        for name, command in (
                ('folded', ['fabric-topo', 'gen:fattree:radix=16,levels=3']),
                ('findings', ['fabric-mcroute', 'gen:fattree:radix=16,levels=2', '--pattern=random:groups=200,size=8',
                              '--algorithm=all', '--fullest=3']),
                ('rdma', ['fabric-rdma', 'run', names, '--pattern=incast:8', '--runs=2']),
                ('launch', ['fabric-launch', 'stages', names]),
                ('boot', ['fabric-bootplan', names, '--servers=h1,h9']),
                ('hostile', ['fabric-topo', names, '--check'])):
            pages[name] = '%s/%s.html' % (folder, name)
            subprocess.run([commands + '/' + command[0]] + command[1:] + ['--report=' + pages[name]], check=False,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        browser = Browser(program, folder + '/profile')
        try:
            folded(browser, pages['folded'], shots)
            findings(browser, pages['findings'], shots)
            for name in ('rdma', 'launch', 'boot'):
                loaded(browser, pages[name], name)
            hostile(browser, pages['hostile'])
        finally:
            browser.process.terminate()
            browser.process.wait()
    sys.exit(1 if check.failed else 0)


main()
