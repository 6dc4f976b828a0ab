"use strict";
// Unpacks figures and rows, draws the panels as they come into view, one after another, switches what
// the legend names, writes, sorts and filters the table. Texts are set as texts: nothing here makes HTML of what comes
// from rows.
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const element = (name, content = "", given = {}) =>
    Object.assign(document.createElement(name), { textContent: content, ...given });
  const drawing = (name, given) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(given)) if (value !== null) made.setAttribute(key, value);
    return made;
  };

  // What is packed: gzip in the letters of base85, "/" for "<"

  const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;/=>?@^_`{|}~";
  const values = new Uint8Array(128);
  [...letters].forEach((letter, value) => { values[letter.charCodeAt(0)] = value; });
  const bytes = (text) => {
    const full = Math.ceil(text.length / 5);
    const found = new DataView(new ArrayBuffer(4 * full));
    for (let group = 0; group < full; group += 1) {
      let number = 0;
      for (let i = 5 * group; i < 5 * group + 5; i += 1) {
        number = number * 85 + (i < text.length ? values[text.charCodeAt(i)] : 84);
      }
      found.setUint32(4 * group, number);
    }
    return new Uint8Array(found.buffer, 0, 4 * full - (5 * full - text.length));
  };
  const unpacked = (id) => {
    const stream = new Blob([bytes(document.getElementById(id).textContent)]).stream();
    return new Response(stream.pipeThrough(new DecompressionStream("gzip"))).text();
  };
  const data = async (id) => JSON.parse(await unpacked(id));

  const pause = (milliseconds = 0) => new Promise((done) => { setTimeout(done, milliseconds); });
  // A picture stands for the first figure until all its panels are drawn. It is shown before the scripts
  // of the figures are read, which would keep the browser from showing anything.
  const picture = document.querySelector(".preview");
  const shown = async () => {
    if (!picture) return;
    await picture.decode().catch(() => {});
    await Promise.race([new Promise(requestAnimationFrame), pause(300)]);  // no frames in a hidden tab
    await pause();
  };
  const begun = shown();

  const figures = begun.then(() => data("figures")).then(({ sections, templates }) => ({
    templates, sections: sections.map((section) => ({ ...section, hidden: new Set() })),
  }));
  const sectionOf = ({ sections }, { dataset: { section } }) => sections[section - 1];
  // The policy of the page knows the script by its hash.
  const plotly = begun.then(() => unpacked("plotly")).then((text) => { document.head.append(element("script", text)); });

  // Figures

  const preferred = window.matchMedia("screen and (prefers-color-scheme: dark)");
  let dark = preferred.matches;
  const touched = window.matchMedia("(pointer: coarse)").matches;
  const plots = all(".plot");
  for (const plot of plots) {
    const chart = plot.closest("figure").querySelector("h3").textContent;
    plot.setAttribute("role", "img");
    plot.setAttribute("aria-label",
      `${chart}, ${plot.previousElementSibling.textContent}; the numbers are in the table of all rows`);
  }

  const painted = (trace, color, visible) => ({
    ...trace, visible,
    line: { ...trace.line, color },
    marker: { ...trace.marker, color, line: { ...trace.marker?.line, color } },
    textfont: trace.type === "bar" ? {} : { ...trace.textfont, color },
  });

  const laidOut = (layout) => !touched ? layout : {
    ...layout, dragmode: false,
    xaxis: { ...layout.xaxis, fixedrange: true }, yaxis: { ...layout.yaxis, fixedrange: true },
  };

  const config = {
    displaylogo: false, responsive: true, typesetMath: false, showTips: false,
    modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]],
    displayModeBar: touched ? false : "hover",
  };

  const draw = async (plot) => {
    const [found] = await Promise.all([figures, plotly]);
    const section = sectionOf(found, plot);
    const { traces, entries, layout } = section.panels[plot.dataset.panel];
    const own = (entry) => section.legend[entry][dark ? "dark" : "light"];
    const shown = traces.map((trace, i) =>
      painted(trace, own(entries[i]), !section.hidden.has(entries[i])));
    const template = found.templates[dark ? 1 : 0];
    window.Plotly.react(plot, shown, { ...laidOut(layout), template }, config);
    if (plot.dataset.drawn) return;
    plot.dataset.drawn = "true";
    plot.on("plotly_hover", ({ points: [point], event }) => {
      tell(section.texts[point.customdata], own(entries[point.curveNumber]), event);
    });
    plot.on("plotly_unhover", () => { tooltip.hidden = true; });
  };
  const redraw = (which = plots) => which.filter((plot) => plot.dataset.drawn).forEach(draw);

  // The text under the mouse has one place for all panels: in a panel it would be cut off.
  const tooltip = document.body.appendChild(element("div"));
  Object.assign(tooltip, { className: "tooltip", role: "tooltip", hidden: true });
  const tell = (words, colour, { clientX, clientY }) => {
    const [heading, ...rest] = words.split("\n");
    tooltip.replaceChildren(element("strong", heading), ...rest.map((line) => element("div", line)));
    tooltip.style.borderColor = colour;
    tooltip.hidden = false;
    const { offsetWidth: width, offsetHeight: height } = tooltip;
    const beside = (at, size, end) => `${Math.max(4, at + 14 + size > end ? at - 14 - size : at + 14)}px`;
    tooltip.style.left = beside(clientX, width, document.documentElement.clientWidth);
    tooltip.style.top = beside(clientY, height, window.innerHeight);
  };
  window.addEventListener("scroll", () => { tooltip.hidden = true; }, { passive: true });

  // One after another, so that the browser shows each when it is drawn. The table waits for the first.
  const idle = Promise.race([pause(2000), new Promise((done) => {
    let queue = Promise.all([figures, plotly]);
    const add = (plot) => {
      queue = queue.then(() => { draw(plot); return pause(); });
      queue.then(done);
    };
    const seen = new IntersectionObserver((views) => {
      for (const { target } of views.filter((view) => view.isIntersecting)) {
        seen.unobserve(target);
        add(target);
      }
    }, { rootMargin: "400px" });
    const pictured = all(".preview + .panels .plot");
    pictured.forEach(add);
    queue.then(() => picture?.remove());
    plots.filter((plot) => !pictured.includes(plot)).forEach((plot) => seen.observe(plot));
    if (!plots.length) done();
  })]);

  preferred.addEventListener("change", () => { dark = preferred.matches; redraw(); });
  window.addEventListener("beforeprint", () => { dark = false; plots.forEach(draw); });
  window.addEventListener("afterprint", () => { dark = preferred.matches; redraw(); });

  const swatch = ({ stroke, outline, hollow, dotted }) => {
    const made = drawing("svg", { width: 30, height: 16, viewBox: "0 0 30 16", "aria-hidden": "true" });
    const inks = ["currentColor", "var(--ground)"];
    if (Object.keys(stroke).length) {
      made.append(drawing("line", { x1: 1, y1: 8, x2: 29, y2: 8, stroke: inks[0], ...stroke }));
    }
    const [fill, dot] = hollow ? inks.toReversed() : inks;
    if (outline) made.append(drawing("path", { d: outline, fill, stroke: inks[0], "stroke-width": 1.2 }));
    if (dotted) made.append(drawing("circle", { cx: 15, cy: 8, r: 1.5, fill: dot }));
    return made;
  };
  const entry = (one, number) => {
    const made = element("button", "", { type: "button" });
    made.setAttribute("aria-pressed", "true");
    made.dataset.entry = number;
    made.style.setProperty("--light", one.light);
    made.style.setProperty("--dark", one.dark);
    made.append(swatch(one), element("span", one.words));
    return made;
  };
  figures.then((found) => {
    for (const list of all("ul[data-list]")) {
      list.append(...sectionOf(found, list)[list.dataset.list].map((words) => element("li", words)));
    }
    for (const legend of all(".legend")) {
      const { hidden, legend: entries } = sectionOf(found, legend);
      legend.querySelector(".entries").append(...entries.map(entry));
      const show = (button, shown) => {
        button.setAttribute("aria-pressed", shown);
        hidden[shown ? "delete" : "add"](Number(button.dataset.entry));
      };
      legend.addEventListener("click", ({ target }) => {
        const button = target.closest("button");
        if (!button) return;
        const every = button.dataset.all;
        if (every) all("[data-entry]", legend).forEach((one) => show(one, every === "true"));
        else show(button, button.getAttribute("aria-pressed") === "false");
        redraw(plots.filter((plot) => plot.dataset.section === legend.dataset.section));
      });
    }
  });

  // Table: only so many rows are in the document at once

  const table = document.getElementById("rows");
  const body = table.tBodies[0];
  const more = document.getElementById("more");
  const kinds = all("th[data-kind]", table).map((head) => head.dataset.kind);
  const least = 200;
  let most = least;
  let lines = [];  // in the order of the table
  let chosen = [];

  const written = (cell, kind) => {
    const [text, other] = Array.isArray(cell) ? cell : [cell, ""];
    if (kind === "name") return element("th", text, { scope: "row" });
    if (kind !== "status") return element("td", text, { className: kind === "number" && text ? kind : "" });
    const made = element("td", "", { title: other });
    made.append(element("span", text, { className: `status ${text}` }));
    if (other) made.append(" ", element("span", other, { className: "reason" }));
    return made;
  };
  const rowOf = (line) => {
    if (line.row) return line.row;
    const button = element("button", "+", { type: "button", ariaLabel: "details", ariaExpanded: "false" });
    const first = element("td");
    first.append(button);
    line.row = element("tr");
    line.row.append(first, ...line.cells.map((cell, place) => written(cell, kinds[place])));
    line.row.dataset.number = line.number;
    return line.row;
  };
  const write = () => {
    const shown = chosen.slice(0, most);
    body.replaceChildren(...shown.flatMap((line) => line.opened ? [rowOf(line), line.opened] : [rowOf(line)]));
    more.hidden = chosen.length <= most;
    more.textContent = `show ${Math.min(least, chosen.length - most)} more`;
    count.textContent = `${chosen.length} of ${lines.length} rows`;
  };
  more.addEventListener("click", () => { most += least; write(); });
  window.addEventListener("beforeprint", () => { most = Infinity; write(); });
  window.addEventListener("afterprint", () => { most = least; write(); });

  const form = document.querySelector(".filters");
  const search = document.getElementById("filter-text");
  const count = document.getElementById("count");
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const menus = all("select", form).filter((menu) => menu.value);
    chosen = lines.filter((line) => menus.every((menu) => line.by[menu.dataset.place] === menu.value)
      && words.every((word) => line.text.includes(word)));
    most = least;
    write();
  };
  let waiting = 0;
  const soon = () => { clearTimeout(waiting); waiting = setTimeout(filter, 120); };
  search.addEventListener("input", soon);
  form.addEventListener("change", filter);
  form.addEventListener("submit", (event) => { event.preventDefault(); filter(); });
  form.addEventListener("reset", () => setTimeout(filter));  // once the form is empty

  idle.then(() => data("lines")).then((found) => {
    lines = found.map(([by, cells], number) => ({
      by, cells, number, text: cells.map((cell, place) =>
        Array.isArray(cell) && kinds[place] !== "status" ? cell[0] : cell).flat().join(" ").toLowerCase(),
    }));
    filter();
  });

  // Sorting: numbers as numbers, empty cells last whichever way, equal ones as they were
  const collator = new Intl.Collator("en", { numeric: true });
  const sort = (place, down) => {
    const numeric = kinds[place] === "number";
    const keyOf = ({ cells: { [place]: cell } }) =>
      Array.isArray(cell) ? (numeric ? cell[1] : cell.join(" ")) : cell;
    const keys = new Map(lines.map((line) => [line, keyOf(line)]));
    const compare = (a, b) => (numeric ? a - b : collator.compare(a, b)) * (down ? -1 : 1);
    lines.sort((one, other) => {
      const [a, b] = [keys.get(one), keys.get(other)];
      const empty = (a === "") - (b === "");
      return empty || (a && b && compare(a, b)) || one.number - other.number;
    });
    filter();
  };
  table.tHead.addEventListener("click", ({ target }) => {
    const head = target.closest("button")?.closest("th");
    if (!head) return;
    const down = head.getAttribute("aria-sort") === "ascending";
    sort(all("th[data-kind]", table).indexOf(head), down);
    all("[aria-sort]", table).forEach((one) => one.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
  });

  // Details of a row, unpacked when one is first asked for
  let details = null;
  const text = (given) => {
    if (given === null || typeof given !== "object") return String(given);
    const inner = (one) => (one !== null && typeof one === "object" ? `{${text(one)}}` : one);
    return Object.entries(given).map(([name, one]) => `${name}: ${inner(one)}`).join("; ");
  };
  const listed = ({ columns, values: known, rows }, number, width) => {
    const row = rows[number];
    const pairs = columns.map((name, place) => [name, row.findIndex((c, i) => i % 2 === 0 && c === place)]);
    const list = element("dl");
    for (const [name, i] of pairs.filter(([, i]) => i >= 0)) {
      list.append(element("dt", name), element("dd", text(known[row[i + 1]])));
    }
    const cell = element("td", "", { colSpan: width });
    const made = element("tr", "", { className: "more" });
    cell.append(list);
    made.append(cell);
    return made;
  };
  body.addEventListener("click", async ({ target }) => {
    const row = target.closest("button")?.closest("tr");
    if (!row) return;
    details ??= data("details");
    const found = await details;
    const line = lines.find(({ number }) => number === Number(row.dataset.number));
    line.opened = line.opened ? null : listed(found, line.number, row.cells.length);
    row.querySelector("button").setAttribute("aria-expanded", String(Boolean(line.opened)));
    write();
  });
})();
