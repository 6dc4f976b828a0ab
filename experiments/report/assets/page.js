"use strict";
// Draws the panels as they come into view, switches what the legend names, sorts and filters the
// table. Texts are set as texts: nothing here makes HTML of what comes from rows.
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const data = (id) => JSON.parse(document.getElementById(id).textContent);
  const element = (name, content = "") => Object.assign(document.createElement(name), { textContent: content });

  // Figures

  const sections = new Map();  // by number: colours, panels, and which entries of the legend are hidden
  const sectionOf = ({ dataset: { section: number } }) => {
    if (!sections.has(number)) sections.set(number, { ...data(`data-${number}`), hidden: new Set() });
    return sections.get(number);
  };
  const templates = data("templates");
  const preferred = window.matchMedia("screen and (prefers-color-scheme: dark)");
  let dark = preferred.matches;
  const touched = window.matchMedia("(pointer: coarse)").matches;
  const plots = all(".plot");

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

  const draw = (plot) => {
    const section = sectionOf(plot);
    const { traces, entries, layout } = section.panels[plot.dataset.panel];
    const mode = dark ? 1 : 0;
    const shown = traces.map((trace, i) =>
      painted(trace, section.colours[entries[i]][mode], !section.hidden.has(entries[i])));
    window.Plotly.react(plot, shown, { ...laidOut(layout), template: templates[mode] }, config);
    if (plot.dataset.drawn) return;
    plot.dataset.drawn = "true";
    plot.on("plotly_hover", ({ points: [point], event }) => {
      const colours = section.colours[entries[point.curveNumber]];
      tell(section.texts[point.customdata], colours[dark ? 1 : 0], event);
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

  const seen = new IntersectionObserver((views) => {
    for (const { target } of views.filter((view) => view.isIntersecting)) {
      seen.unobserve(target);
      draw(target);
    }
  }, { rootMargin: "400px" });
  plots.forEach((plot) => seen.observe(plot));

  preferred.addEventListener("change", () => { dark = preferred.matches; redraw(); });
  window.addEventListener("beforeprint", () => { dark = false; plots.forEach(draw); });
  window.addEventListener("afterprint", () => { dark = preferred.matches; redraw(); });

  for (const legend of all(".legend")) {
    const { hidden } = sectionOf(legend);
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

  // Table

  const table = document.getElementById("rows");
  const body = table.tBodies[0];
  const lines = [...body.rows];
  const numbers = new Map(lines.map((line, number) => [line, number]));
  const close = (line) => {
    const button = line.querySelector("[aria-expanded=true]");
    if (!button) return;
    line.nextElementSibling.remove();
    button.setAttribute("aria-expanded", "false");
  };

  const form = document.querySelector(".filters");
  const search = document.getElementById("filter-text");
  const count = document.getElementById("count");
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const menus = all("select", form).filter((menu) => menu.value);
    for (const line of lines) {
      const fits = menus.every((menu) => line.dataset[menu.dataset.filter] === menu.value)
        && words.every((word) => line.textContent.toLowerCase().includes(word));
      if (!fits) close(line);
      line.hidden = !fits;
    }
    count.textContent = `${lines.filter((line) => !line.hidden).length} of ${lines.length} rows`;
  };
  let waiting = 0;
  const soon = () => { clearTimeout(waiting); waiting = setTimeout(filter, 120); };
  search.addEventListener("input", soon);
  form.addEventListener("change", filter);
  form.addEventListener("submit", (event) => { event.preventDefault(); filter(); });
  form.addEventListener("reset", () => setTimeout(filter));  // once the form is empty

  // Sorting: numbers as numbers, empty cells last whichever way, equal ones as they were
  const collator = new Intl.Collator("en", { numeric: true });
  const sort = (head, down) => {
    lines.forEach(close);
    const numeric = head.classList.contains("number");
    const keys = new Map(lines.map((line) => {
      const cell = line.cells[head.cellIndex];
      return [line, cell.dataset.value ?? cell.textContent];
    }));
    const compare = (a, b) => (numeric ? a - b : collator.compare(a, b)) * (down ? -1 : 1);
    lines.sort((one, other) => {
      const [a, b] = [keys.get(one), keys.get(other)];
      const empty = (a === "") - (b === "");
      return empty || (a && b && compare(a, b)) || numbers.get(one) - numbers.get(other);
    });
    body.append(...lines);
    all("[aria-sort]", table).forEach((one) => one.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
  };
  table.tHead.addEventListener("click", ({ target }) => {
    const head = target.closest("button")?.closest("th");
    if (head) sort(head, head.getAttribute("aria-sort") === "ascending");
  });

  // Details of a row
  const { columns, values, rows } = data("details");
  const text = (given) => {
    if (given === null || typeof given !== "object") return String(given);
    const inner = (one) => (one !== null && typeof one === "object" ? `{${text(one)}}` : one);
    return Object.entries(given).map(([name, one]) => `${name}: ${inner(one)}`).join("; ");
  };
  const open = (line) => {
    const row = rows[numbers.get(line)];
    const pairs = columns.map((name, place) => [name, row.findIndex((c, i) => i % 2 === 0 && c === place)]);
    const list = element("dl");
    for (const [name, i] of pairs.filter(([, i]) => i >= 0)) {
      list.append(element("dt", name), element("dd", text(values[row[i + 1]])));
    }
    const cell = Object.assign(element("td"), { colSpan: line.cells.length });
    const more = Object.assign(element("tr"), { className: "more" });
    cell.append(list);
    more.append(cell);
    line.after(more);
    line.querySelector("button").setAttribute("aria-expanded", "true");
  };
  body.addEventListener("click", ({ target }) => {
    const line = target.closest("button")?.closest("tr");
    if (!line) return;
    if (line.querySelector("[aria-expanded=true]")) close(line);
    else open(line);
  });
})();
