/* SPDX-License-Identifier: MIT */
/* run.js - runs and comparisons. */
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
    routed_gpu_s: 'BLAS, routed to GPU', lapack_s: 'LAPACK',
    numpy_loops_s: 'NumPy loops',
    transfers_s: 'transfers', waiting_s: 'waiting', opening_s: 'opening Takt',
    other_s: 'everything else'};

const signed = s => !isNumber(s) ? '-'
    : `${s >= 0 ? '+' : '-'}${seconds(Math.abs(s))}`;

function gainText(gain, error, low = gain - 2 * (error || 0),
                  high = gain + 2 * (error || 0)) {
    if (!isNumber(gain))
        return 'not measured';
    const node = el('span', {class: !isClear(low, high) ? null
        : gain >= 0 ? 'gain' : 'loss'}, signed(gain));
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
    lost: 'the GPU failed or refused, and was not used for a while',
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

/* The rest has the colour of rules: it is none of the calls. */
const partColour = name => name === 'other_s' ? 'var(--rule)'
    : colours[Object.keys(partNames).indexOf(name)];
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
         ['share', ([, s]) => `${(100 * s / run.wall_s).toFixed(1)}%`, true]],
        parts)];
}

/* Stacked columns: of each slot, the time that calls took in it. */
function drawTimeline(run) {
    const line = run.timeline;
    const tracks = ['baseline_s', 'routed_cpu_s', 'routed_gpu_s', 'lapack_s',
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

const routineTable = rows => table('By routine and size (about n, as ' +
    'if square); a gain is measured ' +
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

const lapackTable = rows => table('By routine and size; a gain is measured ' +
    'against calls on the threads that the program has, in the same run; ' +
    'changed: on fewer threads, by Takt, or on a GPU',
    [['routine', r => r.routine], ['size', sizes, true],
     ['unchanged', r => count(r.unchanged), true],
     ['changed', r => count(r.changed), true],
     ['took', r => seconds(r.unchanged_s + r.changed_s), true],
     ['gain', r => gainText(r.gain_s, r.error_s), true]], rows);

function drawWhys(run) {
    const why = run.total?.why || {};
    const list = (names, title) => {
        const rows = Object.entries(why).filter(([name, n]) => n > 0 &&
            names(name)).sort((a, b) => b[1] - a[1]);
        return rows.length === 0 ? [] : [el('h3', null, title),
            table('Calls by reason',
                [['reason', ([name]) => name],
                 ['meaning', ([name]) => whyNames[name] || name],
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
                   gainText(run.gain_s, null, run.gain_low_s, run.gain_high_s),
                   ` (95%: ${signed(run.gain_low_s)} ` +
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
    if ((run.lapack || []).length > 0)
        node.append(el('h3', null, 'LAPACK routines'), ...folded(
            [...run.lapack].sort((a, b) => b.unchanged_s + b.changed_s -
                                           a.unchanged_s - a.changed_s),
            r => r.unchanged_s + r.changed_s, lapackTable).filter(Boolean));
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
             ['gain', r => gainText(r.gain_s, null, r.gain_low_s,
                                    r.gain_high_s), true],
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

/* About five round numbers between two, or so many. */
function roundTicks(low, high, most = chart.width < 500 ? 3 : 5) {
    const wide = (high - low) / most || 1;
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
               ['gain, by the reports of its runs', c.claimed ?
                   percent(c.claimed.share) : null]]));
    if ((c.runs || []).length > 0)
        node.append(drawDistributions(c.runs), behind(() => table('Pairs, in order',
            [['pair', r => c.runs.indexOf(r) + 1],
             ['without', r => seconds(r.plain.wall_s), true],
             ['with Takt', r => seconds(r.takt.wall_s), true],
             ['ratio', r => digits(r.takt.wall_s / r.plain.wall_s), true]],
            c.runs)));
}
