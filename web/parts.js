/* SPDX-License-Identifier: MIT */
/*
 * parts.js - what the pages of `takt report` are made of: numbers, tables,
 * switches. The files of this folder become one script, this one first and
 * page.js last.
 *
 * Text of others gets into the page as text nodes and attribute values alone,
 * never as markup. Every picture has a table of its numbers behind it.
 */
'use strict';
/* Characters that move, hide or reorder others are written as numbers. */
const visible = text => text.replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g,
    c => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
/* A number that is too large is none: axes to it would have no end. */
const data = JSON.parse(document.getElementById('data').textContent,
    (_, value) => typeof value === 'string' ? visible(value)
        : typeof value === 'number' && !Number.isFinite(value) ? null : value);
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
/* What is shown with its uncertainty has a colour where that leaves no doubt:
 * of the page, or the number of one of pictures. */
const isClear = (low, high) => low > 0 || high < 0;
const gainColour = (at, low, high) =>
    colours[!isClear(low ?? at, high ?? at) ? 7 : at > 0 ? 2 : 1];
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
