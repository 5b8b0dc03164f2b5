/* SPDX-License-Identifier: MIT */
/* code.js - code bases and traces. */
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

const findingTable = (caption, findings) => el('div', {class: 'findings'},
    table(caption,
    [['line', f => f.line, true], ['op', f => f.op ?? f.name],
     ['certainty', f => f.certainty],
     ['where it should run', f => f.recommendation?.text ??
         f.recommendation?.expert ?? f.recommendation?.backend],
     ['predicted', f => isNumber(f.recommendation?.predicted_speedup)
         ? `${digits(f.recommendation.predicted_speedup)} times as fast`
         : '-', true],
     ...(findings.some(f => f.evidence) ? [['evidence', evidenceText]] : []),
     ['code', patchOf]], findings));

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
               ['open', plural(o.findings.length - rest.length,
                                     'finding')],
               ['nothing to do', [nonzero(counts, standingNames),
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
    const names = {scalar: 'scalar code', simd: 'SIMD or a library',
                   gpu: 'GPU'};
    return [keys(Object.entries(names).filter(([backend]) =>
            calls.some(c => c.backend === backend)).map(([backend, name]) =>
            [name, colours[backendColour[backend]]])),
        el('figure', null, picture),
        behind(() => table('Calls, in the order of the trace',
            [['at', c => seconds(at(c.start_ns)), true], ['op', c => c.op],
             ['shape', c => (c.shape || []).join('x')],
             ['expert', c => c.expert],
             ['took', c => seconds(c.actual_s), true],
             ['predicted', c => seconds(c.predicted_s), true],
             ['reason', c => c.reason]], calls))];
}

/* Each tells of one context: of all of them together, so far. */
function addContexts(totals) {
    const last = new Map(), sum = name =>
        [...last.values()].reduce((s, t) => s + t[name], 0);
    return totals.map(t => {
        last.set(t.context, t);
        return {now_ns: t.now_ns, ...Object.fromEntries(['seconds',
            'exploring_s', 'explorations', 'drift_alarms'].map(
                name => [name, sum(name)]))};
    });
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
    for (const v of roundTicks(0, most, 3))
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
    return [keys([['trials, beyond the best expert', colours[3]],
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
        node.append(el('h3', null, 'By op'), table(
            'Shares are of the calls; slowest: of the calls in the trace', [
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
            ? `The first ${count(calls.length)} calls in the trace`
            : 'The calls in the trace'),
            ...drawCalls(calls, summary.start_ns));
    if (totals.some(t => t.seconds > 0))
        node.append(el('h3', null, 'Trials against their budget'),
            ...drawExploration(addContexts(totals), drifts,
                               summary.start_ns));
    if (drifts.length > 0)
        node.append(el('h3', null, 'Changes of speed'),
                    driftTable(drifts, summary.start_ns));
}
