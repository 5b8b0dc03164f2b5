/* SPDX-License-Identifier: MIT */
/* machine.js - this machine, maps, crossovers, learning. */
/* ---- this machine ---- */

function drawMachine(m) {
    const gpus = (m.gpus || []).map(g =>
        `${g.model || g.name} (${g.state || 'recorded'}` +
        `${g.software ? ', software: not used' : ''}` +
        `${g.memory_bytes ? ', ' + bytes(g.memory_bytes) : ''}` +
        `${g.link ? `, PCIe x${g.link.width}, ${g.link.gt_per_s} GT/s` : ''}` +
        `${g.problem ? ': ' + g.problem : ''})`);
    const node = section(sections, 'machine', 'This machine', terms([
        ['processor', `${m.cpu.name} (${m.architecture}` +
                      `${m.cpu.virtual ? ', virtual' : ''})`],
        ['instruction sets', m.cpu.isas.join(' ') +
                         (m.cpu.avx512_vnni ? ' vnni' : '') +
                         (m.cpu.amx ? ' amx' : '')],
        ['cores', `${m.cores} cores, ${m.logical_cpus} hardware threads, ` +
                  `${m.allowed_cpus} allowed; Takt uses up to ${m.threads}`],
        ['caches', `L1d ${bytes(m.l1d_bytes)}, L2 ${bytes(m.l2_bytes)}, ` +
                   `L3 ${bytes(m.l3_bytes)}`],
        ['memory', `${bytes(m.memory_bytes)}, ${m.numa_nodes} NUMA ` +
                   `node${m.numa_nodes === 1 ? '' : 's'}`],
        ['GPUs', gpus.join('; ') || 'none found'],
        ['drivers', (m.gpu_problems || []).join('; ')],
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
    return table('The highest rates that were measured; differences of ' +
                 'a tenth are noise',
        [['what', l => `${l.on === 'gpu' ? 'GPU' : 'CPU'}, ` +
                       limitNames[l.what](l)],
         ['rate', rate, true], ['measured with', l => `${l.op} ${l.dtype}`],
         ['operands', l => bytes(l.bytes), true],
         ['expert', l => l.expert]],
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
    if ((data.machine?.gpus || []).some(g => !g.software && g.state !== 'ready'))
        box.after(el('p', {class: 'note'}, 'The GPU is not open here, so no ' +
            'bar has it for operands on the host. Once it is open it runs ' +
            'such calls too; the crossovers below have its expected times.'));
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
    function hide() {
        line.setAttribute('visibility', 'hidden');
        tip.hidden = true;
    }
    let shown = -1; /* by the keyboard */
    picture.append(line);
    figure.append(tip);
    picture.setAttribute('tabindex', 0);
    picture.addEventListener('blur', hide);
    picture.addEventListener('keydown', event => {
        const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
        if (step === undefined)
            return;
        event.preventDefault();
        shown = Math.min(Math.max(shown + step, 0), curve.n.length - 1);
        show(shown);
    });
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
    picture.addEventListener('pointerleave', hide);
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
            `${curve.experts.length} experts; arrow keys go through the ` +
            'sizes, and the table below has all numbers'});
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

/* The experts at one size by mean time, p99 and energy: those that another one
 * beats or equals in all of them are grey. */
function drawFront(curve) {
    const box = el('div');
    const choice = el('select', null, ...curve.n.map((n, k) =>
        el('option', {value: k, selected:
            k === Math.floor(curve.n.length / 2) ? '' : null}, size(n))));
    const bestFor = (e, k) => [
        [curve.time[k] === e.name, 'time'],
        [curve.p99[k] === e.name, 'p99'],
        [curve.energy[k] === e.name, 'energy'],
    ].filter(([is]) => is).map(([, name]) => name).join(', ');
    function show() {
        const k = Number(choice.value);
        const rows = curve.experts.filter(e => e.us[k] !== null)
            .sort((a, b) => a.us[k] - b.us[k]);
        const made = table(`${curve.op} ${curve.dtype}, n = ${size(curve.n[k])}`,
            [['expert', e => e.name],
             ['time', e => seconds(e.us[k] * 1e-6), true],
             ['p99', e => seconds(e.p99_us[k] * 1e-6), true],
             ['energy', e => e.energy_mj[k] === null ? '-'
                 : `${digits(e.energy_mj[k])} mJ`, true],
             ['best for', e => bestFor(e, k)],
             ['', e => e.dominated[k] ? 'dominated' : '']], rows);
        made.querySelectorAll('tbody tr').forEach((row, i) =>
            row.classList.toggle('dominated', rows[i].dominated[k] === 1));
        box.replaceChildren(made);
    }
    choice.addEventListener('change', show);
    show();
    return [el('p', null, 'What is the best by mean time, p99 and energy ',
               el('label', null, 'at n = ', choice)), box];
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
        box.replaceChildren(...(curve !== undefined ? [...drawCrossover(
            curve, state.shown !== 'time'), ...drawFront(curve)]
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
        const y = i * height + 13, colour = gainColour(at, from, to);
        picture.append(
            svg('text', {x: left - 8, y: y + 4, 'text-anchor': 'end'},
                name.length > 22 ? `${name.slice(0, 21)}\u2026` : name),
            svg('line', {class: 'interval', x1: x(from), x2: x(to), y1: y,
                         y2: y, stroke: colour}),
            svg('circle', {class: 'dot', cx: x(at), cy: y, r: 4,
                           fill: colour},
                svg('title', null, `${name}: ${percent(at)}`)));
    });
    return el('figure', null, picture);
}

const interval = (low, high) => isNumber(low) && isNumber(high)
    ? `${percent(low)} to ${percent(high)}` : '-';

function drawPrograms(programs) {
    const known = programs.filter(p => isNumber(p.gain_share));
    const parts = [el('h3', null, 'Programs under takt run'), el('p', null,
        'What routing gained, of the time of their BLAS calls, measured in ' +
        'slices of the same runs. Lines hold 95% of the slices.')];
    if (known.length > 0)
        parts.push(drawIntervals('What routing gained in each program, of ' +
            'the time of its calls; the table below has the numbers',
            known.map(p => [p.program, p.gain_low_share ?? p.gain_share,
                p.gain_share, p.gain_high_share ?? p.gain_share])));
    parts.push(table('Gains by program',
        [['program', p => p.program], ['side', p => p.side],
         ['slices', p => count(p.comparisons), true],
         ['gain', p => percent(p.gain_share), true],
         ['95% of slices',
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
             ['gain', a => gainText(a.gain_s, null, a.gain_low_s,
                                    a.gain_high_s), true],
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
    /* Programs are ops of the store, and shown as what they are. */
    const history = (data.history || []).filter(r => r.samples > 0 &&
                                                !r.op.startsWith('run.'));
    const node = section(more, 'learning', 'Learning', terms([
        ['store', data.learning.store || 'none, or its name is left out'],
        ['records of this machine', count(data.learning.own_records)],
        ['records of others (hints)', count(data.learning.other_records)]]));
    if ((data.days || []).length > 0)
        node.append(...drawDays(data.days));
    if (programs.length > 0)
        node.append(...drawPrograms(programs));
    if (data.gain?.total?.calls > 0)
        node.append(...drawAgainst(data.gain.total));
    if (history.length > 0)
        node.append(...drawSamples(history));
    else
        node.append(el('p', {class: 'note'}, 'Nothing was measured here yet: ' +
            'takt tune does that, and every program that uses Takt.'));
    node.append(el('p', {class: 'note'}, 'Single trials, and which expert ' +
        'changed its speed for which op, are in traces: ' +
        'takt run --trace FILE, then takt report FILE.'));
}
