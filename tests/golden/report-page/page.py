#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: page.py PAGE...   what each page of --report contains, one line each; a page that is not well-formed, loads
something, or lets more run than its own script and style, is an error."""
import base64
import hashlib
import html.parser
import re
import sys

VOID = {'meta'}
KEPT = {'title', 'script', 'style', 'h2', 'figcaption', 'li'}  # whose texts are looked at; SVG has titles, too
ALLOWED = set('html head meta title style script body main section h1 h2 h3 p dl dt dd div table thead tbody tr th td a '
              'pre figure figcaption ol ul li svg g path rect circle text'.split())
ATTRIBUTES = set('lang charset http-equiv content name class id tabindex role title scope href viewbox xmlns d x y dx dy '
                 'width height rx cx cy r stroke-dasharray stroke-dashoffset fill-opacity font-size font-weight text-anchor transform aria-label aria-labelledby aria-hidden '
                 'data-v data-a data-b data-h data-p'.split())


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.path, self.stack, self.ids, self.links, self.texts = path, [], [], [], {}
        self.policy, self.counts, self.tags = '', {}, {}
        with open(path, encoding='utf-8') as file:
            self.feed(file.read())
        self.close()

    def wrong(self, what):
        sys.exit('%s: line %d: %s' % (self.path, self.getpos()[0], what))

    def handle_starttag(self, tag, attrs):
        if tag not in ALLOWED:
            self.wrong('element ' + tag)
        names = [a for a, _ in attrs]
        if len(set(names)) != len(names):
            self.wrong('an attribute twice')
        for name, value in attrs:
            if name not in ATTRIBUTES or (name == 'name' and tag != 'meta'):
                self.wrong('attribute ' + name)
            if name == 'href' and not re.fullmatch('#[a-z][0-9]+', value):
                self.wrong('a link to ' + value)
        given = dict(attrs)
        self.tags[tag] = self.tags.get(tag, 0) + 1
        if 'id' in given:
            self.ids.append(given['id'])
        if 'href' in given:
            self.links.append(given['href'][1:])
        if given.get('http-equiv') == 'Content-Security-Policy':
            self.policy = given['content']
        for name in given.get('class', '').split():
            self.counts[name] = self.counts.get(name, 0) + 1
        if tag not in VOID:
            self.stack.append(tag)
            if tag in KEPT:
                self.texts.setdefault(tag, []).append('')

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if not self.stack or self.stack.pop() != tag:
            self.wrong('</%s> closes nothing' % tag)

    def handle_data(self, data):
        if re.search('[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]', data):
            self.wrong('a control character')
        for tag in self.stack:
            if tag in KEPT:
                self.texts[tag][-1] += data

    def handle_comment(self, data):
        self.wrong('a comment')

    def unknown_decl(self, data):
        self.wrong('a declaration')

    def handle_pi(self, data):
        self.wrong('an instruction')


def digest(text):
    return "'sha256-%s'" % base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def main():
    for path in sys.argv[1:]:
        page = Page(path)
        if page.stack:
            page.wrong('%s is open at the end' % page.stack)
        if len(set(page.ids)) != len(page.ids):
            page.wrong('an id twice')
        for link in page.links:
            if link not in page.ids:
                page.wrong('no id for the link #' + link)
        if len(page.texts['script']) != 1 or len(page.texts['style']) != 1:
            page.wrong('more than one script or style')
        policy = "default-src 'none'; script-src %s; style-src %s; base-uri 'none'; form-action 'none'" % (
            digest(page.texts['script'][0]), digest(page.texts['style'][0]))
        if page.policy != policy:
            page.wrong('its policy is %s instead of %s' % (page.policy, policy))
        count = page.counts.get
        print('%s: %s' % (path, page.texts['title'][0]))
        print('  %d answers, %d switches, %d boxes of several (%d open), %d marks, %d tables, %d rows, %d curves' % (
            count('answer', 0), count('s', 0), count('pod', 0), count('opens', 0), count('mark', 0),
            page.tags.get('table', 0), page.tags.get('tr', 0), count('curve', 0)))
        print('  ' + '; '.join(page.texts['h2']))
        loads = [count('l%d' % k, 0) for k in range(8)]
        if any(loads):
            print('    lines by class of load: ' + ' '.join(map(str, loads)))
        for text in page.texts.get('figcaption', [])[:1] + page.texts.get('li', [])[:2]:
            print('    ' + text if text else '', end='\n' if text else '')


main()
