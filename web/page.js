/* SPDX-License-Identifier: MIT */
/*
 * page.js - draws a page of `takt report` from the data in it.
 *
 * Text of others gets into the page as text nodes and attribute values alone,
 * never as markup. Every picture has a table of its numbers behind it.
 */
'use strict';
(() => {
/* Characters that move, hide or reorder others are written as numbers. */
const visible = text => text.replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g,
    c => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
const data = JSON.parse(document.getElementById('data').textContent,
    (_, value) => typeof value === 'string' ? visible(value) : value);
const colours = [0, 1, 2, 3, 4, 5, 6, 7].map(i => `var(--c${i})`);

/* ---- elements ---- */

function fill(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {}))
        if (value !== null && value !== undefined && value !== false)
            node.setAttribute(name, value);
    for (const child of children)
        if (child !== null && child !== undefined)
            node.append(child);
    return node;
}
const el = (tag, attributes, ...children) =>
    fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) =>
    fill(document.createElementNS('http://www.w3.org/2000/svg', tag),
         attributes, children);

/* ---- numbers ---- */

const digits = value => Number(value.toPrecision(3)).toString();
function scaled(value, units) {
    const size = Math.abs(value);
    for (const [factor, unit] of units)
        if (size >= factor)
            return `${digits(value / factor)} ${unit}`;
    const [factor, unit] = units[units.length - 1];
    return `${digits(value / factor)} ${unit}`;
}
const isNumber = value => typeof value === 'number';
const seconds = s => !isNumber(s) ? 'not measured' : s === 0 ? '0 s' :
    scaled(s, [[1, 's'], [1e-3, 'ms'], [1e-6, 'us'], [1e-9, 'ns']]);
const bytes = b => !isNumber(b) || b === 0 ? '-' :
    scaled(b, [[2 ** 40, 'TiB'], [2 ** 30, 'GiB'], [2 ** 20, 'MiB'],
               [2 ** 10, 'KiB'], [1, 'B']]);
const count = n => !isNumber(n) ? '-' : Math.round(n).toLocaleString('en');
function size(n) {
    for (const [factor, unit] of
         [[2 ** 30, 'Gi'], [2 ** 20, 'Mi'], [2 ** 10, 'Ki']])
        if (n >= factor && (n / factor * 2) % 1 === 0)
            return `${n / factor}${unit}`;
    return String(n);
}
const percentOf = share => !isNumber(share) ? '-' : `${digits(100 * share)}%`;
const percent = share => !isNumber(share) ? '-' :
    `${share > 0 ? '+' : ''}${digits(100 * share)}%`;

/* ---- parts of a page ---- */

const sections = document.getElementById('sections');
const more = document.getElementById('more');
const nav = document.getElementById('nav');

function section(parent, id, title, ...children) {
    const node = el('section', {id, 'aria-labelledby': `${id}-title`},
                    el('h2', {id: `${id}-title`}, title), ...children);
    parent.append(node);
    return node;
}

/* Columns: [title, value of a row, is it a number]. On a phone, rows of many
 * columns are shown as lists: the roles keep them rows for screen readers. */
function table(caption, columns, rows) {
    const head = el('tr', {role: 'row'}, ...columns.map(
        ([title, , isRight]) => el('th', {
            scope: 'col', role: 'columnheader', class: isRight ? 'num' : null},
            title)));
    const body = rows.map(row => el('tr', {role: 'row'},
        ...columns.map(([title, value, isRight], i) => {
            const shown = value(row);
            const node = shown instanceof Node ? shown : String(shown ?? '-');
            return el(i === 0 ? 'th' : 'td',
                      {scope: i === 0 ? 'row' : null, 'data-title': title,
                       role: i === 0 ? 'rowheader' : 'cell',
                       class: isRight ? 'num' : null}, node);
        })));
    return el('div', {class: columns.length > 3 ? 'wide rows' : 'wide'},
              el('table', {role: 'table'},
                 el('caption', {class: 'note'}, caption),
                 el('thead', {role: 'rowgroup'}, head),
                 el('tbody', {role: 'rowgroup'}, ...body)));
}
/* Made when it is opened: a page has tables of thousands of rows. */
function behind(make, title) {
    const node = el('details', null,
                    el('summary', null, title || 'The same as a table'));
    node.addEventListener('toggle', () => {
        if (node.children.length === 1)
            node.append(make());
    });
    return node;
}

function terms(pairs) {
    const list = el('dl');
    for (const [name, value] of pairs)
        if (value !== null && value !== undefined && value !== '')
            list.append(el('dt', null, name), el('dd', null, value));
    return list;
}

/* Radio buttons; calls back with the word that was chosen. */
function radios(name, title, words, chosen, onchange) {
    return el('fieldset', null, el('legend', null, title),
        ...words.map(word => {
            const input = el('input', {type: 'radio', name, value: word,
                                       checked: word === chosen ? '' : null});
            input.addEventListener('change', () => onchange(word));
            return el('label', null, input, ' ', word);
        }));
}

const key = (name, colour) =>
    el('li', null, el('i', {style: `background:${colour}`}), name);
const keys = pairs => el('ul', {class: 'keys'},
    ...pairs.map(([name, colour]) => key(name, colour)));

/* The same as check boxes, which hide what has the class "of-I". */
function switchedKeys(names, figure) {
    return el('ul', {class: 'keys'}, ...names.map((name, i) => {
        const input = el('input', {type: 'checkbox', checked: ''});
        input.addEventListener('change', () => {
            for (const mark of figure.querySelectorAll(`.of-${i}`))
                mark.setAttribute('visibility',
                                  input.checked ? 'visible' : 'hidden');
        });
        return el('li', null, el('label', null, input,
            el('i', {style: `background:${colours[i]}`}), name));
    }));
}

/* ---- this machine ---- */

function drawMachine(m) {
    const gpus = (m.gpus || []).map(g =>
        `${g.model || g.name} (${g.state || 'recorded'}` +
        `${g.memory_bytes ? ', ' + bytes(g.memory_bytes) : ''}` +
        `${g.link ? `, PCIe x${g.link.width}, ${g.link.gt_per_s} GT/s` : ''}` +
        `${g.problem ? ': ' + g.problem : ''})`);
    const node = section(sections, 'machine', 'This machine', terms([
        ['processor', `${m.cpu.name} (${m.architecture}` +
                      `${m.cpu.virtual ? ', virtual' : ''})`],
        ['instructions', m.cpu.isas.join(' ') +
                         (m.cpu.avx512_vnni ? ' vnni' : '') +
                         (m.cpu.amx ? ' amx' : '')],
        ['cores', `${m.cores} cores, ${m.logical_cpus} hardware threads, ` +
                  `${m.allowed_cpus} allowed; Takt uses up to ${m.threads}`],
        ['caches', `L1d ${bytes(m.l1d_bytes)}, L2 ${bytes(m.l2_bytes)}, ` +
                   `L3 ${bytes(m.l3_bytes)}`],
        ['memory', `${bytes(m.memory_bytes)}, ${m.numa_nodes} NUMA ` +
                   `node${m.numa_nodes === 1 ? '' : 's'}`],
        ['GPUs', gpus.join('; ') || 'none found'],
        ['experts', m.experts.join(', ')],
        ['libraries', m.libraries.join(', ')],
        ['fingerprint', m.hw_fingerprint.slice(0, 16)]]));
    if ((data.limits || []).length > 0)
        node.append(el('h3', null, 'Limits'), drawLimits(data.limits));
}

const limitNames = {
    arithmetic: l => `arithmetic, ${l.dtype}`,
    cache: () => 'operands in a core\u2019s cache',
    large: l => l.on === 'gpu' ? 'operands in its memory'
                               : 'operands of 32 MiB and more'};

function drawLimits(limits) {
    const rate = l => l.what === 'arithmetic'
        ? scaled(l.per_s, [[1e12, 'TFLOP/s'], [1e9, 'GFLOP/s']])
        : scaled(l.per_s, [[1e12, 'TB/s'], [1e9, 'GB/s']]);
    return table('The most that was measured here; a tenth more or less is ' +
                 'noise',
        [['what', l => `${l.on === 'gpu' ? 'GPU' : 'CPU'}, ` +
                       limitNames[l.what](l)],
         ['rate', rate, true], ['by', l => `${l.op} ${l.dtype}`],
         ['of', l => bytes(l.bytes), true], ['expert', l => l.expert]],
        limits);
}

/* ---- maps ---- */

function drawMapSwitches() {
    const views = [...document.querySelectorAll('.map-view')];
    const box = document.getElementById('map-switches');
    if (views.length === 0) {
        document.getElementById('maps').remove();
        return;
    }
    const state = {dtype: 'f32', situation: 'fresh', resident: 'host'};
    function show() {
        for (const view of views)
            view.hidden = view.dataset.dtype !== state.dtype ||
                view.dataset.resident !== state.resident ||
                (state.resident === 'host' &&
                 view.dataset.situation !== state.situation);
    }
    const words = key => [...new Set(views.map(v => v.dataset[key]))];
    for (const [key, title] of [['dtype', 'type'],
                                ['situation', 'before the call'],
                                ['resident', 'operands on']])
        if (words(key).length > 1)
            box.append(radios(`map-${key}`, title, words(key), state[key],
                              word => { state[key] = word; show(); }));
}

/* ---- crossovers ---- */

/* As wide as the page is, so that letters keep their size. */
const chart = {
    width: Math.max(320, Math.min(960, more.clientWidth)), height: 420,
    left: 64, right: 12, top: 22, bottom: 40};

function scaleOf(low, high, from, to) {
    const a = Math.log(low), b = Math.log(high) - a || 1;
    return value => from + (Math.log(value) - a) / b * (to - from);
}

function powers(low, high, base) {
    const out = [];
    for (let p = Math.ceil(Math.log(low) / Math.log(base) - 1e-9);
         base ** p <= high * (1 + 1e-9); p++)
        out.push(base ** p);
    return out;
}

const path = points => points.map(([x, y], i) =>
    `${i === 0 ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`).join('');

function winnersOf(curve) {
    return curve.n.map((_, at) => {
        let best = -1;
        curve.experts.forEach((e, i) => {
            if (e.us[at] !== null &&
                (best < 0 || e.us[at] < curve.experts[best].us[at]))
                best = i;
        });
        return best;
    });
}

/* Times, or how many times that of the fastest expert at each size. */
function relative(curve) {
    const best = curve.n.map((_, k) => Math.min(
        ...curve.experts.map(e => e.us[k]).filter(us => us !== null)));
    const over = values => values.map((us, k) =>
        us === null ? null : us / best[k]);
    return {...curve, experts: curve.experts.map(e =>
        ({...e, us: over(e.us), low_us: over(e.low_us),
          high_us: over(e.high_us)}))};
}

/* Round numbers between two limits: powers of ten, or 1, 2, 5, ... */
function ticks(low, high) {
    const tens = powers(low, high, 10);
    return tens.length >= 3 ? tens : [1, 2, 3, 5, 7].flatMap(m =>
        powers(low / m, high / m, 10).map(p => p * m));
}

function drawAxes(picture, curve, x, y, least, most, name, title) {
    for (const n of powers(curve.n[0], curve.n[curve.n.length - 1],
                           chart.width < 500 ? 16 : 4))
        picture.append(
            svg('line', {class: 'grid', x1: x(n), x2: x(n), y1: chart.top,
                         y2: chart.height - chart.bottom}),
            svg('text', {class: 'faint', x: x(n), 'text-anchor': 'middle',
                         y: chart.height - chart.bottom + 18}, size(n)));
    for (const us of ticks(least, most))
        picture.append(
            svg('line', {class: 'grid', x1: chart.left,
                         x2: chart.width - chart.right, y1: y(us), y2: y(us)}),
            svg('text', {class: 'faint', x: chart.left - 6, y: y(us) + 4,
                         'text-anchor': 'end'}, name(us)));
    picture.append(svg('text', {class: 'faint', x: chart.width - chart.right,
                                y: chart.height - 4, 'text-anchor': 'end'},
                       `n (shape ${curve.shape})`),
                   svg('text', {class: 'faint', x: 4, y: 12}, title));
}

/* Bands around ratios of two predictions would say nothing. */
function drawCurve(picture, curve, expert, i, x, y, hasBand) {
    const at = curve.n.map((n, k) => k).filter(k => expert.us[k] !== null);
    const upper = at.map(k => [x(curve.n[k]), y(expert.high_us[k])]);
    const lower = at.map(k => [x(curve.n[k]), y(expert.low_us[k])]).reverse();
    if (hasBand)
        picture.append(svg('path', {class: `band of-${i}`, fill: colours[i],
                                    d: `${path(upper.concat(lower))}Z`}));
    picture.append(svg('path', {
        class: `line of-${i}`, stroke: colours[i],
        d: path(at.map(k => [x(curve.n[k]), y(expert.us[k])]))}));
    for (const k of at) {
        if (expert.samples[k] > 0)
            picture.append(svg('circle', {
                class: `dot of-${i}`, cx: x(curve.n[k]), r: 3,
                cy: y(expert.us[k]), fill: colours[i]}));
        if (curve.moe[k] === expert.name)
            picture.append(svg('rect', {
                class: `moe of-${i}`, x: x(curve.n[k]) - 5, y: y(expert.us[k]) - 5,
                width: 10, height: 10, fill: 'none', stroke: colours[i]}));
    }
}

/* A dashed line and a list of numbers at the size that is pointed at. */
function addCursor(figure, picture, curve, x) {
    const line = svg('line', {class: 'cursor', y1: chart.top,
                              y2: chart.height - chart.bottom,
                              visibility: 'hidden'});
    const tip = el('div', {class: 'tip', role: 'status', hidden: ''});
    function show(k) {
        const rows = curve.experts.filter(e => e.us[k] !== null)
            .sort((a, b) => a.us[k] - b.us[k]);
        line.setAttribute('x1', x(curve.n[k]));
        line.setAttribute('x2', x(curve.n[k]));
        line.setAttribute('visibility', 'visible');
        tip.hidden = false;
        tip.style.left = k < curve.n.length / 2 ? 'auto' : '5rem';
        tip.style.right = k < curve.n.length / 2 ? '1rem' : 'auto';
        tip.replaceChildren(el('strong', null, `n = ${size(curve.n[k])}`),
            el('table', null, ...rows.map(e => el('tr', null,
                el('td', null, e.name),
                el('td', {class: 'num'}, seconds(e.us[k] * 1e-6)),
                el('td', {class: 'num'},
                   e.samples[k] > 0 ? `${count(e.samples[k])} samples`
                                    : 'expected')))));
    }
    picture.append(line);
    figure.append(tip);
    picture.addEventListener('pointermove', event => {
        const box = picture.getBoundingClientRect();
        const at = (event.clientX - box.left) / box.width * chart.width;
        let nearest = 0;
        curve.n.forEach((n, k) => {
            if (Math.abs(x(n) - at) < Math.abs(x(curve.n[nearest]) - at))
                nearest = k;
        });
        show(nearest);
    });
    picture.addEventListener('pointerleave', () => {
        line.setAttribute('visibility', 'hidden');
        tip.hidden = true;
    });
}

function drawCrossover(given, isRelative) {
    const curve = isRelative ? relative(given) : given;
    const all = curve.experts.flatMap(e => e.us).filter(us => us > 0);
    const least = isRelative ? 0.95 : Math.min(...all) * 0.8;
    const most = isRelative ? Math.min(Math.max(...all) * 1.1, 8)
                            : Math.max(...all) * 1.25;
    const x = scaleOf(curve.n[0], curve.n[curve.n.length - 1], chart.left,
                      chart.width - chart.right);
    const y = us => Math.min(Math.max(
        scaleOf(least, most, chart.height - chart.bottom, chart.top)(us),
        chart.top), chart.height - chart.bottom);
    const picture = svg('svg', {
        class: 'chart', viewBox: `0 0 ${chart.width} ${chart.height}`,
        role: 'img', 'aria-label':
            `Time of ${curve.op} ${curve.dtype} by size, for ` +
            `${curve.experts.length} experts; the table below has the numbers`});
    const figure = el('figure', null, picture);
    const winners = winnersOf(curve);
    drawAxes(picture, curve, x, y, least, most, isRelative
        ? times => `${digits(times)}×` : us => seconds(us * 1e-6),
             isRelative ? 'times the fastest' : 'time of a call');
    winners.forEach((i, k) => {
        const from = k === 0 ? x(curve.n[0])
                             : (x(curve.n[k - 1]) + x(curve.n[k])) / 2;
        const to = k + 1 === winners.length ? x(curve.n[k])
                             : (x(curve.n[k]) + x(curve.n[k + 1])) / 2;
        picture.append(svg('rect', {
            class: 'win', x: from, y: chart.top, width: Math.max(to - from, 0),
            height: chart.height - chart.top - chart.bottom,
            fill: colours[i]}));
    });
    curve.experts.forEach((e, i) => drawCurve(picture, curve, e, i, x, y,
                                                !isRelative));
    addCursor(figure, picture, given, x);
    return [switchedKeys(curve.experts.map(e => e.name), figure), figure,
        behind(() => table(`${curve.op} ${curve.dtype}: time by size and expert`,
            [['n', row => size(row.n), true],
             ...given.experts.map(e => [e.name, row =>
                 e.us[row.k] === null ? '-' : seconds(e.us[row.k] * 1e-6),
                 true]),
             ['moe', row => curve.moe[row.k]]],
            curve.n.map((n, k) => ({n, k}))))];
}

function drawCrossovers(curves) {
    const box = el('div', {id: 'crossover'});
    const ops = [...new Set(curves.map(c => c.op))];
    const state = {op: ops.includes('matmul') ? 'matmul' : ops[0],
                   dtype: 'f32', resident: 'host', shown: 'time'};
    const choice = el('select', {id: 'crossover-op'}, ...ops.map(op =>
        el('option', {value: op, selected: op === state.op ? '' : null}, op)));
    function show() {
        const curve = curves.find(c => c.op === state.op &&
            c.dtype === state.dtype && c.resident === state.resident);
        box.replaceChildren(...(curve !== undefined ? drawCrossover(
            curve, state.shown !== 'time')
            : [el('p', {class: 'note'},
                  `${state.op} has no ${state.dtype} there.`)]));
    }
    choice.addEventListener('change', () => {
        state.op = choice.value;
        show();
    });
    const switches = el('div', {class: 'switches'},
        el('label', null, 'op ', choice),
        radios('curve-dtype', 'type', ['f32', 'f64'], state.dtype,
               word => { state.dtype = word; show(); }),
        radios('curve-shown', 'shown', ['time', 'times the fastest'],
               state.shown, word => { state.shown = word; show(); }));
    if (curves.some(c => c.resident === 'gpu'))
        switches.append(radios('curve-resident', 'operands on',
            ['host', 'gpu'], state.resident,
            word => { state.resident = word; show(); }));
    section(more, 'crossovers', 'Crossovers',
        el('p', null, 'What each expert takes, by size; both axes are ' +
           'logarithmic. Dots were measured, bands are where 95% of calls ' +
           'are expected, the background has the colour of the fastest, and ' +
           'squares mark what the static rule (moe) would run.'),
        switches, box);
    show();
}

/* ---- learning ---- */

/* Bars of numbers, with names before them; rows are [name, value, text]. */
function drawBars(label, rows) {
    const height = 18, left = 110, most = Math.max(...rows.map(r => r[1]));
    const room = chart.width - left - 100;
    const picture = svg('svg', {
        class: 'chart', role: 'img', 'aria-label': label,
        viewBox: `0 0 ${chart.width} ${rows.length * height + 4}`});
    rows.forEach(([name, value, text], i) => {
        const width = Math.max(1, room * value / most);
        picture.append(
            svg('text', {x: left - 6, y: i * height + 13,
                         'text-anchor': 'end'}, name),
            svg('rect', {class: 'bar', x: left, y: i * height + 2, width,
                         height: height - 4, fill: colours[0]}),
            svg('text', {class: 'faint', x: left + width + 6,
                         y: i * height + 13}, text));
    });
    return el('figure', null, picture);
}

/* Values with intervals around a line at 0; rows are [name, low, at, high]. */
function drawIntervals(label, rows) {
    const height = 22, left = 150;
    const all = rows.flatMap(r => [r[1], r[2], r[3]]).concat(0);
    const low = Math.min(...all), high = Math.max(...all);
    const x = v => left + (v - low) / (high - low || 1) *
        (chart.width - left - 60);
    const bottom = rows.length * height + 6;
    const picture = svg('svg', {class: 'chart', role: 'img',
        'aria-label': label, viewBox: `0 0 ${chart.width} ${bottom + 18}`});
    for (const v of new Set([low, 0, high]))
        picture.append(
            svg('line', {class: 'grid', x1: x(v), x2: x(v), y1: 0,
                         y2: bottom}),
            svg('text', {class: 'faint', x: x(v), y: bottom + 14,
                         'text-anchor': 'middle'}, percent(v)));
    rows.forEach(([name, from, at, to], i) => {
        const y = i * height + 13;
        picture.append(
            svg('text', {x: left - 8, y: y + 4, 'text-anchor': 'end'},
                name.length > 22 ? `${name.slice(0, 21)}\u2026` : name),
            svg('line', {class: 'interval', x1: x(from), x2: x(to), y1: y,
                         y2: y, stroke: colours[at >= 0 ? 2 : 1]}),
            svg('circle', {class: 'dot', cx: x(at), cy: y, r: 4,
                           fill: colours[at >= 0 ? 2 : 1]},
                svg('title', null, `${name}: ${percent(at)}`)));
    });
    return el('figure', null, picture);
}

const interval = (low, high) => isNumber(low) && isNumber(high)
    ? `${percent(low)} to ${percent(high)}` : '-';

function drawPrograms(programs) {
    const known = programs.filter(p => isNumber(p.gain_share));
    const parts = [el('h3', null, 'Programs under takt run')];
    if (known.length > 0)
        parts.push(drawIntervals('What routing gained in each program, of ' +
            'the time of its calls; the table below has the numbers',
            known.map(p => [p.program, p.gain_low_share ?? p.gain_share,
                p.gain_share, p.gain_high_share ?? p.gain_share])));
    parts.push(table('What routing gained, measured in slices of the same runs',
        [['program', p => p.program], ['side', p => p.side],
         ['slices', p => count(p.comparisons), true],
         ['gain', p => percent(p.gain_share), true],
         ['95% interval',
          p => interval(p.gain_low_share, p.gain_high_share), true]],
        programs));
    return parts;
}

/* What all routed calls gained against using one expert always. */
function drawAgainst(total) {
    return [el('h3', null, 'Against one expert, always'),
        table(`${count(total.calls)} routed calls, which took ` +
              `${seconds(total.spent_s)}; a gain is by the means that were ` +
              'measured of both',
            [['instead of routing', a => a.baseline],
             ['calls compared', a => count(a.compared), true],
             ['gain', a => gainText(a.gain_s), true],
             ['95% interval', a => isNumber(a.gain_s)
                 ? `${signed(a.gain_low_s)} to ${signed(a.gain_high_s)}` : '-',
              true]], total.against)];
}

function drawSamples(history) {
    const most = [...history].sort((a, b) => b.samples - a.samples);
    return [el('h3', null, 'What was measured'),
        drawBars('Samples by op; the table below has all numbers',
            most.slice(0, 20).map(r =>
                [r.op, r.samples, `${count(r.samples)} samples`])),
        behind(() => table('Statistics, samples and calls by op',
            [['op', r => r.op], ['rows', r => count(r.rows), true],
             ['samples', r => count(r.samples), true],
             ['calls of programs', r => count(r.calls), true],
             ['their time', r => seconds(r.seconds), true]], most),
            `All ${history.length} ops as a table`)];
}

function drawLearning() {
    const programs = data.gain?.programs || [];
    const history = (data.history || []).filter(r => r.samples > 0);
    const node = section(more, 'learning', 'Learning', terms([
        ['store', data.learning.store || 'not told'],
        ['records of this machine', count(data.learning.own_records)],
        ['records of others (hints)', count(data.learning.other_records)]]));
    if (programs.length > 0)
        node.append(...drawPrograms(programs));
    if (data.gain?.total?.calls > 0)
        node.append(...drawAgainst(data.gain.total));
    if (history.length > 0)
        node.append(...drawSamples(history));
    else
        node.append(el('p', {class: 'note'}, 'Nothing was measured here yet: ' +
            'takt tune does that, and every program that uses Takt.'));
    node.append(el('p', {class: 'note'}, 'What trials took against their ' +
        'budget, and when experts changed their speed, is in traces: ' +
        'takt run --trace FILE, then takt report FILE.'));
}

/* ---- a run ---- */

/* A script after -c may have thousands of characters. */
function commandText(run) {
    const words = (run.command || []).join(' ');
    if (words.length <= 300)
        return words;
    return el('span', null, `${words.slice(0, 200)}\u2026`,
              behind(() => el('pre', null, words), 'All of it'));
}

const partNames = {
    baseline_s: 'BLAS, baseline library', routed_cpu_s: 'BLAS, routed to CPU',
    routed_gpu_s: 'BLAS, routed to GPU', numpy_loops_s: 'NumPy loops',
    transfers_s: 'transfers', waiting_s: 'waiting', opening_s: 'opening Takt',
    other_s: 'everything else'};

const signed = s => !isNumber(s) ? '-'
    : `${s >= 0 ? '+' : '-'}${seconds(Math.abs(s))}`;

function gainText(gain, error) {
    if (!isNumber(gain))
        return 'not measured';
    const node = el('span', {class: gain >= 0 ? 'gain' : 'loss'},
                    signed(gain));
    if (isNumber(error))
        node.append(` \u00b1 ${seconds(2 * error)}`);
    return node;
}

const sizes = row => row.most === null ? `from ${size(row.least)}`
    : `${size(row.least)} to below ${size(row.most + 1)}`;

const placeNames = {
    pass_through: 'baseline', baseline: 'baseline, decided',
    scalar: 'scalar code', simd: 'Takt on the CPU', gpu: 'GPU'};
const whyNames = {
    small: 'too small for it to matter',
    settled: 'routing was not shown to be faster, or it was a control call',
    starting: 'Takt was not open yet: calls had taken too little time',
    form: 'strides, overlaps or a stack that only the baseline library takes',
    routine: 'a routine or type that Takt does not route',
    nested: 'called by the baseline library itself',
    empty: 'nothing to multiply: a size or a factor is 0',
    wrong: 'wrong arguments: the baseline library complains about those',
    no_router: 'libtakt could not be opened',
    no_gpu: 'the process had no GPU',
    asleep: 'the GPU was not open (yet)',
    slower: 'the GPU would have taken longer, moving the operands included',
    lost: 'the GPU failed or refused, and was left alone for a while',
    policy: 'a rule or a pin file decided',
    tried: 'another way was tried, to learn'};
/* Those of calls that were passed through; the others are about GPUs. */
const passReasons = ['small', 'settled', 'starting', 'form', 'routine',
                     'nested', 'empty', 'wrong', 'no_router'];

const nonzero = (counts, names) => Object.entries(counts || {})
    .filter(([, n]) => n > 0)
    .map(([name, n]) => `${names[name] || name} ${count(n)}`).join(', ');
const shortReasons = row => Object.entries(row.why || {})
    .filter(([name, n]) => n > 0 && passReasons.includes(name))
    .sort((a, b) => b[1] - a[1]).map(([name]) => name).join(', ');

const partColour = name =>
    colours[Object.keys(partNames).indexOf(name) % colours.length];
const swatch = colour => el('i', {class: 'swatch',
                                  style: `background:${colour}`});

function drawParts(run) {
    const parts = Object.entries(run.parts).filter(([, s]) => s > 0);
    const bar = el('div', {class: 'parts', role: 'img', 'aria-label':
        'Where the wall time went; the table below has the numbers'},
        ...parts.map(([name, s]) => el('i', {
            style: `width:${(100 * s / run.wall_s).toFixed(2)}%;` +
                   `background:${partColour(name)}`,
            title: `${partNames[name] || name}: ${seconds(s)}`})));
    return [bar, table('Where the wall time went',
        [['part', ([name]) => el('span', null, swatch(partColour(name)),
                                 partNames[name] || name)],
         ['time', ([, s]) => seconds(s), true],
         ['share', ([, s]) => `${digits(100 * s / run.wall_s)}%`, true]],
        parts)];
}

/* Stacked columns: of each slot, the time that calls took in it. */
function drawTimeline(run) {
    const line = run.timeline;
    const tracks = ['baseline_s', 'routed_cpu_s', 'routed_gpu_s',
                    'numpy_loops_s'].filter(t => line[t]?.some(s => s > 0));
    if (tracks.length === 0)
        return [];
    const slots = line[tracks[0]].length, left = 44, bottom = 160, top = 20;
    const sums = line[tracks[0]].map((_, i) =>
        tracks.reduce((sum, t) => sum + line[t][i], 0) / line.slot_s);
    const most = Math.max(1, ...sums);
    const x = i => left + i / slots * (chart.width - left - 16);
    const y = v => bottom - v / most * (bottom - top);
    const picture = svg('svg', {
        class: 'chart', role: 'img',
        viewBox: `0 0 ${chart.width} ${bottom + 36}`, 'aria-label':
        `The first ${digits(slots * line.slot_s)} seconds: threads in calls ` +
        'by time; the table below has the numbers'});
    for (const v of most > 2 ? [0, most / 2, most] : [0, 1])
        picture.append(
            svg('line', {class: 'grid', x1: left, x2: x(slots), y1: y(v),
                         y2: y(v)}),
            svg('text', {class: 'faint', x: left - 6, y: y(v) + 4,
                         'text-anchor': 'end'}, digits(v)));
    const every = [1, 2, 5, 10, 20, 50].find(n => slots / n <= 10) || 100;
    for (let i = 0; i <= slots; i += every)
        picture.append(svg('text', {class: 'faint', x: x(i), y: bottom + 16,
            'text-anchor': 'middle'}, `${digits(i * line.slot_s)} s`));
    picture.append(svg('text', {class: 'faint', x: 4, y: 12},
                       'threads in calls'));
    for (let i = 0; i < slots; i++) {
        let sum = 0;
        for (const t of tracks) {
            const v = line[t][i] / line.slot_s;
            if (v > 0)
                picture.append(svg('rect', {
                    class: 'slot', x: x(i) + .5, y: y(sum + v),
                    width: Math.max(x(1) - x(0) - 1, .5),
                    height: Math.max(y(sum) - y(sum + v), .1),
                    fill: partColour(t)},
                    svg('title', null, `${digits(i * line.slot_s)} s: ` +
                        `${partNames[t]}, ${seconds(line[t][i])} of ` +
                        seconds(line.slot_s))));
            sum += v;
        }
    }
    return [el('h3', null, 'The first seconds'),
        el('p', {class: 'note'}, 'Blank is everything else that the program ' +
           'does. Short calls are sampled; loops that were not timed are ' +
           'missing.'),
        keys(tracks.map(t => [partNames[t], partColour(t)])),
        el('figure', null, picture),
        behind(() => table('Seconds in calls, by time since the start',
            [['from', i => `${digits(i * line.slot_s)} s`, true],
             ...tracks.map(t => [partNames[t], i => seconds(line[t][i]),
                                 true])], line[tracks[0]].map((_, i) => i)))];
}

/* Rows that took next to no time and were not routed are folded away. */
function folded(rows, share, draw) {
    const all = rows.reduce((sum, r) => sum + share(r), 0);
    const isMinor = r => share(r) < 0.001 * all && !isNumber(r.gain_s);
    const major = rows.filter(r => !isMinor(r)), minor = rows.filter(isMinor);
    return [major.length > 0 ? draw(major) : null,
        minor.length > 0 ? behind(() => draw(minor),
            `${count(minor.length)} more, each below 0.1% of the time`)
                         : null];
}

const routineTable = rows => table('By routine and size; a gain is measured ' +
    'against calls of the same kind in the baseline library, in the same run',
    [['routine', r => r.routine], ['size', sizes, true],
     ['ran in, calls', r => nonzero(r.calls, placeNames)],
     ['took', r => `${r.is_estimate ? '~' : ''}${seconds(r.took_s)}`, true],
     ['gain', r => gainText(r.gain_s, r.error_s), true],
     ['why some stayed', shortReasons]], rows);

const loopTable = rows => table('By ufunc and number of elements; split: over ' +
    'several threads',
    [['loop', r => r.loop], ['elements', sizes, true],
     ['whole', r => count(r.whole), true],
     ['split', r => count(r.split), true],
     ['took', r => seconds(r.whole_s + r.split_s), true],
     ['gain', r => gainText(r.gain_s, r.error_s), true]], rows);

function drawWhys(run) {
    const why = run.total?.why || {};
    const list = (names, title) => {
        const rows = Object.entries(why).filter(([name, n]) => n > 0 &&
            names(name)).sort((a, b) => b[1] - a[1]);
        return rows.length === 0 ? [] : [el('h3', null, title),
            table('Calls by reason',
                [['word', ([name]) => name],
                 ['why', ([name]) => whyNames[name] || name],
                 ['calls', ([, n]) => count(n), true]], rows)];
    };
    return [...list(name => passReasons.includes(name),
                    'Why calls stayed in the baseline library'),
            ...(run.gpu ? list(name => !passReasons.includes(name),
                               'Why calls did not run on the GPU') : [])];
}

function drawRun(input, index) {
    const run = input.data;
    const node = section(more, `run-${index}`,
        `A run${input.name ? `: ${input.name}` : ''}`,
        terms([['command', commandText(run)],
               ['wall time', seconds(run.wall_s)],
               ['ended with', run.signal !== null ? `signal ${run.signal}`
                                                 : `status ${run.exit_status}`],
               ['GPU', run.gpu], ['trouble', run.trouble],
               ['left alone', run.left_alone],
               ['gain of the run', isNumber(run.gain_s) ? el('span', null,
                   gainText(run.gain_s), ` (95%: ${signed(run.gain_low_s)} ` +
                   `to ${signed(run.gain_high_s)})`) : 'not measured']]));
    if (run.parts)
        node.append(...drawParts(run));
    if (run.timeline)
        node.append(...drawTimeline(run));
    if ((run.rows || []).length > 0)
        node.append(el('h3', null, 'BLAS routines'), ...folded(
            [...run.rows].sort((a, b) => b.took_s - a.took_s),
            r => r.took_s, routineTable).filter(Boolean));
    else if (run.parts)
        node.append(el('p', {class: 'note'}, 'No call of BLAS was seen.'));
    if ((run.loops || []).length > 0)
        node.append(el('h3', null, 'NumPy loops'), ...folded(
            [...run.loops].sort((a, b) => b.whole_s + b.split_s -
                                          a.whole_s - a.split_s),
            r => r.whole_s + r.split_s, loopTable).filter(Boolean));
    node.append(...drawWhys(run));
}

/* Several runs: what each gained, in the order of time. */
function drawRuns(inputs) {
    const runs = inputs.filter(i => i.kind === 'run' &&
                               isNumber(i.data.gain_s))
        .map((i, k) => ({...i.data, name: i.name || `run ${k + 1}`}))
        .sort((a, b) => (a.ended_unix_s || 0) - (b.ended_unix_s || 0));
    if (runs.length < 2)
        return;
    const when = r => isNumber(r.ended_unix_s) ? new Date(1000 *
        r.ended_unix_s).toISOString().slice(0, 16).replace('T', ' ') : '-';
    const share = (r, s) => s / (r.wall_s + r.gain_s);
    section(more, 'runs', 'Gain over time',
        el('p', null, 'What each run gained, of what it would have taken, in ' +
           'the order of time; measured, with 95% intervals.'),
        drawIntervals('What each run gained; the table has the numbers',
            runs.map(r => [when(r) === '-' ? r.name : when(r),
                           share(r, r.gain_low_s), share(r, r.gain_s),
                           share(r, r.gain_high_s)])),
        behind(() => table('Gains of runs',
            [['ended (UTC)', when], ['run', r => r.name],
             ['wall time', r => seconds(r.wall_s), true],
             ['gain', r => gainText(r.gain_s), true],
             ['95% interval', r => `${signed(r.gain_low_s)} to ` +
                                   signed(r.gain_high_s), true]], runs)));
}

/* ---- a comparison ---- */

const median = values => {
    const sorted = [...values].sort((a, b) => a - b);
    const half = sorted.length >> 1;
    return sorted.length % 2 ? sorted[half]
                             : (sorted[half - 1] + sorted[half]) / 2;
};

/* About five round numbers between two. */
function roundTicks(low, high) {
    const wide = (high - low) / (chart.width < 500 ? 3 : 5) || 1;
    const ten = 10 ** Math.floor(Math.log10(wide));
    const step = [1, 2, 5, 10].map(m => m * ten).find(v => v >= wide);
    const out = [];
    for (let v = Math.ceil(low / step) * step; v <= high; v += step)
        out.push(v);
    return out;
}

/* A dot for each run, and a line at the median. */
function drawDistributions(runs) {
    const all = runs.flatMap(r => [r.plain.wall_s, r.takt.wall_s]);
    const low = Math.min(...all) * 0.97, high = Math.max(...all) * 1.03;
    const x = s => 90 + (s - low) / (high - low || 1) * (chart.width - 130);
    const picture = svg('svg', {
        class: 'chart', viewBox: `0 0 ${chart.width} 148`,
        role: 'img', 'aria-label':
            'Wall times with and without Takt; the table has the numbers'});
    for (const s of roundTicks(low, high))
        picture.append(svg('line', {class: 'grid', x1: x(s), x2: x(s), y1: 8,
                                    y2: 108}),
            svg('text', {class: 'faint', x: x(s), y: 124,
                         'text-anchor': 'middle'}, seconds(s)));
    picture.append(svg('text', {class: 'faint', x: chart.width - 8, y: 142,
        'text-anchor': 'end'}, 'wall time of a run; lines: medians'));
    [['plain', 'without', 32, 7], ['takt', 'with Takt', 82, 0]]
        .forEach(([side, title, y, colour]) => {
        const middle = x(median(runs.map(r => r[side].wall_s)));
        picture.append(svg('text', {x: 4, y: y + 4}, title),
            svg('line', {class: 'median', x1: middle, x2: middle, y1: y - 20,
                         y2: y + 20, stroke: colours[colour]}));
        runs.forEach((r, i) => picture.append(svg('circle', {
            class: 'dot', cx: x(r[side].wall_s), cy: y + (i % 5 - 2) * 6, r: 4,
            fill: colours[colour], 'fill-opacity': .7},
            svg('title', null, `${title}: ${seconds(r[side].wall_s)}`))));
    });
    return el('figure', null, picture);
}

function drawCompare(input, index) {
    const c = input.data;
    const node = section(more, `compare-${index}`,
        `With and without Takt${input.name ? `: ${input.name}` : ''}`,
        el('p', null, el('strong', null, c.text || c.verdict)),
        terms([['command', commandText(c)],
               ['pairs', count(c.pairs)],
               ['wall time, ratio', isNumber(c.wall?.ratio) ?
                   `${digits(c.wall.ratio)}` + (isNumber(c.wall.low) ?
                   ` (95%: ${digits(c.wall.low)} to ${digits(c.wall.high)})`
                   : '') : '-'],
               ['CPU time, ratio', isNumber(c.cpu?.ratio) ?
                   digits(c.cpu.ratio) : '-'],
               ['output', c.output?.runs],
               ['claimed by the reports', c.claimed ?
                   percent(c.claimed.share) : null]]));
    if ((c.runs || []).length > 0)
        node.append(drawDistributions(c.runs), behind(() => table('Pairs, in order',
            [['pair', r => c.runs.indexOf(r) + 1],
             ['without', r => seconds(r.plain.wall_s), true],
             ['with Takt', r => seconds(r.takt.wall_s), true],
             ['ratio', r => digits(r.takt.wall_s / r.plain.wall_s), true]],
            c.runs)));
}

/* ---- a code base ---- */

const standingNames = {
    library: 'run by a library already', vectorised: 'vectorised by compilers',
    small: 'too small', remainder: 'remainders of unrolled loops',
    device: 'code of a GPU', call: 'calls of other findings',
    ignored: 'ignored by a comment', known: 'known to the baseline'};

function evidenceText(f) {
    if (!f.evidence)
        return 'not in a profile';
    return `${digits(100 * f.evidence.share)}% of the time, by ` +
        `${f.evidence.by}` + (f.evidence.shared_by > 1
            ? `, shared by ${f.evidence.shared_by}` : '');
}

/* What is there, and what would be put before it. */
function patchOf(f) {
    const lines = [];
    if (f.rewrite)
        lines.push(...f.rewrite.split('\n').map(line =>
            el('ins', null, `+ ${line}\n`)));
    if (f.snippet)
        lines.push(...f.snippet.split('\n').map(line => `  ${line}\n`));
    return lines.length === 0 ? '-' : behind(() => el('pre', {class: 'patch'},
        ...lines), f.rewrite ? 'code and patch' : 'code');
}

const findingTable = (caption, findings) => table(caption,
    [['line', f => f.line, true], ['op', f => f.op ?? f.name],
     ['certainty', f => f.certainty],
     ['where it should run', f => f.recommendation?.text ??
         f.recommendation?.expert ?? f.recommendation?.backend],
     ['predicted', f => isNumber(f.recommendation?.predicted_speedup)
         ? `${digits(f.recommendation.predicted_speedup)} times as fast`
         : '-', true],
     ...(findings.some(f => f.evidence) ? [['evidence', evidenceText]] : []),
     ['code', patchOf]], findings);

function byFile(findings) {
    const files = new Map();
    for (const f of findings) {
        const name = f.file ?? f.path ?? 'a file';
        files.set(name, [...(files.get(name) || []), f]);
    }
    return [...files];
}

const plural = (n, word) => `${count(n)} ${word}${n === 1 ? '' : 's'}`;

function drawFindings(input, index) {
    const o = input.data;
    const isOpen = f => (f.standing ?? 'open') === 'open' && !f.test;
    const open = byFile(o.findings.filter(isOpen));
    const rest = o.findings.filter(f => !isOpen(f));
    const counts = {};
    for (const f of rest)
        if (!f.test)
            counts[f.standing] = (counts[f.standing] || 0) + 1;
    const tests = rest.filter(f => f.test).length;
    const languages = Object.entries(o.summary.languages || {}).map(
        ([name, l]) => `${name} ${plural(l.files, 'file')}, ` +
                       plural(l.lines, 'line')).join('; ');
    const node = section(more, `code-${index}`,
        `A code base${input.name ? `: ${input.name}` : ''}`,
        terms([['searched', languages],
               ['to look at', plural(o.findings.length - rest.length,
                                     'finding')],
               ['left alone', [nonzero(counts, standingNames),
                    tests > 0 ? `in tests ${count(tests)}` : '']
                    .filter(Boolean).join(', ')],
               ['profiles', o.summary.profiles?.files > 0
                   ? o.summary.profiles.formats
                   : 'none were given: what takes time is not known'],
               ['error', o.error]]));
    for (const [file, findings] of open)
        node.append(el('h3', null, file),
            findingTable(plural(findings.length, 'finding'), findings));
    if (open.length === 0)
        node.append(el('p', null, 'There is nothing to be done.'));
    if (rest.length > 0)
        node.append(restOf(rest));
}

const restOf = rest => behind(() => table(
    'Findings, in the order of the report',
    [['place', f => `${f.file ?? f.path ?? ''}:${f.line ?? ''}`],
     ['op', f => f.op ?? f.name], ['certainty', f => f.certainty],
     ['why', f => f.test ? 'in a test'
         : standingNames[f.standing] || f.standing]], rest),
    `${plural(rest.length, 'finding')} that nothing is to be done about`);

/* ---- a trace ---- */

const backendColour = {scalar: 7, simd: 0, gpu: 2};

/* A row for each thread, a bar for each call. */
function drawCalls(calls, start_ns) {
    const threads = [...new Set(calls.map(c => `${c.pid}/${c.thread}`))];
    const at = ns => (ns - start_ns) * 1e-9;
    const low = Math.min(...calls.map(c => at(c.start_ns)));
    const high = Math.max(...calls.map(c => at(c.end_ns)));
    const height = 26, left = 110, bottom = threads.length * height + 6;
    const x = s => left + (s - low) / (high - low || 1) *
        (chart.width - left - 30);
    const picture = svg('svg', {class: 'chart', role: 'img', 'aria-label':
        'Calls by thread and time; the table below has the numbers',
        viewBox: `0 0 ${chart.width} ${bottom + 34}`});
    for (const s of roundTicks(low, high))
        picture.append(
            svg('line', {class: 'grid', x1: x(s), x2: x(s), y1: 0,
                         y2: bottom}),
            svg('text', {class: 'faint', x: x(s), y: bottom + 14,
                         'text-anchor': 'middle'}, seconds(s)));
    picture.append(svg('text', {class: 'faint', x: chart.width - 8,
        y: bottom + 30, 'text-anchor': 'end'}, 'since the trace began'));
    threads.forEach((name, i) => picture.append(svg('text', {
        x: left - 8, y: i * height + 17, 'text-anchor': 'end'},
        `thread ${name.split('/')[1]}`)));
    for (const c of calls) {
        const from = x(at(c.start_ns));
        picture.append(svg('rect', {
            class: 'call', x: from,
            y: threads.indexOf(`${c.pid}/${c.thread}`) * height + 4,
            width: Math.max(x(at(c.end_ns)) - from, .5), height: height - 8,
            fill: colours[backendColour[c.backend] ?? 6]},
            svg('title', null, `${c.op} ${c.dtype} ` +
                `${(c.shape || []).join('x')}: ${c.expert}, ` +
                `${seconds(c.actual_s)}, ${c.reason}`)));
    }
    return [keys([['scalar code', colours[7]], ['SIMD or a library',
                   colours[0]], ['GPU', colours[2]]]),
        el('figure', null, picture),
        behind(() => table('Calls, in the order of the trace',
            [['at', c => seconds(at(c.start_ns)), true], ['op', c => c.op],
             ['shape', c => (c.shape || []).join('x')],
             ['expert', c => c.expert],
             ['took', c => seconds(c.actual_s), true],
             ['predicted', c => seconds(c.predicted_s), true],
             ['reason', c => c.reason]], calls))];
}

/* What trials took beyond the best, and 2% of the time of all calls, which
 * they may take unless the program asks for another share. */
function drawExploration(totals, drifts, start_ns) {
    const share = 0.02, left = 64, bottom = 150, top = 20;
    const at = e => (e.now_ns - start_ns) * 1e-9;
    const most = Math.max(1e-9, ...totals.map(t => Math.max(t.exploring_s,
        share * t.seconds)));
    const high = Math.max(...totals.map(at), 1e-9);
    const x = s => left + s / high * (chart.width - left - 30);
    const y = v => bottom - v / most * (bottom - top);
    const picture = svg('svg', {class: 'chart', role: 'img', 'aria-label':
        'What trials took against their budget, by time; the table below ' +
        'has the numbers', viewBox: `0 0 ${chart.width} ${bottom + 34}`});
    for (const v of [0, most / 2, most])
        picture.append(
            svg('line', {class: 'grid', x1: left, x2: x(high), y1: y(v),
                         y2: y(v)}),
            svg('text', {class: 'faint', x: left - 6, y: y(v) + 4,
                         'text-anchor': 'end'}, seconds(v)));
    for (const s of roundTicks(0, high))
        picture.append(svg('text', {class: 'faint', x: x(s), y: bottom + 16,
            'text-anchor': 'middle'}, seconds(s)));
    const lines = [['budget', 7, t => share * t.seconds],
                   ['trials', 3, t => t.exploring_s]];
    for (const [name, colour, value] of lines)
        picture.append(svg('path', {
            class: `line ${name}`, stroke: colours[colour],
            d: path([[x(0), y(0)], ...totals.map(t => [x(at(t)),
                                                       y(value(t))])])}));
    for (const d of drifts)
        picture.append(svg('line', {
            class: 'drift', x1: x((d.end_ns - start_ns) * 1e-9), y1: top,
            x2: x((d.end_ns - start_ns) * 1e-9), y2: bottom,
            stroke: colours[1]},
            svg('title', null, `${d.expert} changed its speed for ${d.op}`)));
    return [keys([['trials, beyond the best', colours[3]],
                  ['budget: 2% of the time of calls', colours[7]],
                  ...(drifts.length > 0 ? [['a change of speed', colours[1]]]
                                        : [])]),
        el('figure', null, picture),
        behind(() => table('What trials took, by time',
            [['at', t => seconds(at(t)), true],
             ['calls took', t => seconds(t.seconds), true],
             ['trials took', t => seconds(t.exploring_s), true],
             ['trials', t => count(t.explorations), true],
             ['changes of speed', t => count(t.drift_alarms), true]],
            totals))];
}

const driftTable = (drifts, start_ns) => table('Changes of speed',
    [['at', d => seconds((d.end_ns - start_ns) * 1e-9), true],
     ['expert', d => d.expert], ['op', d => `${d.op} ${d.dtype}`],
     ['elements', d => count(d.elements), true],
     ['took before', d => isNumber(d.predicted_s) ? seconds(d.predicted_s)
                                                  : '-', true],
     ['takes now', d => seconds(d.actual_s), true]], drifts);

function drawTrace(input, index) {
    const {events, summary} = input.data;
    const of = kind => events.filter(e => e.event === kind);
    const calls = of('call').filter(c => c.end_ns > c.start_ns);
    const drifts = of('drift'), totals = of('totals');
    const node = section(more, `trace-${index}`,
        `A trace${input.name ? `: ${input.name}` : ''}`,
        terms([['took', seconds((summary.end_ns - summary.start_ns) * 1e-9)],
               ['contexts', count(summary.streams)],
               ['calls', count(summary.total.calls)],
               ['in calls', seconds(summary.total.seconds)],
               ['trials', `${count(summary.explorations)}, ` +
                   `${seconds(summary.exploring_s)} beyond the best`],
               ['fell back', count(summary.fallbacks)],
               ['changes of speed', count(summary.drift_alarms)],
               ['lost', summary.dropped > 0 ? plural(summary.dropped, 'event')
                                            : null]]));
    if (summary.ops.length > 0)
        node.append(table('By op', [
            ['op', o => o.op], ['calls', o => count(o.calls), true],
            ['scalar', o => percentOf(o.share.scalar), true],
            ['SIMD', o => percentOf(o.share.simd), true],
            ['GPU', o => percentOf(o.share.gpu), true],
            ['took', o => seconds(o.seconds), true],
            ['slowest', o => seconds(o.slowest_s), true],
            ['trials', o => count(o.explored), true],
            ['fell back', o => count(o.fell_back), true],
            ['changes of speed', o => count(o.drifts), true]], summary.ops));
    if (calls.length > 0)
        node.append(el('h3', null, calls.length < summary.total.told
            ? `The first ${count(calls.length)} calls that were told of`
            : 'The calls that were told of'),
            ...drawCalls(calls, summary.start_ns));
    if (totals.some(t => t.seconds > 0))
        node.append(el('h3', null, 'Trials against their budget'),
            ...drawExploration(totals, drifts, summary.start_ns));
    if (drifts.length > 0)
        node.append(el('h3', null, 'Changes of speed'),
                    driftTable(drifts, summary.start_ns));
}

/* ---- all of it ---- */

const drawInput = {run: drawRun, compare: drawCompare, optimize: drawFindings,
                   trace: drawTrace};

if (data.machine)
    drawMachine(data.machine);
drawMapSwitches();
if ((data.curves || []).length > 0)
    drawCrossovers(data.curves);
if (data.learning)
    drawLearning();
drawRuns(data.inputs);
data.inputs.forEach((input, i) => drawInput[input.kind]?.(input, i + 1));
for (const node of document.querySelectorAll('main section'))
    nav.append(el('a', {href: `#${node.id}`},
                  node.querySelector('h2').textContent));
document.getElementById('subtitle').textContent = data.machine
    ? `${data.machine.cpu.name}, ${data.machine.threads} threads`
    : 'Made from files';
document.getElementById('footer').append(
    el('p', null, `Made by takt ${data.version}. All numbers are in the ` +
       'page itself, as JSON.'));
document.documentElement.dataset.ready = 'yes';
})();
