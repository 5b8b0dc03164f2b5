/* SPDX-License-Identifier: MIT */
/*
 * page.js - draws a page of `takt report` from the data in it.
 *
 * Text of others gets into the page as text nodes and attribute values alone,
 * never as markup. Every picture has a table of its numbers behind it.
 */
'use strict';
(() => {
const data = JSON.parse(document.getElementById('data').textContent);
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

/* Columns: [title, value of a row, is it a number]. */
function table(caption, columns, rows) {
    const head = el('tr', null, ...columns.map(([title, , isRight]) =>
        el('th', {scope: 'col', class: isRight ? 'num' : null}, title)));
    const body = rows.map(row => el('tr', null,
        ...columns.map(([, value, isRight], i) => {
            const shown = value(row);
            const node = shown instanceof Node ? shown : String(shown ?? '-');
            return el(i === 0 ? 'th' : 'td',
                      {scope: i === 0 ? 'row' : null,
                       class: isRight ? 'num' : null}, node);
        })));
    return el('div', {class: 'wide'},
              el('table', null, el('caption', {class: 'note'}, caption),
                 el('thead', null, head), el('tbody', null, ...body)));
}
const behind = (node, title) =>
    el('details', null, el('summary', null, title || 'The same as a table'),
       node);

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

const keys = names => el('ul', {class: 'keys'}, ...names.map((name, i) =>
    el('li', null, el('i', {style: `background:${colours[i]}`}), name)));

/* ---- this machine ---- */

function drawMachine(m) {
    const gpus = (m.gpus || []).map(g =>
        `${g.model || g.name} (${g.state || 'recorded'}` +
        `${g.memory_bytes ? ', ' + bytes(g.memory_bytes) : ''}` +
        `${g.problem ? ': ' + g.problem : ''})`);
    section(sections, 'machine', 'This machine', terms([
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
    left: 64, right: 12, top: 12, bottom: 40};

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

function drawAxes(picture, curve, x, y, least, most, name) {
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
                       `n (shape ${curve.shape})`));
}

/* Bands around ratios of two predictions would say nothing. */
function drawCurve(picture, curve, expert, i, x, y, hasBand) {
    const at = curve.n.map((n, k) => k).filter(k => expert.us[k] !== null);
    const upper = at.map(k => [x(curve.n[k]), y(expert.high_us[k])]);
    const lower = at.map(k => [x(curve.n[k]), y(expert.low_us[k])]).reverse();
    if (hasBand)
        picture.append(svg('path', {class: 'band', fill: colours[i],
                                    d: `${path(upper.concat(lower))}Z`}));
    picture.append(svg('path', {
        class: 'line', stroke: colours[i],
        d: path(at.map(k => [x(curve.n[k]), y(expert.us[k])]))}));
    for (const k of at) {
        if (expert.samples[k] > 0)
            picture.append(svg('circle', {
                class: 'dot', cx: x(curve.n[k]), cy: y(expert.us[k]), r: 3,
                fill: colours[i]}));
        if (curve.moe[k] === expert.name)
            picture.append(svg('rect', {
                class: 'moe', x: x(curve.n[k]) - 5, y: y(expert.us[k]) - 5,
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
        ? times => `${digits(times)}×` : us => seconds(us * 1e-6));
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
    return [keys(curve.experts.map(e => e.name)), figure,
        behind(table(`${curve.op} ${curve.dtype}: time by size and expert`,
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

function drawLearning() {
    const programs = data.gain?.programs || [];
    const node = section(more, 'learning', 'Learning', terms([
        ['store', data.learning.store || 'not told'],
        ['records of this machine', count(data.learning.own_records)],
        ['records of others (hints)', count(data.learning.other_records)]]));
    if (programs.length > 0)
        node.append(el('h3', null, 'Programs under takt run'),
            table('What routing gained, measured in slices of the same run',
                [['program', p => p.program], ['side', p => p.side],
                 ['slices', p => count(p.comparisons), true],
                 ['gain', p => percent(p.gain_share), true],
                 ['95% interval', p => isNumber(p.gain_low_share) ?
                     `${percent(p.gain_low_share)} to ` +
                     `${percent(p.gain_high_share)}` : '-', true]], programs));
    if ((data.history || []).length > 0)
        node.append(el('h3', null, 'What was measured'),
            behind(table('Statistics, samples and calls by op',
                [['op', r => r.op], ['rows', r => count(r.rows), true],
                 ['samples', r => count(r.samples), true],
                 ['calls of programs', r => count(r.calls), true],
                 ['their time', r => seconds(r.seconds), true]],
                data.history), `${data.history.length} ops, by samples`));
    else
        node.append(el('p', {class: 'note'}, 'Nothing was measured here yet: ' +
            'takt tune does that, and every program that uses Takt.'));
}

/* ---- a run ---- */

const partNames = {
    baseline_s: 'BLAS, baseline library', routed_cpu_s: 'BLAS, routed to CPU',
    routed_gpu_s: 'BLAS, routed to GPU', lapack_s: 'LAPACK',
    numpy_loops_s: 'NumPy loops',
    transfers_s: 'transfers', waiting_s: 'waiting', opening_s: 'opening Takt',
    other_s: 'everything else'};

function gainText(gain, error) {
    if (!isNumber(gain))
        return 'not measured';
    const node = el('span', {class: gain >= 0 ? 'gain' : 'loss'},
                    `${gain >= 0 ? '+' : '-'}${seconds(Math.abs(gain))}`);
    if (isNumber(error))
        node.append(` ± ${seconds(2 * error)}`);
    return node;
}

const sizes = row => row.most === null ? `from ${size(row.least)}`
    : `${size(row.least)} to below ${size(row.most + 1)}`;
const nonzero = counts => Object.entries(counts || {})
    .filter(([, n]) => n > 0).map(([name, n]) => `${name} ${count(n)}`)
    .join(', ');

function drawParts(run) {
    const parts = Object.entries(run.parts).filter(([, s]) => s > 0);
    const list = Object.keys(partNames);
    const colour = name => colours[list.indexOf(name) % colours.length];
    const bar = el('div', {class: 'parts', role: 'img', 'aria-label':
        'Where the wall time went; the table below has the numbers'},
        ...parts.map(([name, s]) => el('i', {
            style: `width:${(100 * s / run.wall_s).toFixed(2)}%;` +
                   `background:${colour(name)}`,
            title: `${partNames[name] || name}: ${seconds(s)}`})));
    return [bar, table('Where the wall time went',
        [['part', ([name]) => el('span', null,
            el('i', {style: `display:inline-block;width:.8rem;height:.8rem;` +
                            `margin-right:.35rem;background:${colour(name)}`}),
            partNames[name] || name)],
         ['time', ([, s]) => seconds(s), true],
         ['share', ([, s]) => `${digits(100 * s / run.wall_s)}%`, true]],
        parts)];
}

function drawRun(input, index) {
    const run = input.data;
    const node = section(more, `run-${index}`,
        `A run${input.name ? `: ${input.name}` : ''}`,
        terms([['command', (run.command || []).join(' ')],
               ['wall time', seconds(run.wall_s)],
               ['ended with', run.signal !== null ? `signal ${run.signal}`
                                                 : `status ${run.exit_status}`],
               ['GPU', run.gpu], ['trouble', run.trouble],
               ['left alone', run.left_alone],
               ['gain of the run', isNumber(run.gain_s) ? el('span', null,
                   gainText(run.gain_s), ` (95%: ${seconds(run.gain_low_s)} ` +
                   `to ${seconds(run.gain_high_s)})`) : 'not measured']]));
    if (run.parts)
        node.append(...drawParts(run));
    if ((run.rows || []).length > 0)
        node.append(el('h3', null, 'BLAS routines'),
            table('By routine and size; a gain is measured against calls of ' +
                  'the same kind in the baseline library, in the same run',
                [['routine', r => r.routine], ['size', sizes, true],
                 ['ran in', r => nonzero(r.calls)],
                 ['took', r => seconds(r.took_s), true],
                 ['gain', r => gainText(r.gain_s, r.error_s), true],
                 ['why not on a GPU', r => nonzero(r.why)]],
                [...run.rows].sort((a, b) => b.took_s - a.took_s)));
    if ((run.lapack || []).length > 0)
        node.append(el('h3', null, 'LAPACK routines'),
            table('By routine and size; a gain is measured against calls on ' +
                  'the threads that the program has, in the same run',
                [['routine', r => r.routine], ['size', sizes, true],
                 ['all threads', r => count(r.unchanged), true],
                 ['fewer threads', r => count(r.fewer), true],
                 ['took', r => seconds(r.unchanged_s + r.fewer_s), true],
                 ['gain', r => gainText(r.gain_s, r.error_s), true]],
                [...run.lapack].sort((a, b) => b.unchanged_s + b.fewer_s -
                                               a.unchanged_s - a.fewer_s)));
    if ((run.loops || []).length > 0)
        node.append(el('h3', null, 'NumPy loops'),
            table('By ufunc and number of elements',
                [['loop', r => r.loop], ['elements', sizes, true],
                 ['whole', r => count(r.whole), true],
                 ['split', r => count(r.split), true],
                 ['took', r => seconds(r.whole_s + r.split_s), true],
                 ['gain', r => gainText(r.gain_s, r.error_s), true]],
                [...run.loops].sort((a, b) => b.whole_s + b.split_s -
                                              a.whole_s - a.split_s)));
}

/* ---- a comparison ---- */

function drawDistributions(runs) {
    const all = runs.flatMap(r => [r.plain.wall_s, r.takt.wall_s]);
    const low = Math.min(...all) * 0.97, high = Math.max(...all) * 1.03;
    const x = s => 90 + (s - low) / (high - low || 1) * (chart.width - 130);
    const steps = chart.width < 500 ? 2 : 4;
    const picture = svg('svg', {
        class: 'chart', viewBox: `0 0 ${chart.width} 130`,
        role: 'img', 'aria-label':
            'Wall times with and without Takt; the table has the numbers'});
    for (let i = 0; i <= steps; i++) {
        const s = low + (high - low) * i / steps;
        picture.append(svg('line', {class: 'grid', x1: x(s), x2: x(s), y1: 8,
                                    y2: 100}),
            svg('text', {class: 'faint', x: x(s), y: 118,
                         'text-anchor': 'middle'}, seconds(s)));
    }
    [['plain', 'without', 30, 7], ['takt', 'with Takt', 75, 0]]
        .forEach(([side, title, y, colour]) => {
        picture.append(svg('text', {x: 4, y: y + 4}, title));
        runs.forEach((r, i) => picture.append(svg('circle', {
            class: 'dot', cx: x(r[side].wall_s), cy: y + (i % 5 - 2) * 4, r: 4,
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
        terms([['command', (c.command || []).join(' ')],
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
        node.append(drawDistributions(c.runs), behind(table('Pairs, in order',
            [['pair', r => c.runs.indexOf(r) + 1],
             ['without', r => seconds(r.plain.wall_s), true],
             ['with Takt', r => seconds(r.takt.wall_s), true],
             ['ratio', r => digits(r.takt.wall_s / r.plain.wall_s), true]],
            c.runs)));
}

/* ---- a code base ---- */

function drawFindings(input, index) {
    const o = input.data;
    const place = f => `${f.file ?? f.path ?? ''}:${f.line ?? ''}`;
    section(more, `code-${index}`,
        `A code base${input.name ? `: ${input.name}` : ''}`,
        el('p', null, `${count(o.findings.length)} finding` +
           `${o.findings.length === 1 ? '' : 's'}.`),
        table('Findings, in the order of the report',
            [['place', place],
             ['op', f => f.op ?? f.name], ['certainty', f => f.certainty],
             ['expert', f => f.recommendation?.expert ??
                             f.recommendation?.backend],
             ['predicted speedup', f =>
                 isNumber(f.recommendation?.predicted_speedup) ?
                 `${digits(f.recommendation.predicted_speedup)} times` : '-',
              true]], o.findings));
}

/* ---- all of it ---- */

const drawInput = {run: drawRun, compare: drawCompare, optimize: drawFindings};

if (data.machine)
    drawMachine(data.machine);
drawMapSwitches();
if ((data.curves || []).length > 0)
    drawCrossovers(data.curves);
if (data.learning)
    drawLearning();
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
