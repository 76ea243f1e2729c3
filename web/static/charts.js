// charts.js draws the page's charts with ECharts.
//
// An element with data-chart="ID" is drawn from the JSON in the element with that
// id: an ECharts option whose colours are names of CSS custom properties and whose
// functions are names from the lists RENDERERS and FORMATTERS below. Text in it is
// untrusted: it reaches the page through canvas text and textContent only.
//
//   rebench.updateChart(id, option)   draws new data (object or JSON), keeps the zoom
//   rebench.selectPoint(id, key)      shows the tooltip of the point with that key
//   event "chart:select" on the element, detail {key}: the reader chose a point;
//       unless prevented, a key like t=5400 becomes the address's fragment and a
//       point with a link leads to it
//   event "rebench:moment" on the document, detail seconds: selects the point t=seconds
(function () {
  'use strict';

  const charts = new Map(); // id of the JSON -> state
  const COLOURS = ['color', 'borderColor', 'backgroundColor', 'textBorderColor'];
  const OPAQUE = ['tip', 'rebenchItems', 'rebenchTicks', 'rebenchGroup', 'name', 'key', 'href'];
  const NARROW = 640;
  const REACH = 28; // pixels within which a point answers to the pointer

  // ---- colours ----

  function isDark() {
    const theme = document.documentElement.dataset.theme;
    if (theme === 'dark' || theme === 'light') return theme === 'dark';
    return window.matchMedia('(prefers-color-scheme: dark)').matches;
  }

  // painter returns a function from property names to colours of the present theme.
  function painter(state) {
    const css = getComputedStyle(state.el);
    const table = isDark() ? state.meta.dark : state.meta.light;
    return (name) => css.getPropertyValue(name).trim() || table[name] || table['--chart-ink'];
  }

  // resolve copies an option with its colours filled in.
  function resolve(node, paint) {
    if (Array.isArray(node)) return node.map((n) => resolve(n, paint));
    if (node === null || typeof node !== 'object') return node;
    const out = {};
    for (const k of Object.keys(node)) {
      const v = node[k];
      if (OPAQUE.includes(k)) out[k] = v;
      else if (COLOURS.includes(k) && typeof v === 'string' && v.startsWith('--chart-')) out[k] = paint(v);
      else out[k] = resolve(v, paint);
    }
    return out;
  }

  // ---- formatters ----

  const FORMATTERS = {
    '@ticks': (state, holder) => {
      const labels = new Map(holder.rebenchTicks.map((t) => [t.value, (state.narrow && t.short) || t.label]));
      return (value) => {
        if (labels.has(value)) return labels.get(value);
        for (const [v, text] of labels) if (Math.abs(v - value) <= 1e-6 * Math.max(1, Math.abs(v))) return text;
        return '';
      };
    },
    '@tip': () => (p) => (p.data && p.data.tip ? tooltip(p.data.tip) : ''),
  };

  // tooltip builds the content of a tooltip.
  function tooltip(tip) {
    const box = element('div', 'chart-tip-body');
    box.append(element('strong', 'chart-tip-title', tip.title));
    const list = element('dl', 'chart-tip-rows');
    Object.assign(list.style, { display: 'grid', gridTemplateColumns: 'auto auto', columnGap: '1em', margin: '4px 0 0' });
    for (const [name, value] of tip.rows) {
      const dt = element('dt', '', name);
      dt.style.opacity = '0.75';
      const dd = element('dd', '', value);
      Object.assign(dd.style, { margin: '0', whiteSpace: 'normal', maxWidth: '22em' });
      list.append(dt, dd);
    }
    box.append(list);
    return box;
  }

  function element(name, className, text) {
    const e = document.createElement(name);
    if (className) e.className = className;
    if (text !== undefined) e.textContent = text;
    return e;
  }

  // ---- renderers: each draws all its items in one go ----

  const fade = (state, group) => (state.focus && group && group !== state.focus ? 0.15 : 1);
  const path = (pts, style) => ({ type: 'polyline', shape: { points: pts }, silent: true, style: Object.assign({ fill: 'none' }, style) });
  const inside = (v, low, size) => v >= low - 0.5 && v <= low + size + 0.5;

  function write(state, x, y, text, size, fill, extra) {
    return { type: 'text', silent: true, x: x, y: y, style: Object.assign({ text: text, fill: fill, fontSize: size, fontFamily: state.font, fontWeight: 'normal', verticalAlign: 'middle' }, extra) };
  }

  const RENDERERS = {
    '@spans': (state, list, paint) => (params, api) => {
      const r = params.coordSys;
      return group(list.flatMap((s) => {
        let [a, b] = [s.from, s.to].map((v) => api.coord([v, 0])[0]);
        if (b - a < 2) [a, b] = [a - 1.5, a + 1.5];
        if (b < r.x || a > r.x + r.width) return [];
        a = Math.max(a, r.x);
        b = Math.min(b, r.x + r.width);
        const box = { type: 'rect', silent: true, shape: { x: a, y: r.y, width: b - a, height: r.height }, style: { fill: paint(s.color), opacity: s.opacity } };
        const atLeft = b + 140 > r.x + r.width;
        const at = b - a > 140 ? [(a + b) / 2, 'center'] : atLeft ? [a - 4, 'right'] : [b + 4, 'left'];
        if (!s.label || (state.narrow && state.meta.rows)) return [box];
        return [box, write(state, at[0], state.meta.rows ? r.y - 10 : r.y + 8, s.label, 11, paint('--chart-muted'), { align: at[1] })];
      }));
    },

    '@refs': (state, list, paint) => (params, api) => {
      const r = params.coordSys;
      const halo = { stroke: paint('--chart-paper'), lineWidth: 3 };
      let free = -Infinity; // where the next label above the plot may begin
      return group(list.flatMap((l) => {
        const c = api.coord(l.vertical ? [l.value, 0] : [api.value(0), l.value])[l.vertical ? 0 : 1];
        if (l.vertical ? !inside(c, r.x, r.width) : !inside(c, r.y, r.height)) return [];
        const line = path(l.vertical ? [[c, r.y], [c, r.y + r.height]] : [[r.x, c], [r.x + r.width, c]],
          { stroke: paint(l.color), lineWidth: l.width, opacity: l.opacity, lineDash: l.dash });
        if (!l.label) return [line];
        if (!l.vertical) {
          const below = l.value === 0 && r.y + r.height - c > 12;
          return [line, write(state, r.x + 5, c + (below ? 9 : -9), l.label, 11, paint('--chart-muted'), halo)];
        }
        const flip = c + 110 > r.x + r.width, width = state.measure(l.label, 11) + 8;
        if (state.meta.rows) {
          if ((flip ? c - width : c) < free) return [line];
          free = flip ? c : c + width;
        }
        const y = state.meta.rows ? r.y - 10 : l.atEnd ? r.y + r.height / 2 : r.y + 8;
        return [line, write(state, c + (flip ? -4 : 4), y, l.label, 11, paint('--chart-muted'), Object.assign({ align: flip ? 'right' : 'left' }, halo))];
      }));
    },

    '@areas': (state, list, paint) => (params, api) => group(list.map((a) => ({
      type: 'polygon', silent: true, shape: { points: a.points.map((p) => api.coord(p)) },
      style: { fill: paint(a.color), opacity: state.focus === params.seriesName && state.focus ? a.strong : a.opacity * fade(state, params.seriesName) },
    }))),

    '@whiskers': (state, list, paint) => (params, api) => group(list.flatMap((w) => {
      const at = (v) => api.coord(w.horizontal ? [v, w.y] : [w.x, v]);
      const mid = w.horizontal ? w.x : w.y;
      const from = at(w.low === null ? mid : w.low);
      const to = at(w.high === null ? mid : w.high);
      const style = { stroke: paint(w.color), lineWidth: 1.75, opacity: 0.75 * fade(state, params.seriesName) };
      const out = [path([from, to], style)];
      const arrow = (at, dx, dy) => { // this end is unknown
        const tip = [at[0] + dx, at[1] + dy], faint = Object.assign({}, style, { opacity: style.opacity * 0.6 });
        out.push(path([at, tip], Object.assign({}, faint, { lineDash: [1.5, 3.5] })));
        out.push(path([[tip[0] - dx * 0.2 - dy * 0.15, tip[1] - dy * 0.2 + dx * 0.15], tip, [tip[0] - dx * 0.2 + dy * 0.15, tip[1] - dy * 0.2 - dx * 0.15]], faint));
      };
      const [dx, dy] = w.horizontal ? [26, 0] : [0, -26];
      if (w.high === null) arrow(to, dx, dy);
      if (w.low === null) arrow(from, -dx, -dy);
      return out;
    })),

    '@notes': (state, list, paint) => (params, api) => {
      if (state.narrow && !state.focus) return null;
      const r = params.coordSys;
      const taken = state.points.filter((p) => p.size > 0).map((p) => {
        const [x, y] = api.coord([p.x, p.y]);
        return [x - p.size / 2, y - p.size / 2, p.size, p.size];
      });
      const lines = state.lines.filter((l) => !state.focus || !l.group || l.group === state.focus).flatMap((l) => {
        const pts = l.points.map((p) => api.coord(p));
        return pts.slice(1).map((p, i) => [pts[i], p]);
      });
      const hit = (a) => taken.some((b) => a[0] < b[0] + b[2] && b[0] < a[0] + a[2] && a[1] < b[1] + b[3] && b[1] < a[1] + a[3])
        || lines.some(([p, q]) => crosses(a, p, q));
      return group(list.flatMap((n) => {
        if (state.focus && n.group !== state.focus) return [];
        const [x, y] = api.coord([n.x, n.y]);
        const w = state.measure(n.text, 10.5), h = 13;
        const spot = [[x - w / 2, y - 7 - h], [x - w / 2, y + 7], [x - w - 2, y - 5 - h], [x + 2, y + 5]].find((s) =>
          s[0] >= r.x && s[0] + w <= r.x + r.width && s[1] >= r.y && s[1] + h <= r.y + r.height && !hit([s[0], s[1], w, h]));
        if (!spot) return [];
        taken.push([spot[0], spot[1], w, h]);
        return [write(state, spot[0], spot[1] + h / 2, n.text, 10.5, paint(n.color), { stroke: paint('--chart-paper'), lineWidth: 3 })];
      }));
    },

    '@ends': (state, list, paint) => (params, api) => {
      if (state.narrow) return null;
      const r = params.coordSys, right = r.x + r.width, pitch = 16;
      let shown = list.flatMap((e) => {
        const end = lastVisible(e.points.map((p) => api.coord(p)), r.x, right);
        return end && inside(end[1], r.y, r.height) ? [{ e: e, x: end[0], y: end[1] }] : [];
      });
      while (shown.length * pitch > r.height + 20) shown.splice(leastNeeded(shown), 1);
      const ys = spread(shown.map((s) => s.y), pitch, r.y - 8, r.y + r.height + 8);
      const x = right + 14;
      return group(shown.flatMap((s, i) => {
        const alpha = Math.max(fade(state, s.e.group), 0.35), stroke = paint(s.e.color), from = Math.min(s.x + 6, x - 10);
        return [
          path([[from, s.y], [x - 10, s.y]], { stroke: stroke, lineWidth: 1, lineDash: [1, 3], opacity: 0.5 * alpha }),
          path([[x - 10, s.y], [x - 3, ys[i]]], { stroke: stroke, lineWidth: 1, opacity: 0.5 * alpha }),
          write(state, x, ys[i], s.e.text, s.e.minor ? 11 : 13, stroke, { opacity: alpha, width: state.meta.right - 18, overflow: 'truncate', fontWeight: state.focus === s.e.group && state.focus ? 'bold' : 'normal' }),
        ];
      }));
    },

    '@sides': (state, list, paint) => (params, api) => {
      const r = params.coordSys;
      return group(list.map((s) => {
        const y = api.coord([api.value(0), s.y])[1];
        return state.narrow
          ? write(state, r.x + r.width - 4, s.y > 0 ? r.y + 10 : r.y + r.height - 12, s.text, 12, paint(s.color), { align: 'right', stroke: paint('--chart-paper'), lineWidth: 3 })
          : write(state, r.x + r.width + 14, y, s.text, 13, paint(s.color), { width: state.meta.right - 18, overflow: 'truncate' });
      }));
    },

    '@cells': (state, list, paint) => (params, api) => {
      if (state.narrow) return null;
      const r = params.coordSys, c = list[0], out = [];
      let x = r.x + r.width + 14;
      c.head.forEach((h, i) => {
        out.push(write(state, x, r.y - 10, h, 11, paint(c.headColor)));
        c.rows.forEach((row, j) => out.push(write(state, x, api.coord([api.value(0), j])[1], row[i], 12, paint(c.color))));
        x += c.widths[i];
      });
      return group(out);
    },
  };

  const group = (children) => ({ type: 'group', children: children });

  // lastVisible is where a line leaves the view on the right, or ends.
  function lastVisible(pts, left, right) {
    for (let i = pts.length - 1; i >= 0; i--) {
      if (pts[i][0] > right + 0.5) continue;
      const next = pts[i + 1];
      if (next) return [right, pts[i][1] + (next[1] - pts[i][1]) * (right - pts[i][0]) / (next[0] - pts[i][0])];
      return pts[i][0] >= left - 0.5 ? pts[i] : null;
    }
    return null;
  }

  // leastNeeded is the label to leave out first: a time limit's, else the lowest.
  function leastNeeded(shown) {
    let worst = 0;
    shown.forEach((s, i) => {
      const w = shown[worst];
      if (s.e.minor !== w.e.minor ? s.e.minor : s.y > w.y) worst = i;
    });
    return worst;
  }

  // spread moves labels of equal height apart, as little as possible in squares, by
  // pooling adjacent violators (isotonic regression).
  function spread(want, pitch, top, bottom) {
    const order = want.map((_, i) => i).sort((a, b) => want[a] - want[b] || a - b);
    const step = Math.min(pitch, (bottom - top) / Math.max(1, want.length));
    const blocks = [];
    order.forEach((i, pos) => {
      blocks.push([want[i] - (pos + 0.5) * step, 1]);
      for (let n = blocks.length; n > 1 && blocks[n - 2][0] / blocks[n - 2][1] > blocks[n - 1][0] / blocks[n - 1][1]; n--) {
        const b = blocks.pop();
        blocks[n - 2][0] += b[0];
        blocks[n - 2][1] += b[1];
      }
    });
    const out = [];
    let pos = 0;
    for (const [sum, n] of blocks) {
      const base = Math.max(top, Math.min(sum / n, bottom - step * want.length));
      for (let k = 0; k < n; k++, pos++) out[order[pos]] = base + (pos + 0.5) * step;
    }
    return out;
  }

  // crosses reports whether the segment p-q touches the box [x, y, w, h].
  function crosses(a, p, q) {
    let t0 = 0, t1 = 1;
    for (const i of [0, 1]) {
      const d = q[i] - p[i];
      let from = a[i] - p[i], to = from + a[i + 2];
      if (d === 0) {
        if (from > 0 || to < 0) return false;
        continue;
      }
      from /= d;
      to /= d;
      t0 = Math.max(t0, Math.min(from, to));
      t1 = Math.min(t1, Math.max(from, to));
    }
    return t0 <= t1;
  }

  // ---- layout ----

  // layout places the grids for the element's width and sets its height.
  function layout(state, option) {
    const m = state.meta, width = state.el.clientWidth;
    state.narrow = width < NARROW;
    let height = m.height;
    if (m.small) {
      const cols = Math.max(1, Math.min(4, Math.floor(width / 230))), cell = 190;
      height = Math.ceil(option.grid.length / cols) * cell + 10;
      option.grid.forEach((g, i) => {
        const x = (i % cols) * (width / cols), y = Math.floor(i / cols) * cell;
        Object.assign(g, { left: x + 40, top: y + 30, width: width / cols - 52, height: cell - 74 });
        delete g.right;
        delete g.bottom;
        if (option.title && option.title[i]) Object.assign(option.title[i], { left: x + 34, top: y + 2, padding: 0 });
      });
    } else {
      const g = option.grid[0] || {};
      if (m.rows) {
        const stub = Math.min(m.left, width * (state.narrow ? 0.48 : 0.3));
        Object.assign(g, { left: stub, right: state.narrow ? 16 : m.right, top: 26 });
        if (option.yAxis[0]) Object.assign(option.yAxis[0].axisLabel, { width: stub - 10, fontSize: state.narrow ? 11 : 12 });
      } else {
        if (state.narrow) Object.assign(g, { left: 44, right: 12 });
        height = state.narrow ? Math.min(height, Math.round(width * 1.05)) : Math.max(height, Math.min(window.innerHeight * 0.62, height * 1.3));
      }
    }
    state.el.style.height = Math.round(height) + 'px';
  }

  // named looks a function up by its name in a list; nothing else is ever called.
  function named(list, name) {
    if (!Object.prototype.hasOwnProperty.call(list, name)) throw new Error('charts.js: no function named ' + name);
    return list[name];
  }

  // wire puts functions in the place of their names and gathers points and lines.
  function wire(state, option, paint) {
    state.points = [];
    state.lines = [];
    for (const axis of [...option.xAxis, ...option.yAxis]) {
      axis.axisLabel.formatter = named(FORMATTERS, axis.axisLabel.formatter)(state, axis.axisLabel);
    }
    option.tooltip.formatter = named(FORMATTERS, option.tooltip.formatter)(state);
    option.tooltip.appendTo = () => document.body;
    option.series.forEach((s, index) => {
      s.id = 's' + index;
      const alpha = fade(state, s.rebenchGroup);
      if (s.renderItem !== undefined) {
        if (s.renderItem === '@whiskers') {
          for (const w of s.rebenchItems) if (!w.horizontal && w.low !== null && w.high !== null) state.lines.push({ group: s.rebenchGroup, points: [[w.x, w.low], [w.x, w.high]] });
        }
        if (s.renderItem === '@refs') {
          const axis = option.xAxis[s.xAxisIndex || 0];
          for (const l of s.rebenchItems) if (!l.vertical) state.lines.push({ group: '', points: [[axis.min, l.value], [axis.max, l.value]] });
        }
        s.renderItem = named(RENDERERS, s.renderItem)(state, s.rebenchItems, paint);
      } else if (s.type === 'line') {
        state.lines.push({ group: s.rebenchGroup, points: s.data.map((d) => d.value) });
        s.lineStyle.opacity *= alpha;
      } else {
        s.data.forEach((d, i) => {
          if (!d.symbolSize) d.symbolSize = 0;
          d.itemStyle.opacity *= alpha;
          state.points.push({ series: index, index: i, panel: s.xAxisIndex || 0, group: s.rebenchGroup, x: d.value[0], y: d.value[1], size: d.symbolSize, key: d.key, href: d.href, tip: d.tip });
        });
      }
    });
  }

  // ---- drawing ----

  // draw shows the state's option in the present theme, size and zoom.
  function draw(state) {
    const zoom = state.zoom;
    const paint = painter(state);
    const option = resolve(state.source, paint);
    delete option.rebench;
    layout(state, option);
    state.font = getComputedStyle(state.el).fontFamily || 'sans-serif';
    option.textStyle = { fontFamily: state.font };
    wire(state, option, paint);
    if (option.dataZoom && zoom) Object.assign(option.dataZoom[0], zoom);
    state.chart.resize();
    state.chart.setOption(option, { notMerge: true });
    state.pixels = null;
    drawKey(state, paint);
    drawReset(state);
    state.empty.textContent = state.meta.empty || '';
    state.empty.hidden = !state.meta.empty;
  }

  function start(el) {
    const script = document.getElementById(el.dataset.chart);
    if (!script || charts.has(el.dataset.chart)) return;
    const state = { el: el, source: JSON.parse(script.textContent), zoom: null, focus: '', current: -1, points: [], lines: [] };
    state.meta = state.source.rebench;
    el.textContent = '';
    el.tabIndex = 0;
    state.live = element('div', 'chart-live');
    state.live.setAttribute('aria-live', 'polite');
    Object.assign(state.live.style, { position: 'absolute', width: '1px', height: '1px', overflow: 'hidden', clipPath: 'inset(50%)' });
    state.key = element('ul', 'chart-key');
    el.after(state.key, state.live);
    const pen = document.createElement('canvas').getContext('2d');
    state.measure = (text, size) => {
      pen.font = size + 'px ' + state.font;
      return pen.measureText(text).width;
    };
    el.style.height = state.meta.height + 'px';
    state.chart = echarts.init(el, null, { renderer: 'canvas' });
    state.empty = element('p', 'chart-empty');
    el.append(state.empty);
    charts.set(el.dataset.chart, state);
    draw(state);
    listen(state);
  }

  function listen(state) {
    const { chart, el } = state;
    const zr = chart.getZr();
    zr.on('mousemove', (e) => show(state, nearest(state, e.offsetX, e.offsetY)));
    zr.on('globalout', () => show(state, -1));
    zr.on('click', (e) => {
      const i = nearest(state, e.offsetX, e.offsetY);
      show(state, i);
      // A finger has not seen the tooltip before: its second tap follows a link.
      const first = e.event && e.event.zrByTouch && state.touched !== i;
      state.touched = i;
      choose(state, i, !first);
    });
    zr.on('dblclick', () => setZoom(state, 0, 100));
    el.addEventListener('keydown', (e) => keydown(state, e));
    el.addEventListener('blur', () => show(state, -1));
    chart.on('datazoom', () => {
      const z = chart.getOption().dataZoom[0];
      state.zoom = z.start > 0 || z.end < 100 ? { startValue: z.startValue, endValue: z.endValue } : null;
      state.pixels = null;
      drawReset(state);
    });
    let width = el.clientWidth;
    new ResizeObserver(() => {
      if (el.clientWidth === width) return;
      width = el.clientWidth;
      draw(state);
    }).observe(el);
  }

  // ---- points ----

  // nearest is the index of the point within reach of a place on the canvas, or -1.
  function nearest(state, x, y) {
    if (!state.pixels) {
      state.pixels = state.points.map((p) => {
        const at = state.chart.convertToPixel({ gridIndex: p.panel }, [p.x, p.y]);
        return state.chart.containPixel({ gridIndex: p.panel }, [at[0], at[1]]) || !state.zoom ? at : null;
      });
    }
    let best = -1, least = REACH * REACH;
    state.pixels.forEach((p, i) => {
      if (!p || !state.points[i].tip) return;
      const d = (p[0] - x) ** 2 + (p[1] - y) ** 2;
      const held = best >= 0 && state.focus && state.points[best].group === state.focus;
      if (d < least || (d === least && !held)) [best, least] = [i, d]; // of two in one place the upper one
    });
    return best;
  }

  function show(state, i) {
    if (i === state.current) return;
    const old = state.points[state.current], p = state.points[i];
    if (old) state.chart.dispatchAction({ type: 'downplay', seriesIndex: old.series, dataIndex: old.index });
    state.current = i;
    if (!p) {
      state.chart.dispatchAction({ type: 'hideTip' });
      state.chart.getZr().setCursorStyle('default');
      return;
    }
    state.chart.dispatchAction({ type: 'highlight', seriesIndex: p.series, dataIndex: p.index });
    state.chart.dispatchAction({ type: 'showTip', seriesIndex: p.series, dataIndex: p.index });
    state.chart.getZr().setCursorStyle(p.href ? 'pointer' : 'default');
  }

  function choose(state, i, follow) {
    const p = state.points[i];
    if (!p) return;
    const event = new CustomEvent('chart:select', { bubbles: true, cancelable: true, detail: { key: p.key } });
    if (!state.el.dispatchEvent(event)) return;
    if (/^t=\d+$/.test(p.key)) window.location.hash = p.key;
    else if (follow && isLocal(p.href)) window.location.assign(p.href);
  }

  // isLocal accepts addresses of this server only.
  function isLocal(href) {
    return typeof href === 'string' && /^\/(?![/\\])/.test(href);
  }

  // keydown moves between points with the arrows and zooms with + and -.
  function keydown(state, e) {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const p = state.points[state.current];
    const order = state.points.map((_, i) => i).filter((i) => state.points[i].tip)
      .sort((a, b) => state.points[a].panel - state.points[b].panel || state.points[a].x - state.points[b].x || state.points[a].y - state.points[b].y || b - a)
      .filter((i, at, all) => i === state.current || !same(state.points[i], state.points[all[at - 1]]));
    const mine = p ? order.filter((i) => state.points[i].group === p.group && state.points[i].panel === p.panel) : order;
    const step = (list, by) => {
      const at = list.indexOf(state.current);
      return list[at < 0 ? 0 : Math.max(0, Math.min(list.length - 1, at + by))];
    };
    const moves = { ArrowRight: () => step(mine, 1), ArrowLeft: () => step(mine, -1), ArrowUp: () => step(order, 1), ArrowDown: () => step(order, -1), Escape: () => -1 };
    const zooms = { '+': 0.7, '=': 0.7, '-': 1 / 0.7, '0': Infinity };
    if (moves[e.key] && order.length) {
      show(state, moves[e.key]());
      const now = state.points[state.current];
      state.live.textContent = now ? [now.tip.title, ...now.tip.rows.map((r) => r.join(': '))].join('. ') : '';
    } else if (e.key === 'Enter' && p) {
      choose(state, state.current, true);
    } else if (zooms[e.key] && state.source.dataZoom) {
      const z = state.chart.getOption().dataZoom[0], half = Math.min(50, (z.end - z.start) * zooms[e.key] / 2);
      const mid = Math.max(half, Math.min(100 - half, (z.start + z.end) / 2));
      setZoom(state, mid - half, mid + half);
    } else {
      return;
    }
    e.preventDefault();
  }

  // same reports whether two points lie in one place, as where the best observed
  // curve runs along that of a time limit.
  function same(a, b) {
    return Boolean(a && b) && a.group === b.group && a.panel === b.panel && a.x === b.x && a.y === b.y;
  }

  function setZoom(state, start, end) {
    if (state.source.dataZoom) state.chart.dispatchAction({ type: 'dataZoom', start: start, end: end });
  }

  // ---- key ----

  // drawKey lists the signs; an agent's entry is a button that singles it out.
  function drawKey(state, paint) {
    const held = document.activeElement && state.key.contains(document.activeElement) ? document.activeElement.dataset.group : null;
    state.key.textContent = '';
    for (const k of state.meta.key) {
      const item = element('li', 'chart-key-item');
      let holder = item;
      if (k.group) {
        holder = element('button', 'chart-key-button');
        holder.type = 'button';
        holder.dataset.group = k.group;
        holder.setAttribute('aria-pressed', String(state.focus === k.group));
        holder.addEventListener('click', () => {
          state.focus = state.focus === k.group ? '' : k.group;
          draw(state);
        });
        item.append(holder);
      }
      holder.append(sample(k, paint), element('span', 'chart-key-text', k.text));
      state.key.append(item);
      if (held !== null && held === k.group) holder.focus();
    }
    state.key.hidden = state.meta.key.length === 0 && !state.source.dataZoom;
  }

  // sample draws a sign of the key.
  function sample(k, paint) {
    const ns = 'http://www.w3.org/2000/svg';
    const svg = document.createElementNS(ns, 'svg');
    const add = (name, attributes) => {
      const e = document.createElementNS(ns, name);
      for (const a of Object.keys(attributes)) e.setAttribute(a, attributes[a]);
      svg.append(e);
    };
    for (const [a, v] of [['width', 30], ['height', 14], ['viewBox', '0 0 30 14'], ['aria-hidden', 'true'], ['class', 'chart-key-sample']]) svg.setAttribute(a, v);
    const colour = paint(k.color), opacity = k.faded ? 0.7 : 1;
    if (k.area) {
      for (let i = 0; i < 6; i++) add('rect', { x: 1, y: 10 - i * 2, width: 28, height: 2, fill: colour, 'fill-opacity': 0.5 * (1 - i / 6) ** 2 });
    }
    if (k.line) add('path', { d: 'M1 7H29', fill: 'none', stroke: colour, 'stroke-width': 2, 'stroke-dasharray': (k.dash || []).join(' '), 'stroke-dashoffset': k.dash ? k.dash[0] / 2 : 0, 'stroke-opacity': opacity });
    if (k.marker) {
      const paints = k.hollow ? { fill: paint('--chart-paper'), stroke: colour, 'stroke-width': 4 } : { fill: colour };
      add('path', Object.assign({ d: k.marker, transform: 'translate(15 7) scale(0.45)', opacity: opacity }, paints));
    }
    return svg;
  }

  // drawReset says how to zoom, and offers the way back while the chart is zoomed.
  function drawReset(state) {
    const old = state.key.querySelector('.chart-reset, .chart-hint');
    if (old && state.zoom && old.classList.contains('chart-reset')) return; // may have the focus
    if (old) old.remove();
    if (!state.source.dataZoom) return;
    if (!state.zoom) {
      state.key.append(element('li', 'chart-key-item chart-hint', state.narrow ? 'Pinch to zoom' : 'Zoom with Ctrl and the wheel, or + and −'));
      return;
    }
    const item = element('li', 'chart-key-item chart-reset');
    const button = element('button', 'chart-reset-button', 'Reset zoom');
    button.type = 'button';
    button.addEventListener('click', () => setZoom(state, 0, 100));
    item.append(button);
    state.key.append(item);
  }

  // ---- the page's side ----

  function find(id) {
    return charts.get(id) || charts.get((document.getElementById(id) || { dataset: {} }).dataset.chart);
  }

  function updateChart(id, option) {
    const state = find(id);
    if (!state) return false;
    const key = (state.points[state.current] || {}).key;
    state.source = typeof option === 'string' ? JSON.parse(option) : option;
    state.meta = state.source.rebench;
    if (!state.meta.key.some((k) => k.group === state.focus)) state.focus = '';
    state.current = -1;
    draw(state);
    if (key) selectPoint(id, key);
    return true;
  }

  function selectPoint(id, key) {
    const state = find(id);
    if (!state) return false;
    const i = state.points.findIndex((p) => p.key === key);
    show(state, i);
    return i >= 0;
  }

  function drawAll() {
    for (const state of charts.values()) draw(state);
  }

  function begin() {
    document.querySelectorAll('[data-chart]').forEach(start);
    new MutationObserver(drawAll).observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme', 'class'] });
    window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawAll);
    document.addEventListener('rebench:moment', (e) => {
      for (const [id, state] of charts) if (state.points.some((p) => p.key === 't=' + e.detail)) selectPoint(id, 't=' + e.detail);
    });
    if (document.fonts && document.fonts.ready) document.fonts.ready.then(drawAll);
  }

  window.rebench = Object.assign(window.rebench || {}, { updateChart: updateChart, selectPoint: selectPoint });
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', begin);
  else begin();
})();
