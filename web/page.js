/* SPDX-License-Identifier: MIT */
/* page.js - draws the page from the data in it. */
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
/* A file that is not what it says must not keep the others from being shown. */
data.inputs.forEach((input, i) => {
    try {
        drawInput[input.kind]?.(input, i + 1);
    } catch (error) {
        section(more, `broken-${i + 1}`, 'A file that cannot be shown',
            el('p', null, `${input.name || input.kind}: ${error.message}`));
    }
});
for (const node of document.querySelectorAll('main section'))
    nav.append(el('a', {href: `#${node.id}`},
                  node.querySelector('h2').textContent));
document.getElementById('subtitle').textContent = data.machine
    ? `${data.machine.cpu.name}, ${data.machine.threads} threads`
    : 'Made from files';
if (data.machine)
    nav.before(el('p', null, 'Takt runs each numeric operation (op) by one of ' +
        'several experts: scalar code, SIMD code on one or several threads, a ' +
        'BLAS library, or a GPU. This page shows which of them is the fastest ' +
        'at which size on this machine, and how that is known.'));
document.getElementById('footer').append(
    el('p', null, `Made by takt ${data.version}. All numbers are in the ` +
       'page itself, as JSON.'));
document.documentElement.dataset.ready = 'yes';
