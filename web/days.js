/* SPDX-License-Identifier: MIT */
/* days.js - what was learned on each day. */

const dayNumber = day => Date.parse(`${day}T00:00:00Z`) / 86400e3;
const dayText = number => new Date(number * 86400e3).toISOString()
    .slice(0, 10);

/* Whole days between two, about as many as there is room for. */
function dayTicks(first, last) {
    const wide = (last - first) / (chart.width < 500 ? 2 : 6);
    const step = [1, 2, 7, 14, 30, 60, 100, 200].find(v => v >= wide);
    const out = [];
    for (let n = last; n >= first; n -= step)
        out.push(n);
    return out;
}

/* Days as columns; a week at least, so that one day is no wall. */
function dayScale(days) {
    const last = dayNumber(days[days.length - 1].day);
    const first = Math.min(dayNumber(days[0].day), last - 6);
    const left = 72, wide = (chart.width - left - 12) / (last - first + 1);
    return {first, last, left, wide,
            x: day => left + (dayNumber(day) - first + .5) * wide};
}

/* A chart of its own below the last: title, axis, and what `draw` adds. Returns
 * where it ends. */
function dayPanel(picture, scale, top, title, range, name, draw) {
    const from = top + 22, to = from + 88;
    const y = v => to - (v - range[0]) / (range[1] - range[0] || 1) *
        (to - from);
    picture.append(svg('text', {x: 4, y: top + 12}, title));
    for (const v of roundTicks(range[0], range[1], 3))
        picture.append(
            svg('line', {class: 'grid', x1: scale.left, x2: chart.width - 12,
                         y1: y(v), y2: y(v)}),
            svg('text', {class: 'faint', x: scale.left - 6, y: y(v) + 4,
                         'text-anchor': 'end'}, name(v)));
    draw(y);
    return to + 12;
}

const dayBar = (scale, d, y, value, colour, title) => svg('rect', {
    class: 'bar', x: scale.x(d.day) - scale.wide * .35, y: y(value),
    width: scale.wide * .7, height: Math.max(y(0) - y(value), .5),
    fill: colours[colour]}, svg('title', null, title));

function drawDayCounts(picture, scale, days, top) {
    const most = Math.max(1, ...days.map(d => d.samples));
    return dayPanel(picture, scale, top, 'samples', [0, most], count, y =>
        picture.append(...days.map(d => dayBar(scale, d, y, d.samples, 0,
            `${d.day}: ${count(d.samples)} samples, ${count(d.calls)} calls ` +
            `of ${seconds(d.called_s)}`))));
}

/* Bars are what was spent, lines what might have been; a mark on top tells of
 * changes of speed. On a day with few calls trials may take many times their
 * share, for some are free: such a bar is cut. */
function drawDayTrials(picture, scale, days, top) {
    const share = (d, s) => d.called_s > 0 ? s / d.called_s : 0;
    const allowed = Math.max(.001, ...days.map(d => share(d, d.budget_s)));
    const most = Math.max(allowed * 1.25, Math.min(allowed * 4,
        Math.max(...days.map(d => share(d, d.trials_s)))));
    return dayPanel(picture, scale, top,
        'trials, beyond the best expert: share of the time of calls',
        [0, most * 1.2], percentOf, y => {
        for (const d of days) {
            const x = scale.x(d.day), half = scale.wide * .45;
            const budget = y(share(d, d.budget_s));
            picture.append(dayBar(scale, d, y,
                Math.min(share(d, d.trials_s), most), 3,
                `${d.day}: ${plural(d.trials, 'trial')}, ` +
                `${seconds(d.trials_s)}; budget ${seconds(d.budget_s)}`));
            if (d.budget_s > 0)
                picture.append(svg('line', {class: 'median', x1: x - half,
                    x2: x + half, y1: budget, y2: budget,
                    stroke: colours[7]}));
            if (d.changes > 0)
                picture.append(svg('circle', {class: 'dot', cx: x,
                    cy: y(most * 1.12), r: Math.min(4, scale.wide / 2),
                    fill: colours[4]}, svg('title', null, `${d.day}: ` +
                    plural(d.changes, 'change') + ' of speed')));
        }
    });
}

function drawDayGains(picture, scale, days, top) {
    const known = days.filter(d => isNumber(d.gain_share));
    if (known.length === 0)
        return top;
    const low = d => d.gain_low_share ?? d.gain_share;
    const high = d => d.gain_high_share ?? d.gain_share;
    const all = known.flatMap(d => [low(d), high(d)]).concat(0, .05);
    return dayPanel(picture, scale, top, 'gain of programs under takt run',
        [Math.min(...all), Math.max(...all)], percent, y => {
        for (const d of known) {
            const colour = gainColour(d.gain_share, low(d), high(d));
            picture.append(
                svg('line', {class: 'interval', x1: scale.x(d.day),
                             x2: scale.x(d.day), y1: y(low(d)), y2: y(high(d)),
                             stroke: colour}),
                svg('circle', {class: 'dot', cx: scale.x(d.day),
                               cy: y(d.gain_share),
                               r: Math.min(4, scale.wide / 2), fill: colour},
                    svg('title', null, `${d.day}: ${percent(d.gain_share)}, ` +
                        plural(d.comparisons, 'comparison'))));
        }
    });
}

const dayTable = days => table('Days, by UTC, the last first',
    [['day', d => d.day], ['samples', d => count(d.samples), true],
     ['calls', d => count(d.calls), true],
     ['took', d => seconds(d.called_s), true],
     ['trials', d => count(d.trials), true],
     ['beyond the best', d => seconds(d.trials_s), true],
     ['budget', d => seconds(d.budget_s), true],
     ['changes of speed', d => count(d.changes), true],
     ['gain', d => percent(d.gain_share), true],
     ['95% interval', d => interval(d.gain_low_share, d.gain_high_share),
      true]], [...days].reverse());

function drawDays(days) {
    const scale = dayScale(days);
    const picture = svg('svg', {class: 'chart', role: 'img', 'aria-label':
        'Samples, trials and gains by day; the table below has the numbers'});
    let end = drawDayCounts(picture, scale, days, 0);
    end = drawDayTrials(picture, scale, days, end);
    end = drawDayGains(picture, scale, days, end);
    for (const n of dayTicks(scale.first, scale.last))
        picture.append(svg('text', {class: 'faint',
            x: Math.min(scale.x(dayText(n)), chart.width - 36), y: end + 6,
            'text-anchor': 'middle'}, dayText(n)));
    picture.setAttribute('viewBox', `0 0 ${chart.width} ${end + 12}`);
    return [el('h3', null, 'By day'),
        keys([['samples', colours[0]], ['trials', colours[3]],
              ['their budget', colours[7]],
              ...(days.some(d => d.changes > 0)
                  ? [['an expert changed its speed', colours[4]]] : []),
              ...(days.some(d => isNumber(d.gain_share))
                  ? [['gain, measured; 95% of comparisons', colours[2]]]
                  : []),
              ...(days.some(d => d.gain_share < 0)
                  ? [['loss', colours[1]], ['no clear gain or loss', colours[7]]]
                  : [])]),
        el('figure', null, picture), behind(() => dayTable(days))];
}
