'use strict';
/* Picture: folds, zoom, pan, search, what is below the pointer. Tables: order and filter. Without this script
   the page has all texts, tables and the folded picture. */
(function () {
  var $ = function (s, at) { return Array.prototype.slice.call((at || document).querySelectorAll(s)); };
  var tool = function (bar, kind, text, act) {
    var e = document.createElement(kind);
    if (kind === 'button') { e.type = 'button'; e.textContent = text; e.addEventListener('click', act); }
    else { e.type = 'search'; e.placeholder = text; e.setAttribute('aria-label', text); e.addEventListener('input', act); }
    bar.appendChild(e);
    return e;
  };
  var bar_before = function (e) {
    var bar = document.createElement('div');
    bar.className = 'tools';
    e.parentNode.insertBefore(bar, e);
    return bar;
  };

  /* ---- tables ---- */
  var value = function (row, i) {
    var cell = row.cells[i], v = cell.getAttribute('data-v');
    return v !== null ? Number(v) : cell.className.indexOf('n') === 0 && cell.textContent !== '' && !isNaN(cell.textContent) ? Number(cell.textContent) : cell.textContent;
  };
  var compare = function (a, b) {
    if (typeof a === 'number' && typeof b === 'number') return a - b;
    if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
    return a.localeCompare(b, 'en', {numeric: true});
  };
  $('table').forEach(function (table) {
    var body = table.tBodies[0], rows = body ? Array.prototype.slice.call(body.rows) : [];
    if (rows.length < 2) return;
    $('th', table).forEach(function (th, i) {
      var button = document.createElement('button');
      button.type = 'button';
      button.textContent = th.textContent;
      th.textContent = '';
      th.appendChild(button);
      button.addEventListener('click', function () {
        var down = th.getAttribute('aria-sort') === 'ascending';
        $('th', table).forEach(function (x) { x.removeAttribute('aria-sort'); });
        th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
        rows.map(function (row, k) { return {row: row, v: value(row, i), k: k}; })
          .sort(function (a, b) { return (down ? compare(b.v, a.v) : compare(a.v, b.v)) || a.k - b.k; })
          .forEach(function (x) { body.appendChild(x.row); });
      });
    });
    if (rows.length < 8) return;
    var bar = bar_before(table.parentNode), count = document.createElement('span');
    tool(bar, 'input', 'Filter rows', function (e) {
      var words = e.target.value.toLowerCase().split(/\s+/), n = 0;
      rows.forEach(function (row) {
        var text = row.textContent.toLowerCase(), has = words.every(function (w) { return text.indexOf(w) >= 0; });
        row.hidden = !has;
        n += has;
      });
      count.textContent = n + ' of ' + rows.length + ' rows';
    });
    count.setAttribute('role', 'status');
    bar.appendChild(count);
  });

  /* ---- picture ---- */
  var map = document.getElementById('map');
  if (!map) return;
  var whole = map.getAttribute('viewBox').split(' ').map(Number), view = whole.slice();
  var set_view = function (x, y, w) {
    w = Math.min(Math.max(w, whole[2] / 400), whole[2]);
    var h = w * whole[3] / whole[2];
    view = [Math.min(Math.max(x, whole[0]), whole[0] + whole[2] - w), Math.min(Math.max(y, whole[1]), whole[1] + whole[3] - h), w, h];
    map.setAttribute('viewBox', view.join(' '));
    map.style.setProperty('--z', whole[2] / w);
  };
  var zoom = function (by, x, y) {
    x = x === undefined ? view[0] + view[2] / 2 : x;
    y = y === undefined ? view[1] + view[3] / 2 : y;
    set_view(x - (x - view[0]) / by, y - (y - view[1]) / by, view[2] / by);
  };
  var to_picture = function (e) {
    var p = new DOMPoint(e.clientX, e.clientY).matrixTransform(map.getScreenCTM().inverse());
    return [p.x, p.y];
  };
  /* Let an element fill a share of the picture. */
  var look_at = function (e, share) {
    var b = e.getBBox(), w = Math.max(b.width, b.height * whole[2] / whole[3]) / share;
    w = Math.min(Math.max(w, whole[2] / 12), whole[2]);
    set_view(b.x + b.width / 2 - w / 2, b.y + b.height / 2 - w * whole[3] / whole[2] / 2, w);
  };
  var bundles = $('.e', map);
  var open = function (pod, is_open) {
    pod.classList.toggle('open', is_open);
    pod.setAttribute('aria-expanded', String(is_open));
    bundles.forEach(function (e) {
      if (e.getAttribute('data-a') !== pod.id && e.getAttribute('data-b') !== pod.id) return;
      e.classList.toggle('open', ['data-a', 'data-b'].some(function (end) {
        return document.getElementById(e.getAttribute(end)).classList.contains('open');
      }));
    });
  };
  var pods = $('.opens', map);
  pods.forEach(function (pod) {
    var toggle = function () {
      var is_open = !pod.classList.contains('open');
      open(pod, is_open);
      if (is_open) look_at(pod.querySelector('.cover'), 0.6);
    };
    pod.setAttribute('tabindex', '0');
    pod.setAttribute('role', 'button');
    pod.setAttribute('aria-expanded', 'false');
    pod.querySelector('.cover').addEventListener('click', function () { if (!moved) toggle(); });
    $('.label', pod).forEach(function (l) { l.addEventListener('click', function () { if (!moved) toggle(); }); });
    pod.addEventListener('keydown', function (e) {
      if (e.target === pod && (e.key === 'Enter' || e.key === ' ')) { e.preventDefault(); toggle(); }
    });
  });
  /* Show an element of the picture, in its pod. */
  var show = function (e) {
    var pod = e.parentNode.closest('.opens'), touched = (e.getAttribute('data-p') || '').split(' ').filter(Boolean);
    touched.forEach(function (id) { open(document.getElementById(id), true); });
    if (pod) open(pod, true);
    if (touched.length === 1) look_at(document.getElementById(touched[0]).querySelector('.cover'), 0.6);
    else look_at(e, e.classList.contains('mark') || pod ? 0.12 : 0.3);
    map.scrollIntoView({block: 'nearest'});
  };
  var follow = function () {
    var e = /^#[spm][0-9]+$/.test(location.hash) ? document.getElementById(location.hash.slice(1)) : null;
    if (e) show(e);
  };
  window.addEventListener('hashchange', follow);
  document.addEventListener('click', function (e) {
    var a = e.target.closest ? e.target.closest('a') : null;
    if (a && a.getAttribute('href') === location.hash) follow();
  });

  var bar = bar_before(map), says = document.createElement('output');
  tool(bar, 'button', 'Larger', function () { zoom(1.6); });
  tool(bar, 'button', 'Smaller', function () { zoom(1 / 1.6); });
  tool(bar, 'button', 'Whole', function () { set_view(whole[0], whole[1], whole[2]); });
  if (pods.length) {
    tool(bar, 'button', 'Open all', function () { pods.forEach(function (p) { open(p, true); }); });
    tool(bar, 'button', 'Fold all', function () { pods.forEach(function (p) { open(p, false); }); });
  }
  var named = $('.s,.pod', map), found = [], at = 0;
  var go = function () {
    if (!found.length) return;
    show(found[at % found.length]);
    says.textContent = (at % found.length + 1) + ' of ' + found.length + ': ' + found[at++ % found.length].querySelector('title').textContent;
  };
  var box = tool(bar, 'input', 'Find a switch or host (Enter: next)', function () {
    var text = box.value.trim().toLowerCase();
    found.forEach(function (e) { e.classList.remove('found'); });
    found = text === '' ? [] : named.filter(function (e) {
      return (e.querySelector('title').textContent + ' ' + (e.getAttribute('data-h') || '')).toLowerCase().indexOf(text) >= 0;
    });
    /* whole names first, then what is closest to the text */
    found.sort(function (a, b) {
      var exact = function (e) { return (' ' + e.querySelector('title').textContent.split('\n')[0] + ' ' + (e.getAttribute('data-h') || '') + ' ').toLowerCase().indexOf(' ' + text + ' ') >= 0 ? 0 : 1; };
      return exact(a) - exact(b);
    });
    found.forEach(function (e) { e.classList.add('found'); });
    at = 0;
    says.textContent = text === '' ? '' : found.length + ' found';
  });
  box.addEventListener('keydown', function (e) { if (e.key === 'Enter') { e.preventDefault(); go(); } });
  says.id = 'says';
  map.parentNode.insertBefore(says, map.nextSibling);

  var tell = function (e) {
    for (var x = e.target; x && x !== map; x = x.parentNode) {
      var title = x.querySelector(':scope>title');
      if (title) { says.textContent = title.textContent; return; }
    }
  };
  map.addEventListener('pointerover', tell);
  map.addEventListener('focusin', tell);
  var start = null, moved = false;
  map.addEventListener('pointerdown', function (e) { start = {x: e.clientX, y: e.clientY, view: view.slice()}; moved = false; });
  window.addEventListener('pointermove', function (e) {
    if (!start) return;
    var scale = 1 / map.getScreenCTM().a, dx = e.clientX - start.x, dy = e.clientY - start.y;
    moved = moved || Math.abs(dx) + Math.abs(dy) > 4;
    if (moved) set_view(start.view[0] - dx * scale, start.view[1] - dy * scale, view[2]);
  });
  window.addEventListener('pointerup', function () { start = null; });
  window.addEventListener('pointercancel', function () { start = null; });
  map.addEventListener('wheel', function (e) {
    var p = to_picture(e);
    if (!e.ctrlKey && view[2] >= whole[2] && e.deltaY > 0) return;
    e.preventDefault();
    zoom(e.deltaY < 0 ? 1.25 : 0.8, p[0], p[1]);
  }, {passive: false});
  map.setAttribute('tabindex', '0');
  map.addEventListener('keydown', function (e) {
    var step = view[2] / 8, keys = {ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step]};
    if (e.target !== map) return;
    if (keys[e.key]) set_view(view[0] + keys[e.key][0], view[1] + keys[e.key][1], view[2]);
    else if (e.key === '+') zoom(1.6);
    else if (e.key === '-') zoom(1 / 1.6);
    else if (e.key === '0') set_view(whole[0], whole[1], whole[2]);
    else return;
    e.preventDefault();
  });
  follow();
})();
