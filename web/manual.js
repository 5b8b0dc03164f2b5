/* The search of the manual. The index is a script of its own, which is loaded
 * when somebody begins to search: it works from file://, where a page may not
 * read other files. */
"use strict";

(() => {
    const root = document.body.dataset.root;
    const form = document.getElementById("search");
    const input = form.querySelector("input");
    const list = document.getElementById("found");
    const most = 20;
    let loading = null;

    function load() {
        loading ??= new Promise((resolve, reject) => {
            const script = document.createElement("script");
            script.src = root + "index.js";
            script.onload = () => resolve(manualIndex);
            script.onerror = reject;
            document.head.append(script);
        });
        return loading;
    }

    /* How well a page fits one word; 0: not at all. */
    function fit(entry, word) {
        const [, title, , summary, names, heads, words] = entry;
        const bare = title.toLowerCase().replace(/\(\d\)$/, "");
        if (bare === word || names.some((name) => name.toLowerCase() === word))
            return 100;
        if (bare.includes(word))
            return 40 + (bare.startsWith(word) ? 10 : 0);
        if (names.some((name) => name.toLowerCase().includes(word)))
            return 30;
        if (heads.some(([text]) => text.toLowerCase().includes(word)))
            return 20;
        if (summary.toLowerCase().includes(word))
            return 15;
        return words.includes(word) ? (" " + words + " ").includes(" " + word + " ") ? 6 : 2 : 0;
    }

    /* Pages that have all the words, the best first; those on how Takt came to be
     * what it is come later. */
    function search(index, text) {
        const words = text.toLowerCase().replace(/\(\d?\)/g, "").split(/\s+/).filter(Boolean);
        const found = [];
        for (const entry of words.length > 0 ? index : []) {
            const fits = words.map((word) => fit(entry, word));
            const is_title = entry[1].startsWith(words.join("-") + "(");
            const score = fits.reduce((sum, one) => sum + one, is_title ? 200 : 0);
            if (fits.every((one) => one > 0))
                found.push([["project", "decision"].includes(entry[2]) ? score / 2 : score, entry, words]);
        }
        return found.sort((a, b) => b[0] - a[0] || a[1][1].length - b[1][1].length);
    }

    function result([, entry, words]) {
        const [path, title, , summary, names, heads] = entry;
        const head = heads.find(([text]) => words.every((word) => text.toLowerCase().includes(word)));
        const name = names.find((one) => words.includes(one.toLowerCase()) && !title.startsWith(one + "("));
        const item = document.createElement("li");
        const link = document.createElement("a");
        const more = document.createElement("small");
        link.href = root + path + (head ? "#" + head[1] : "");
        link.textContent = (name ? name + " in " : "") + title + (head ? ": " + head[0] : "");
        more.textContent = summary.length > 120 ? summary.slice(0, 120) + "..." : summary;
        link.append(more);
        item.append(link);
        return item;
    }

    async function show() {
        const text = input.value;
        const index = await load();
        if (text !== input.value)
            return;
        const found = search(index, text);
        list.replaceChildren(...found.slice(0, most).map(result));
        if (found.length === 0 && text.trim() !== "") {
            const nothing = document.createElement("p");
            nothing.textContent = "Nothing was found.";
            list.append(nothing);
        }
    }

    form.hidden = false;
    input.addEventListener("focus", load);
    input.addEventListener("input", show);
    form.addEventListener("submit", async (event) => {
        event.preventDefault();
        await show();
        list.querySelector("a")?.click();
    });
    document.addEventListener("keydown", (event) => {
        if (event.key === "/" && document.activeElement !== input) {
            event.preventDefault();
            input.focus();
        } else if (event.key === "Escape") {
            list.replaceChildren();
        }
    });
    document.addEventListener("click", (event) => {
        if (!form.contains(event.target))
            list.replaceChildren();
    });
})();
